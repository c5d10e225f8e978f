"""What the page of claims and its Markdown have in common: verdicts, rows and sentences."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from report.analysis.claims import METRICS, ComparedRows, JudgedClaim
from report.analysis.comparison_text import ratio_text
from report.base.format import ABSENT, joined, percent, plural, ratio
from report.results.claims import ClaimsRegister, Source
from report.statistics.claim_rule import (
    ELSEWHERE,
    HOLDS,
    REFUTED,
    UNMEASURED,
    UNTOLD,
    Expectation,
    Verdict,
)
from report.statistics.decision import Comparison

#: How a verdict is shown: a mark, and the class of its colour.
MARKS: Mapping[Verdict, tuple[str, str]] = {
    HOLDS: ("✓", "holds"),
    REFUTED: ("✗", "refuted"),
    ELSEWHERE: ("≈", "elsewhere"),
    UNTOLD: ("?", "untold"),
    UNMEASURED: ("–", "unmeasured"),
}

#: Columns of the comparisons of a claim.
COLUMNS = ("Compared", "Conditions", "By", "Claimed", "Measured", "Runs", "Copy", "Verdict")


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    compared: str
    conditions: str
    metric: str
    claimed: str
    measured: str
    runs: str
    copy: str
    verdict: str
    """Empty where nothing was expected."""
    mark: str
    kind: str
    reason: str
    """Why it is not decided, what would decide it, and what was measured before."""

    @property
    def cells(self) -> tuple[str, ...]:
        """In the order of `COLUMNS`, without the verdict."""
        return (
            self.compared,
            self.conditions,
            self.metric,
            self.claimed,
            self.measured,
            self.runs,
            self.copy,
        )


def _range(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"{low:g} to {high:g}"
    if low is not None:
        return f"at least {low:g}"
    return ABSENT if high is None else f"at most {high:g}"


def expected_text(expected: Expectation | None) -> str:
    """`1.35× (holds: 1.2 to 1.5; refuted below 1.1)`."""
    if expected is None:
        return ABSENT
    refuted = [
        f"{side} {bound:g}"
        for side, bound in (("below", expected.refuted_below), ("above", expected.refuted_above))
        if bound is not None
    ]
    bounds = f"holds: {_range(expected.at_least, expected.at_most)}; refuted {' or '.join(refuted)}"
    return bounds if expected.ratio is None else f"{ratio(expected.ratio)} ({bounds})"


def _figure_text(found: ComparedRows | Comparison) -> str:
    return ratio_text(found.ratio, found.interval) or ABSENT


def comparison_row(found: ComparedRows) -> ComparisonRow:
    claimed, judgement = found.claimed, found.judgement
    mark, kind = MARKS[judgement.verdict] if judgement else ("", "")
    reasons = [judgement.reason, judgement.takes] if judgement else [found.note]
    unsaid = [each for each in found.earlier if not (judgement and each in judgement.reason)]
    before = f"measured before: {'; '.join(unsaid)}" if unsaid else ""
    return ComparisonRow(
        compared=f"{claimed.new_text} by {claimed.base_text}",
        conditions=claimed.conditions if claimed.as_published else f"other: {claimed.conditions}",
        metric=METRICS[claimed.metric].text,
        claimed=expected_text(claimed.expected),
        measured=_figure_text(found),
        runs=f"{found.runs}{' pairs' if found.paired else ''}" if found.runs else ABSENT,
        copy=_figure_text(found.copy) if found.copy else ABSENT,
        verdict=judgement.verdict if judgement else "",
        mark=mark,
        kind=kind,
        reason="; ".join(filter(None, [*reasons, before])),
    )


def source_text(source: Source) -> str:
    """`ratelimit_bench, README, 2025-04-16, version 1.0.0`; what is not known is named."""
    known = [
        source.project,
        source.title,
        source.date,
        f"version {source.version}" if source.version else "",
    ]
    unknown = [
        name
        for name, text in (("title", source.title), ("date", source.date), ("address", source.address))
        if not text
    ]
    missing = f" ({joined(unknown)} not known)" if unknown else ""
    return ", ".join(filter(None, known)) + missing


def sentence(claims: Sequence[JudgedClaim]) -> str:
    """The answer: how many claims end how."""
    counts = Counter(each.verdict for each in claims)
    parts = [f"{counts[each]} {_agreeing(each, counts[each])}" for each in MARKS if each in counts]
    return f"{plural(len(claims), 'claim')}: {joined(parts)}." if parts else "There are no claims."


def _agreeing(verdict: str, count: int) -> str:
    first, *rest = verdict.split()
    return verdict if count == 1 else " ".join([{"holds": "hold", "does": "do"}.get(first, first), *rest])


def reason_text(claim: JudgedClaim) -> str:
    """Why it ends so, and what would tell it; empty where nothing is left to say."""
    takes = f"It takes: {claim.takes}" if claim.takes else ""
    return ". ".join(filter(None, [claim.reason, takes]))


@dataclass(frozen=True, slots=True)
class CampaignRow:
    id: str
    folder: str
    """Empty where it was not measured."""
    where: str
    """When and on what it ran."""
    earlier: tuple[str, ...]
    """Folders of those that it replaced, the newest first."""
    differs: str
    """From its file; empty where it does not."""


def campaigns_of(claim: JudgedClaim, register: ClaimsRegister) -> list[CampaignRow]:
    ids = dict.fromkeys(each.claimed.campaign for each in claim.comparisons)
    found = [register.campaigns[each] for each in ids]
    return [
        CampaignRow(each.id, each.folder, claim.where.get(each.id, ""), each.earlier, "; ".join(each.differs))
        for each in found
    ]


def step_rows(claim: JudgedClaim) -> list[tuple[str, str, str]]:
    """Cause, factor and part of the whole, for each step of a decomposition; last their product."""
    found = claim.decomposition
    if found is None:
        return []
    rows = [
        (
            step.cause,
            _figure_text(step.compared),
            ABSENT if step.share is None else percent(100 * step.share, 0),
        )
        for step in found.steps
    ]
    opposed = "they work against each other" if found.is_opposed else ABSENT
    return [*rows, ("Product of all", ratio(found.product), opposed), _whole_row(claim)]


def _whole_row(claim: JudgedClaim) -> tuple[str, str, str]:
    found = claim.decomposition
    if found is None:
        return ("", "", "")
    adds_up = {True: "adds up", False: "does not add up", None: ABSENT}[found.adds_up]
    return ("Measured as a whole", _figure_text(found.whole), adds_up)
