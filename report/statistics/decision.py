"""The decision rule of comparisons (rule M17). Nothing is decided anywhere else."""

import math
from collections.abc import Sequence

from msgspec import structs

from report.base.format import joined, plural
from report.statistics import power
from report.statistics.comparison import DEFAULT_MARGIN, ONE_LOOK, Comparison, Level
from report.statistics.conclusions import Status
from report.statistics.rank_test import (
    holm,
    mann_whitney_tails,
    signed_rank_tails,
    smallest_p,
    two_sided,
)
from report.statistics.ratio import (
    RatioInterval,
    log_ratios_of_pairs,
    ratio_of,
    ratio_of_pairs,
)
from report.statistics.samples import MIN_ROUNDS_TO_PAIR, Sample
from report.statistics.systematic_error import SystematicError

#: With one run per side the estimate would be a quotient of two printed figures (rule M28).
MIN_RUNS_FOR_A_RATIO = 2

#: These figures stand for the worst ranks in multiplications. They are below and above all figures.
_LEAST = 1e-300
_MOST = 1e300


def compare_samples(
    samples: Sequence[Sample],
    margin: float = DEFAULT_MARGIN,
    higher_is_better: bool | Sequence[bool] = True,
    level: Level = ONE_LOOK,
    with_outlook: bool = True,
) -> tuple[Comparison, ...]:
    """Compares samples that make up one family, e.g. the rows of a ranking with their reference.

    The 95 % interval of a ratio is widened at both ends by the systematic error of the sample (rule
    M34). There is no difference if that error is known, the interval lies within ± `margin`, and
    the two one-sided tests of that (D. J. Schuirmann, 1987, J. Pharmacokinet. Biopharm. 15:657-680)
    reject at 5 % after Holm's correction for all comparisons of the family. There is a difference
    if the interval excludes 1, and the exact test rejects at 5 % after the same correction. It is
    better or worse if the interval lies beyond ± `margin`, slightly so if it ends before twice the
    margin, and of open size otherwise. Anything else is not decided. Nothing is tested with fewer
    than five runs per side.

    Samples of runs that took place at the same time, by turns, are compared by pairs. So are
    samples of ten or more planned rounds, if that many pairs can decide that many comparisons. All
    others are compared as two independent sides.

    Samples hold only the figures of runs that count. A run with the worst rank has the figure 0, or
    infinity if lower values are better. `higher_is_better` is one value for all samples, or one for
    each. `level` differs from 5 % if runs are looked at more than once, see `sequential.py`.
    Without `with_outlook` it is not computed how many runs would decide, and which difference these
    find. The comparisons have the order of the samples."""
    planned = max(len(samples), level.planned)
    methods = [_method(sample, planned, level) for sample in samples]
    directions = (
        [higher_is_better] * len(samples)
        if isinstance(higher_is_better, bool)
        else higher_is_better
    )
    measured = [
        _measured(sample, method, margin, level, direction)
        for sample, method, direction in zip(samples, methods, directions, strict=True)
    ]

    tested = sum(comparison.p is not None for comparison in measured)
    family = max(tested, level.family)
    shares = [sample.share for sample in samples]
    p_holm = _holm([comparison.p for comparison in measured], shares, family)
    p_equal = [
        None if comparison.p is None else _p_equal(sample, method, margin)
        for comparison, sample, method in zip(measured, samples, methods, strict=True)
    ]
    p_equal_holm = _holm(p_equal, shares, max(tested, level.equal_family))

    comparisons = []
    for index, comparison in enumerate(measured):
        p_different = p_holm[index]
        p_same = p_equal_holm[index]
        if p_different is not None and p_same is not None:
            comparison = _decided(comparison, p_different, p_same, family, level)
        comparison = _without_ratio_of_failed(comparison, samples[index], methods[index])
        if with_outlook:
            comparison = _with_outlook(comparison, samples[index], methods[index])
        comparisons.append(comparison)
    return tuple(comparisons)


def compare_runs(
    new: Sequence[float],
    base: Sequence[float],
    margin: float = DEFAULT_MARGIN,
    higher_is_better: bool = True,
) -> Comparison:
    """Compares two sides that were not measured next to each other, as a family of one."""
    return compare_samples([Sample(new=tuple(new), base=tuple(base))], margin, higher_is_better)[0]


def p_of_bounds(
    samples: Sequence[Sample], factors: Sequence[float], family: int, level: Level = ONE_LOOK
) -> tuple[float, ...]:
    """The corrected p values of the claims that the ratios reach their factors.

    A factor above 1 is one from which on a ratio is too high, and a factor below 1 one down from
    which it is too low. A small p shows that the ratio is not. `family` is the number of claims
    that are corrected together."""
    planned = max(family, level.planned)
    p_values = []
    for sample, factor in zip(samples, factors, strict=True):
        p_below, p_above = _tails(sample, _method(sample, planned, level), factor)
        p_values.append(p_below if factor > 1 else p_above)
    corrected = _holm(p_values, [sample.share for sample in samples], family)
    return tuple(1.0 if p is None else p for p in corrected)


