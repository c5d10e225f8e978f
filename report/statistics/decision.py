"""The decision rule of comparisons (M17). Nothing is decided anywhere else."""

import math
from collections.abc import Sequence

from msgspec import Struct, structs

from report.base.contract import CONSTANTS
from report.base.format import plural
from report.statistics import power
from report.statistics.conclusions import Status, conclusion_of
from report.statistics.rank_test import (
    holm,
    mann_whitney_tails,
    signed_rank_tails,
    smallest_p,
    two_sided,
)
from report.statistics.ratio import (
    ALPHA,
    RatioInterval,
    log_ratios_of_pairs,
    ratio_of,
    ratio_of_pairs,
)
from report.statistics.samples import MIN_ROUNDS_TO_PAIR, Sample

#: A difference counts only beyond it: `src/contract/statistics.ts` says why.
DEFAULT_FLOOR: float = CONSTANTS["floor_share"]

#: With one run per side the estimate would be a quotient of two figures that are printed anyway
#: (rule M28).
MIN_RUNS_FOR_A_RATIO = 2

#: Stand for the worst ranks where figures are multiplied: below, and above, all figures.
_LEAST = 1e-300
_MOST = 1e300


class Level(Struct, frozen=True, kw_only=True):
    """How often a claim may be wrong, as shares. The defaults are for runs that are looked at
    once."""

    interval: float = ALPHA
    """What the interval of the ratio leaves out, on both sides together."""
    test: float = ALPHA
    """The level of the whole family, by Holm's correction."""
    family: int = 0
    """Comparisons to correct for, where more belong to the family than are tested now."""
    equal_family: int = 0
    """The same for claims of no difference."""
    planned: int = 0
    """Comparisons that were planned, where some have no runs at all: they decide about pairing
    alone."""


ONE_LOOK = Level()


class Comparison(Struct, frozen=True, kw_only=True):
    """Two sides of runs. All ratios are new ÷ base."""

    status: Status
    """The direction in which the new side differs, as seen from the base; readers see
    `conclusion`."""
    higher_is_better: bool
    reason: str
    """Why it is not decided, in words; empty where it is."""
    too_few_runs: bool = False
    """It is not decided because there are fewer runs than any decision takes."""
    floor: float
    """A share: a difference lies beyond ± it."""
    new_runs: int
    base_runs: int
    pairs: int | None = None
    """How many pairs of runs are compared; None: they are not paired."""
    dropped: int = 0
    """Runs that a missing partner excluded."""
    ratio: float | None = None
    """The Hodges-Lehmann estimate: of pairs, or the median of all ratios of a run to a run; None
    below two per side: a quotient is no estimate. None also where the typical run of a side has the
    worst rank."""
    stopped_at: float | None = None
    """The estimate as it was when the runs were stopped by what they showed, where `ratio` corrects
    it."""
    interval: RatioInterval | None = None
    p: float | None = None
    """Two-sided, of the exact signed-rank or Mann-Whitney test; None below five runs per side, six
    pairs."""
    p_holm: float | None = None
    comparisons: int = 1
    """How many the correction is for."""
    runs_needed: int | None = None
    """Per side, to decide in 80 % of cases if the ratio is the true one; None: unknown, or more
    than 1000."""
    blocked: bool = False
    """Something else than the number of runs keeps it from being decided, see `reason`."""
    worst_ranks: int = 0
    """Runs of both sides that have the worst rank: where there are some, how many runs would decide
    is not known."""
    detectable: float | None = None
    """The smallest true difference, as a share, that these runs find in 80 % of cases."""

    @property
    def conclusion(self) -> str:
        """The word for the status of the new side."""
        return conclusion_of(self.status, higher_is_better=self.higher_is_better)

    @property
    def per_side(self) -> int:
        return min(self.new_runs, self.base_runs) if self.pairs is None else self.pairs

    @property
    def known_interval(self) -> RatioInterval | None:
        """The interval, unless worst ranks alone make it; without an upper bound its end is
        infinite."""
        interval = self.interval
        return interval if interval and math.isfinite(interval.low) and interval.high > 0 else None

    @property
    def decided(self) -> bool:
        return self.status in ("better", "worse", "no difference")

    @property
    def is_open(self) -> bool:
        """Not decided, although there are enough runs for a decision."""
        return self.status == "not decided" and not self.too_few_runs

    @property
    def shown(self) -> bool:
        return self.status in ("better", "worse")

    def inverted(self) -> "Comparison":
        swapped: dict[Status, Status] = {"better": "worse", "worse": "better"}
        interval = self.interval
        return structs.replace(
            self,
            status=swapped.get(self.status, self.status),
            new_runs=self.base_runs,
            base_runs=self.new_runs,
            ratio=None if self.ratio is None else 1 / self.ratio,
            stopped_at=None if self.stopped_at is None else 1 / self.stopped_at,
            interval=interval
            and RatioInterval(_inverse(interval.high), _inverse(interval.low), interval.coverage),
        )

    def undecided_by(self, reason: str) -> "Comparison":
        """The same figures without a conclusion, because of something that more runs would not
        change."""
        if self.too_few_runs or self.status == "not comparable":
            return self
        return structs.replace(
            self, status="not decided", reason=reason, blocked=True, runs_needed=None
        )


