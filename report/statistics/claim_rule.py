"""How a claim ends: the rule that maps what was shown of a ratio to a verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from report.base.format import joined, ratio
from report.statistics.ratio import RatioInterval

HOLDS: Literal["holds"] = "holds"
REFUTED: Literal["does not hold"] = "does not hold"
ELSEWHERE: Literal["holds under other conditions"] = "holds under other conditions"
UNTOLD: Literal["cannot be told here"] = "cannot be told here"
UNMEASURED: Literal["not measured yet"] = "not measured yet"

Verdict = Literal[
    "holds", "does not hold", "holds under other conditions", "cannot be told here", "not measured yet"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What a claim says of a ratio. None: no such bound."""

    ratio: float | None = None
    """As published."""
    at_least: float | None = None
    at_most: float | None = None
    refuted_below: float | None = None
    refuted_above: float | None = None

    @property
    def bounds(self) -> tuple[float, ...]:
        """All of them, each once, in ascending order."""
        named = (self.at_least, self.at_most, self.refuted_below, self.refuted_above)
        return tuple(sorted({bound for bound in named if bound is not None}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the runs show of a ratio."""

    ratio: float | None
    """The estimate; None where there is none."""
    above: frozenset[float] = frozenset()
    """Bounds that it was shown to lie above, by the decision rule of comparisons for the claim's family."""
    below: frozenset[float] = frozenset()
    resolution: float | None = None
    """How far the copy of a reference may differ from its original, as a share (M31); None without a copy."""
    copy_told_apart: bool = False
    obstacle: str = ""
    """Why nothing is concluded, whatever the ratio; empty where something may be."""
    takes: str = ""
    """What would decide, where the ratio does not."""
    runs_needed: int | None = None
    """How many runs per side that is; None where runs alone would not, or how many is not known."""


@dataclass(frozen=True, slots=True)
class Judgement:
    verdict: Verdict
    reason: str
    """Why it is not decided; empty where it is."""
    takes: str
    """What would decide it; empty where it is decided, or nothing is known."""
    runs_needed: int | None = None
    """How many runs per side that is; None where runs alone would not, or how many is not known."""


TOLD_APART = "the copy of the reference was told apart from its original: what differs here may be the host"
QUIETER = "a machine on which a copy does not differ from its original"
STEADIER = "a steady machine without other programs"
YOURS = "the machine that you will run on"


def judge(expected: Expectation, evidence: Evidence) -> Judgement:
    """The verdict on one ratio.

    It holds if the ratio was shown to lie within the bounds, and does not hold if it was shown to lie beyond
    one of those that refute it. Both also need the estimate to be at least as far from the bound as the copy
    may be from its original: no smaller difference is called shown (M31). Anything else cannot be told.
    """
    if evidence.copy_told_apart:
        return Judgement(UNTOLD, TOLD_APART, QUIETER)
    if evidence.obstacle:
        return Judgement(UNTOLD, evidence.obstacle, evidence.takes, evidence.runs_needed)
    if evidence.ratio is None:
        return Judgement(UNTOLD, "there is no ratio: a target failed its load in most of its runs", "")
    holding = _shown((expected.at_least, evidence.above), (expected.at_most, evidence.below))
    refuting = _shown((expected.refuted_below, evidence.below), (expected.refuted_above, evidence.above))
    if holding and all(holding.values()):
        return _decided(HOLDS, list(holding), evidence)
    if any(refuting.values()):
        return _decided(REFUTED, [bound for bound, shown in refuting.items() if shown], evidence)
    open_bounds = [bound for bound in expected.bounds if bound not in evidence.above | evidence.below]
    if open_bounds:
        reason = f"these runs do not tell on which side of {_bounds_text(open_bounds)} the ratio lies"
        return Judgement(UNTOLD, reason, evidence.takes, evidence.runs_needed)
    return Judgement(UNTOLD, "the ratio lies between what was claimed and what would refute it", "")


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one campaign says of a ratio."""

    judgement: Judgement
    interval: RatioInterval
    text: str
    """The ratio, when and where it was measured."""


def held_against(newest: Measurement, earlier: Sequence[Measurement]) -> Judgement:
    """The newest verdict, unless campaigns disagree: what differs is then more than their runs show.

    Two disagree if their intervals lie apart, and they did not come to the same verdict. That two of 95 %
    lie apart by chance alone is less likely than one in a hundred.
    """
    told = newest.judgement.verdict
    apart = [
        each
        for each in earlier
        if _apart(newest.interval, each.interval) and (told == UNTOLD or each.judgement.verdict != told)
    ]
    if not apart:
        return newest.judgement
    texts = "; ".join([newest.text, *(each.text for each in apart)])
    return Judgement(UNTOLD, f"campaigns disagree: {texts}", YOURS)


def _apart(one: RatioInterval, other: RatioInterval) -> bool:
    return one.high < other.low or other.high < one.low


def _shown(*bounds: tuple[float | None, frozenset[float]]) -> dict[float, bool]:
    """Whether the ratio was shown to lie on that side of each bound that there is."""
    return {bound: bound in side for bound, side in bounds if bound is not None}


def _decided(verdict: Verdict, bounds: Sequence[float], evidence: Evidence) -> Judgement:
    """The verdict that these bounds show, unless the copy differs as much from its original."""
    near = [bound for bound in bounds if not _is_clear(evidence, bound)]
    return Judgement(UNTOLD, _near_text(near), QUIETER) if near else Judgement(verdict, "", "")


def _is_clear(evidence: Evidence, bound: float) -> bool:
    if evidence.resolution is None or evidence.ratio is None:
        return True
    return max(evidence.ratio / bound, bound / evidence.ratio) - 1 >= evidence.resolution


def _bounds_text(bounds: Sequence[float]) -> str:
    return joined([ratio(bound) for bound in bounds])


def _near_text(bounds: Sequence[float]) -> str:
    return f"the ratio is nearer to {_bounds_text(bounds)} than a copy may be to its original"


@dataclass(frozen=True, slots=True)
class Part:
    """One judged comparison of a claim."""

    verdict: Verdict
    reason: str
    as_published: bool
    conditions: str


def combined(parts: Sequence[Part], cannot_be_told: str = "") -> tuple[Verdict, str]:
    """How the whole claim ends, and why.

    It holds if all that was published holds. If it was refuted, or cannot be told, but holds under other
    conditions, these are named.

    Args:
        parts: the comparisons of which something is expected.
        cannot_be_told: why the published conditions cannot be measured; empty where they can.
    """
    published = [part for part in parts if part.as_published]
    elsewhere = [part.conditions for part in parts if not part.as_published and part.verdict == HOLDS]
    refuted = [part for part in published if part.verdict == REFUTED]
    unmeasured = [part for part in published if part.verdict == UNMEASURED]
    if published and not cannot_be_told and all(part.verdict == HOLDS for part in published):
        return HOLDS, ""
    reasons = [cannot_be_told, *_reasons(published)]
    if unmeasured and len(unmeasured) < len(published):
        reasons.append("not all of it was measured")
    why = "; ".join(dict.fromkeys(filter(None, reasons)))
    if elsewhere:
        if refuted:
            not_so = "not so as published"
        elif unmeasured and len(unmeasured) == len(published):
            not_so = "not measured as published"
        else:
            not_so = "as published it cannot be told"
        return ELSEWHERE, f"{joined(list(dict.fromkeys(elsewhere)))}; {not_so}{f': {why}' if why else ''}"
    if refuted:
        whole = len(refuted) == len(published)
        return REFUTED, "" if whole else f"not so: {joined([part.conditions for part in refuted])}"
    if all(part.verdict == UNMEASURED for part in parts) and (parts or not cannot_be_told):
        return UNMEASURED, ""
    return UNTOLD, why


def _reasons(parts: Sequence[Part]) -> list[str]:
    """Of each part that has one; where they differ, with what they are about."""
    open_parts = [part for part in parts if part.reason]
    if len({part.reason for part in open_parts}) < 2:
        return [part.reason for part in open_parts]
    return [f"{part.conditions}: {part.reason}" for part in open_parts]
