"""The decision rule of comparisons (M17). Nothing is decided anywhere else."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from report.statistics.power import MIN_RUNS_FOR_A_CLAIM, detectable_difference, log_deviation, runs_needed
from report.statistics.rank_test import holm, mann_whitney_p, smallest_p
from report.statistics.ratio import ALPHA, RatioInterval, ratio_of

Status = Literal["better", "worse", "no difference", "inconclusive", "indicative", "not comparable"]

#: A difference counts only beyond it: layout of memory and links alone can move a program by as much
#: (T. Mytkowicz et al., "Producing wrong data without doing anything obviously wrong!", ASPLOS 2009).
DEFAULT_FLOOR = 0.02

#: With one run per side the estimate would be a quotient of two figures that are printed anyway (rule M28).
MIN_RUNS_FOR_A_RATIO = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """How often a claim may be wrong, as shares. The defaults are for runs that are looked at once."""

    interval: float = ALPHA
    """What the interval of the ratio leaves out, on both sides together."""
    test: float = ALPHA
    """Of the whole family, by Holm's correction."""
    family: int = 0
    """Comparisons to correct for, where more belong to the family than are tested now."""


ONE_LOOK = Level()


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two sides of runs. All ratios are new ÷ base."""

    status: Status
    """Of the new side, as seen from the base."""
    reason: str
    """Why it is not decided, in words; empty where it is."""
    floor: float
    """As a share: a difference lies beyond ± it."""
    new_runs: int
    base_runs: int
    ratio: float | None = None
    """The median of all ratios of a run to a run; None below two runs per side: a quotient is no estimate.
    None also where the typical run of a side has the worst rank."""
    interval: RatioInterval | None = None
    p: float | None = None
    """Exact Mann-Whitney, two-sided; None below five runs per side."""
    p_holm: float | None = None
    comparisons: int = 1
    """How many the correction is for."""
    runs_needed: int | None = None
    """Per side, to decide in 80 % of cases if the ratio is the true one; None: unknown, or more than 1000."""
    blocked: bool = False
    """Something else than the number of runs keeps it from being decided, see `reason`."""
    worst_ranks: int = 0
    """Runs of both sides that have the worst rank: where there are some, how many runs would decide is not
    known."""
    detectable: float | None = None
    """The smallest true difference, as a share, that these runs find in 80 % of cases."""

    @property
    def decided(self) -> bool:
        return self.status in ("better", "worse", "no difference")

    @property
    def shown(self) -> bool:
        """A difference was shown, one way or the other."""
        return self.status in ("better", "worse")

    def undecided_by(self, reason: str) -> "Comparison":
        """The same figures without a conclusion, because of something that more runs would not change."""
        if self.status in ("indicative", "not comparable"):
            return self
        return replace(self, status="inconclusive", reason=reason, blocked=True, runs_needed=None)


def compare_family(
    pairs: Sequence[tuple[Sequence[float], Sequence[float]]],
    floor: float = DEFAULT_FLOOR,
    higher_is_better: bool = True,
    level: Level = ONE_LOOK,
) -> tuple[Comparison, ...]:
    """Compares pairs (new, base) of sides that make up one family, e.g. all of one table cell.

    A difference is one only if the 95 % interval of the ratio lies beyond ± `floor`, and the exact
    Mann-Whitney test, by Holm's correction for all comparisons of the family, rejects at 5 %. No difference:
    the interval lies within ± `floor`. Anything else is inconclusive. With fewer than five runs per side
    nothing is tested.

    Args:
        pairs: figures of independent runs; those that do not count are left out by the caller. A run with
            the worst rank has the figure 0, or infinity where lower is better.
        level: for runs that are looked at more than once, see `sequential.py`; else 5 %.
    Returns:
        As many comparisons, in their order.
    """
    measured = [_measured(new, base, floor, level) for new, base in pairs]
    tested = [index for index, each in enumerate(measured) if each.p is not None]
    family = max(len(tested), level.family)
    # Comparisons that are not tested now count with p = 1.
    p_values = [p for each in measured if (p := each.p) is not None] + [1.0] * (family - len(tested))
    for index, p_holm in zip(tested, holm(p_values)[: len(tested)], strict=True):
        measured[index] = replace(measured[index], p_holm=p_holm, comparisons=family)
    return tuple(
        _with_outlook(_decided(each, higher_is_better, level), new, base)
        for each, (new, base) in zip(measured, pairs, strict=True)
    )


def compare_runs(
    new: Sequence[float],
    base: Sequence[float],
    floor: float = DEFAULT_FLOOR,
    higher_is_better: bool = True,
) -> Comparison:
    """Compares two sides that nothing else is compared with: a family of one. See `compare_family`."""
    return compare_family([(new, base)], floor, higher_is_better)[0]


def _measured(new: Sequence[float], base: Sequence[float], floor: float, level: Level) -> Comparison:
    found = Comparison(
        status="not comparable", reason="", floor=floor, new_runs=len(new), base_runs=len(base)
    )
    if not new or not base:
        return replace(found, reason="a side has no run that counts")
    found = replace(found, worst_ranks=sum(not 0 < value < math.inf for value in (*new, *base)))
    if min(len(new), len(base)) < MIN_RUNS_FOR_A_RATIO:
        return replace(found, status="indicative")
    ratio = ratio_of(new, base, level.interval)
    enough = min(len(new), len(base)) >= MIN_RUNS_FOR_A_CLAIM
    return replace(
        found,
        status="inconclusive" if enough else "indicative",
        ratio=ratio.estimate if 0 < ratio.estimate < math.inf else None,
        interval=ratio.interval,
        p=mann_whitney_p(new, base) if enough else None,
    )


def _decided(found: Comparison, higher_is_better: bool, level: Level) -> Comparison:
    if found.status == "indicative":
        fewest = min(found.new_runs, found.base_runs)
        return replace(
            found,
            reason=f"{fewest} run{'' if fewest == 1 else 's'} per side cannot show a difference, "
            f"it takes at least {MIN_RUNS_FOR_A_CLAIM}",
        )
    interval = found.interval
    if found.p_holm is None or interval is None:
        return found
    floor = found.floor
    above, below = interval.low > 1 + floor, interval.high < 1 - floor
    if (above or below) and found.p_holm <= level.test:
        return replace(found, status="better" if above == higher_is_better else "worse")
    if interval.low >= 1 - floor and interval.high <= 1 + floor:
        return replace(found, status="no difference")
    if not (above or below):
        reason = f"the interval reaches into and beyond ±{100 * floor:.3g} %"
    elif smallest_p(found.new_runs, found.base_runs) * found.comparisons > level.test:
        reason = (
            f"{min(found.new_runs, found.base_runs)} runs per side are too few for {found.comparisons} "
            "comparisons in one family: not even the clearest order of runs would pass Holm’s correction"
        )
    else:
        reason = f"not significant after Holm’s correction for {found.comparisons} comparisons"
    return replace(found, reason=reason)


def _typical_run_failed(side: Sequence[float]) -> bool:
    """At least half of the runs have the worst rank, and so the one that is selected."""
    return 2 * sum(not 0 < value < math.inf for value in side) >= len(side) > 0


def _with_outlook(found: Comparison, new: Sequence[float], base: Sequence[float]) -> Comparison:
    failed = [_typical_run_failed(side) for side in (new, base)]
    if any(failed):
        # Two worst ranks are equal, which orders them. It is no ratio of figures: there are none.
        return replace(found, ratio=None, interval=None if all(failed) else found.interval)
    deviation = log_deviation(new, base)
    if found.ratio is None or deviation is None:
        return found
    needed = runs_needed(found.ratio, deviation, found.floor, found.comparisons)
    if needed is not None and not found.decided:
        # These runs did not decide it, however likely that was.
        needed = max(needed, min(found.new_runs, found.base_runs) + 1)
    return replace(
        found,
        runs_needed=needed,
        detectable=detectable_difference(len(new), len(base), deviation, found.floor, found.comparisons),
    )