def _inverse(ratio: float) -> float:
    return math.inf if ratio == 0 else 1 / ratio


def compare_samples(
    samples: Sequence[Sample],
    floor: float = DEFAULT_FLOOR,
    higher_is_better: bool = True,
    level: Level = ONE_LOOK,
) -> tuple[Comparison, ...]:
    """Compares samples that make up one family, e.g. the rows of a ranking with their reference.

    A difference is one only if the 95 % interval of the ratio lies beyond ± `floor`, and the exact
    test, by Holm's correction for all comparisons of the family, rejects at 5 %. No difference: the
    interval lies within ± `floor`, and the two one-sided tests of that (D. J. Schuirmann, 1987, J.
    Pharmacokinet. Biopharm. 15:657-680), corrected in the same way, reject at 5 %. Anything else is
    not decided. With fewer than five runs per side nothing is tested.

    Samples of runs that were made at the same time, by turns, are compared by pairs. Others of ten
    and more planned rounds are, too, if so many pairs can decide so many comparisons; else as two
    independent sides.

    Samples are figures of runs; those that do not count are left out by the caller. A run with the
    worst rank has the figure 0, or infinity where lower is better. The level is for runs that are
    looked at more than once, see `sequential.py`; else 5 %. As many comparisons come back, in their
    order."""
    planned = max(len(samples), level.planned)
    methods = [_method(sample, planned, level) for sample in samples]
    both = zip(samples, methods, strict=True)
    measured = [
        _measured(sample, method, floor, level, higher_is_better) for sample, method in both
    ]
    tested = sum(comparison.p is not None for comparison in measured)
    family = max(tested, level.family)
    shares = [sample.share for sample in samples]
    corrected = _holm([comparison.p for comparison in measured], shares, family)
    p_equal = [
        None if comparison.p is None else _p_equal(sample, method, floor)
        for comparison, sample, method in zip(measured, samples, methods, strict=True)
    ]
    equal = _holm(p_equal, shares, max(tested, level.equal_family))
    decided_comparisons = []
    for index, comparison in enumerate(measured):
        sample = samples[index]
        method = methods[index]
        p_holm = corrected[index]
        same = equal[index]
        if p_holm is not None and same is not None:
            comparison = _decided(comparison, p_holm, same, family, level)
        decided_comparisons.append(_with_outlook(comparison, sample, method))
    return tuple(decided_comparisons)


def compare_runs(
    new: Sequence[float],
    base: Sequence[float],
    floor: float = DEFAULT_FLOOR,
    higher_is_better: bool = True,
) -> Comparison:
    """Compares two sides that were not measured next to each other, and nothing else is compared
    with."""
    return compare_samples([Sample(new=tuple(new), base=tuple(base))], floor, higher_is_better)[0]


def _method(sample: Sample, planned: int, level: Level) -> power.Method:
    if sample.to_reference:
        return power.BETWEEN
    if sample.together:
        return power.TOGETHER
    return power.PAIRED if sample.is_paired(planned, sample.share * level.test) else power.UNPAIRED


def _holm(
    p_values: Sequence[float | None], shares: Sequence[float], family: int
) -> list[float | None]:
    """Corrected, in their order; comparisons of the family that are not tested now count with p =
    1.

    Divided by the share of its look, the p of runs that were stopped at one of several is a p value
    again: it is below x with a probability of at most the sum of x times all shares, which is x."""
    tested = [
        min(1.0, p / share) for p, share in zip(p_values, shares, strict=True) if p is not None
    ]
    corrected = iter(holm([*tested, *[1.0] * (family - len(tested))]))
    return [None if p is None else next(corrected) for p in p_values]


def _used(sample: Sample, method: power.Method) -> tuple[tuple[float, ...], tuple[float, ...]]:
    if not method.paired:
        return sample.new, sample.base
    return tuple(new for new, _ in sample.pairs), tuple(base for _, base in sample.pairs)


def _measured(
    sample: Sample, method: power.Method, floor: float, level: Level, higher_is_better: bool
) -> Comparison:
    new, base = _used(sample, method)
    comparison = Comparison(
        status="not comparable",
        reason="",
        higher_is_better=higher_is_better,
        floor=floor,
        new_runs=len(sample.new),
        base_runs=len(sample.base),
        pairs=len(sample.pairs) if method.paired else None,
        dropped=sample.dropped if method.paired else 0,
        worst_ranks=sum(not 0 < value < math.inf for value in (*new, *base)),
    )
    if not sample.new or not sample.base:
        lacking = "a side has no run that counts with a figure that may be compared"
        return structs.replace(comparison, reason=lacking)
    if not new:
        return structs.replace(comparison, reason="no run has a partner that counts in its round")
    enough = comparison.per_side >= method.fewest
    few = (
        ""
        if enough
        else f"{_runs_text(comparison)} cannot show a difference, it takes at least {method.fewest}"
    )
    comparison = structs.replace(
        comparison, status="not decided", too_few_runs=not enough, reason=few
    )
    if comparison.per_side < MIN_RUNS_FOR_A_RATIO:
        return comparison
    alpha = (
        level.interval if sample.share == 1 else min(2 * sample.share * level.test, level.interval)
    )
    ratio = ratio_of_pairs(sample.pairs, alpha) if method.paired else ratio_of(new, base, alpha)
    return structs.replace(
        comparison,
        ratio=ratio.estimate if 0 < ratio.estimate < math.inf else None,
        interval=ratio.interval,
        p=two_sided(_tails(sample, method)) if enough else None,
    )