def _method(sample: Sample, planned: int, level: Level) -> power.Method:
    if sample.to_reference:
        return power.BETWEEN
    if sample.together:
        return power.TOGETHER
    return power.PAIRED if sample.is_paired(planned, sample.share * level.test) else power.UNPAIRED


def _holm(
    p_values: Sequence[float | None], shares: Sequence[float], family: int
) -> list[float | None]:
    """The corrected p values in their order. Comparisons of the family that are not tested now
    count with p = 1.

    The p of runs that were stopped at one of several looks is divided by the share of its look.
    That is a p value again, because it is below x with a probability of at most the sum of x times
    all shares, which is x."""
    tested = [
        min(1.0, p / share) for p, share in zip(p_values, shares, strict=True) if p is not None
    ]
    corrected = iter(holm([*tested, *[1.0] * (family - len(tested))]))
    return [None if p is None else next(corrected) for p in p_values]


def _compared_sides(
    sample: Sample, method: power.Method
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The figures that the method compares, of the new side and of the base."""
    if not method.paired:
        return sample.new, sample.base
    return tuple(new for new, _ in sample.pairs), tuple(base for _, base in sample.pairs)


def _measured(
    sample: Sample, method: power.Method, margin: float, level: Level, higher_is_better: bool
) -> Comparison:
    new, base = _compared_sides(sample, method)
    comparison = Comparison(
        status="not comparable",
        reason="",
        higher_is_better=higher_is_better,
        margin=margin,
        new_runs=len(sample.new),
        base_runs=len(sample.base),
        systematic=sample.systematic,
        pairs=len(sample.pairs) if method.paired else None,
        dropped=sample.dropped if method.paired else 0,
        worst_ranks=sum(not 0 < value < math.inf for value in (*new, *base)),
    )
    if not sample.new or not sample.base:
        reason = "a side has no run that counts with a figure that may be compared"
        return structs.replace(comparison, reason=reason)
    if not new:
        return structs.replace(comparison, reason="no run has a partner that counts in its round")

    has_enough_runs = comparison.per_side >= method.fewest
    reason = ""
    if not has_enough_runs:
        runs_text = _runs_text(comparison)
        reason = f"{runs_text} cannot show a difference, it takes at least {method.fewest}"
    comparison = structs.replace(
        comparison, status="not decided", too_few_runs=not has_enough_runs, reason=reason
    )
    if comparison.per_side < MIN_RUNS_FOR_A_RATIO:
        return comparison

    alpha = level.interval
    if sample.share != 1:
        alpha = min(2 * sample.share * level.test, level.interval)
    ratio = ratio_of_pairs(sample.pairs, alpha) if method.paired else ratio_of(new, base, alpha)
    return structs.replace(
        comparison,
        ratio=ratio.estimate if 0 < ratio.estimate < math.inf else None,
        interval=ratio.interval and _widened(ratio.interval, sample.systematic),
        p=two_sided(_tails(sample, method)) if has_enough_runs else None,
    )


def _widened(interval: RatioInterval, systematic: SystematicError) -> RatioInterval:
    factor = 1 + systematic.share
    return structs.replace(interval, low=interval.low / factor, high=interval.high * factor)


def _runs_text(comparison: Comparison) -> str:
    if comparison.pairs is None:
        return f"{plural(comparison.per_side, 'run')} per side"
    return plural(comparison.per_side, "pair")


def _tails(sample: Sample, method: power.Method, factor: float = 1.0) -> tuple[float, float]:
    """The one-sided p values of the claims that the ratio lies below a factor, and above it."""
    if method.paired:
        differences = log_ratios_of_pairs(sample.pairs) - math.log(factor)
        return signed_rank_tails(differences.tolist())

    new, base = (
        [min(max(value, _LEAST), _MOST) for value in side] for side in (sample.new, sample.base)
    )
    return mann_whitney_tails(new, [factor * value for value in base])


def _p_equal(sample: Sample, method: power.Method, margin: float) -> float:
    """The larger p of two one-sided tests, of which one rejects that the ratio is at least 1 +
    margin, and the other that it is at most 1 - margin. The systematic error narrows both."""
    factor = 1 + sample.systematic.share
    p_below = _tails(sample, method, (1 + margin) / factor)[0]
    p_above = _tails(sample, method, (1 - margin) * factor)[1] if margin < 1 else 0.0
    return max(p_below, p_above)


def _decided(
    comparison: Comparison, p_holm: float, p_equal: float, family: int, level: Level
) -> Comparison:
    """Decides a comparison by its interval and its corrected p values."""
    comparison = structs.replace(comparison, p_holm=p_holm, comparisons=family)
    interval = comparison.interval
    margin = comparison.margin
    if interval is None:
        return structs.replace(
            comparison, reason=f"{_runs_text(comparison)} are too few for an interval at this look"
        )

    is_within = interval.low >= 1 - margin and interval.high <= 1 + margin
    unmeasured = comparison.systematic.unmeasured
    if is_within and p_equal <= level.test:
        if not unmeasured:
            return structs.replace(comparison, status="no difference")
        # That a component is missing makes no direction of what would be none.
        reason = (
            f"that it lies within ±{100 * margin:.3g} % takes the systematic error, of which was not "
            f"measured: {joined(list(unmeasured))} (M34)"
        )
        return structs.replace(comparison, reason=reason)

    excludes_one = interval.low > 1 or interval.high < 1
    if excludes_one and p_holm <= level.test:
        status = _status_of_difference(interval, margin, comparison.higher_is_better)
        is_size_open = status.endswith("size open")
        reason = f"whether it exceeds {100 * margin:.3g} % is not decided" if is_size_open else ""
        return structs.replace(comparison, status=status, reason=reason)

    if not (excludes_one or is_within):
        reason = f"the interval reaches into and beyond ±{100 * margin:.3g} %"
    elif smallest_p(*_sizes(comparison)) * family > (2 * level.test if is_within else level.test):
        reason = (
            f"{_runs_text(comparison)} are too few for {family} comparisons in one family: "
            "not even the clearest order of runs would pass Holm’s correction"
        )
    elif is_within:
        reason = f"that they do not differ is not certain after Holm’s correction for {family} comparisons"
    else:
        reason = f"not significant after Holm’s correction for {family} comparisons"
    return structs.replace(comparison, reason=reason)


def _status_of_difference(interval: RatioInterval, margin: float, higher_is_better: bool) -> Status:
    """The status of a comparison whose interval lies on one side of 1."""
    is_above = interval.low > 1
    is_better = is_above == higher_is_better
    if interval.low > 1 + margin or interval.high < 1 - margin:
        return "better" if is_better else "worse"

    is_slight = interval.high < 1 + 2 * margin if is_above else interval.low > 1 - 2 * margin
    if is_slight:
        return "slightly better" if is_better else "slightly worse"
    return "better, size open" if is_better else "worse, size open"


def standing(comparison: Comparison, parts: Sequence[Comparison], reason: str) -> Comparison:
    """The comparison with what each part of its windows concludes, too (rules M26 and M33).

    If the parts show its direction and different sizes, its interval covers theirs. If one of them
    shows another direction, or none, nothing is concluded for that reason."""
    if comparison.status in ("not decided", "not comparable"):
        return comparison
    if all(part.status == comparison.status for part in parts):
        return comparison

    interval = comparison.interval
    part_intervals = [part.interval for part in parts if part.direction == comparison.direction]
    if comparison.direction is None or interval is None or len(part_intervals) < len(parts):
        return comparison.undecided_by(reason)
    covered = [interval, *filter(None, part_intervals)]
    widest = RatioInterval(
        low=min(one.low for one in covered),
        high=max(one.high for one in covered),
        coverage=interval.coverage,
    )
    status = _status_of_difference(widest, comparison.margin, comparison.higher_is_better)
    return structs.replace(comparison, status=status, interval=widest, reason=reason)


def _sizes(comparison: Comparison) -> tuple[int, int | None]:
    """The numbers of runs of both sides, or the number of pairs and None."""
    if comparison.pairs is None:
        return comparison.new_runs, comparison.base_runs
    return comparison.pairs, None


def _typical_run_failed(side: Sequence[float]) -> bool:
    """Whether at least half of the runs have the worst rank, and with them the selected one."""
    return 2 * sum(not 0 < value < math.inf for value in side) >= len(side) > 0


def _without_ratio_of_failed(
    comparison: Comparison, sample: Sample, method: power.Method
) -> Comparison:
    """The comparison, which has no ratio if the typical run of a side has the worst rank."""
    failed = [_typical_run_failed(side) for side in _compared_sides(sample, method)]
    if not any(failed):
        return comparison
    # Two worst ranks are equal, which is an order, but no ratio of figures.
    return structs.replace(
        comparison, ratio=None, interval=None if all(failed) else comparison.interval
    )


def _with_outlook(comparison: Comparison, sample: Sample, method: power.Method) -> Comparison:
    """The comparison with the number of runs that would decide it, and the difference that these
    runs find. Neither is known without a ratio."""
    deviation = power.sample_deviation(sample, method.paired)
    if comparison.ratio is None or deviation is None:
        return comparison

    margin = comparison.margin
    family = comparison.comparisons
    systematic = comparison.systematic
    needed = power.runs_needed(
        comparison.ratio, deviation, margin, family, method, systematic=systematic
    )
    if not method.paired and len(sample.pairs) >= power.MIN_RUNS_FOR_A_CLAIM:
        # More rounds would be compared by pairs, and the existing pairs show how far they lie
        # apart.
        pair_deviation = power.sample_deviation(sample, paired=True)
        if pair_deviation is not None and (needed is None or needed >= MIN_ROUNDS_TO_PAIR):
            needed = power.runs_needed(
                comparison.ratio,
                pair_deviation,
                margin,
                family,
                power.PAIRED,
                systematic=systematic,
            )
    if needed is not None and not comparison.decided:
        # These runs did not decide it, so at least one more is needed.
        needed = max(needed, comparison.per_side + 1)
    detectable = power.detectable_difference(
        *_sizes(comparison), deviation, margin, family, method, systematic=systematic
    )
    return structs.replace(comparison, runs_needed=needed, detectable=detectable)