def _runs_text(comparison: Comparison) -> str:
    what = "run" if comparison.pairs is None else "pair"
    return f"{plural(comparison.per_side, what)}{' per side' if comparison.pairs is None else ''}"


def _tails(sample: Sample, method: power.Method, factor: float = 1.0) -> tuple[float, float]:
    """The one-sided p values that the ratio lies below a factor, and above it."""
    if method.paired:
        return signed_rank_tails((log_ratios_of_pairs(sample.pairs) - math.log(factor)).tolist())
    new, base = (
        [min(max(value, _LEAST), _MOST) for value in side] for side in (sample.new, sample.base)
    )
    return mann_whitney_tails(new, [factor * value for value in base])


def _p_equal(sample: Sample, method: power.Method, floor: float) -> float:
    """The larger p of two one-sided tests: that the ratio is 1 + floor or more, and 1 - floor or
    less."""
    above = _tails(sample, method, 1 - floor)[1] if floor < 1 else 0.0
    return max(_tails(sample, method, 1 + floor)[0], above)


def _decided(
    comparison: Comparison, p_holm: float, p_equal: float, family: int, level: Level
) -> Comparison:
    comparison = structs.replace(comparison, p_holm=p_holm, comparisons=family)
    interval = comparison.interval
    floor = comparison.floor
    if interval is None:
        return structs.replace(
            comparison, reason=f"{_runs_text(comparison)} are too few for an interval at this look"
        )
    above = interval.low > 1 + floor
    below = interval.high < 1 - floor
    if (above or below) and p_holm <= level.test:
        return structs.replace(
            comparison, status="better" if above == comparison.higher_is_better else "worse"
        )
    within = interval.low >= 1 - floor and interval.high <= 1 + floor
    if within and p_equal <= level.test:
        return structs.replace(comparison, status="no difference")
    if not (above or below or within):
        reason = f"the interval reaches into and beyond ±{100 * floor:.3g} %"
    elif smallest_p(*_sizes(comparison)) * family > (2 * level.test if within else level.test):
        reason = (
            f"{_runs_text(comparison)} are too few for {family} comparisons in one family: "
            "not even the clearest order of runs would pass Holm’s correction"
        )
    elif within:
        reason = f"that they do not differ is not certain after Holm’s correction for {family} comparisons"
    else:
        reason = f"not significant after Holm’s correction for {family} comparisons"
    return structs.replace(comparison, reason=reason)


def _sizes(comparison: Comparison) -> tuple[int, int | None]:
    return (
        (comparison.new_runs, comparison.base_runs)
        if comparison.pairs is None
        else (comparison.pairs, None)
    )


def _typical_run_failed(side: Sequence[float]) -> bool:
    """At least half of the runs have the worst rank, and so the one that is selected."""
    return 2 * sum(not 0 < value < math.inf for value in side) >= len(side) > 0


def _with_outlook(comparison: Comparison, sample: Sample, method: power.Method) -> Comparison:
    failed = [_typical_run_failed(side) for side in _used(sample, method)]
    if any(failed):
        # Two worst ranks are equal, which orders them. It is no ratio of figures: there are none.
        return structs.replace(
            comparison, ratio=None, interval=None if all(failed) else comparison.interval
        )
    deviation = power.sample_deviation(sample, method.paired)
    if comparison.ratio is None or deviation is None:
        return comparison
    floor = comparison.floor
    family = comparison.comparisons
    needed = power.runs_needed(comparison.ratio, deviation, floor, family, method)
    if not method.paired and len(sample.pairs) >= power.MIN_RUNS_FOR_A_CLAIM:
        # From ten rounds on by pairs, where some are there to judge by.
        within = power.sample_deviation(sample, paired=True)
        if within is not None and (needed is None or needed >= MIN_ROUNDS_TO_PAIR):
            needed = power.runs_needed(comparison.ratio, within, floor, family, power.PAIRED)
    if needed is not None and not comparison.decided:
        # These runs did not decide it, however likely that was.
        needed = max(needed, comparison.per_side + 1)
    detectable = power.detectable_difference(*_sizes(comparison), deviation, floor, family, method)
    return structs.replace(comparison, runs_needed=needed, detectable=detectable)
