"""The ratio of two sides of runs, or of pairs of runs, with its interval."""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from msgspec import Struct

from report.base.contract import CONSTANTS
from report.statistics.rank_test import MAX_EXACT, Floats, exact_coverage, exact_rank

ALPHA: float = CONSTANTS["level"]


class RatioInterval(Struct, frozen=True):
    """`low` may be 0 and `high` infinite if runs have the worst rank. `coverage` is exact and at
    least the level that was asked for, because only some levels exist for few runs."""

    low: float
    high: float
    coverage: float


class Ratio(Struct, frozen=True):
    """New ÷ base. `interval` is None below four runs per side, or six pairs. It needs more of them
    if it leaves out less than 5 %."""

    estimate: float
    """0 or infinite if the typical run of one side has the worst rank, and that of the other does
    not."""
    interval: RatioInterval | None


def ratio_of(new: Sequence[float], base: Sequence[float], alpha: float = ALPHA) -> Ratio:
    """The typical ratio of a run of `new` to one of `base`, with an interval of at least 1 -
    `alpha`.

    The estimate is the median of all n·m ratios of a run to a run (J. L. Hodges and E. L. Lehmann,
    1963, on logarithms). The interval runs between two of these ratios, which the exact
    distribution of Mann and Whitney selects (Hollander, Wolfe and Chicken, 2014, sections 4.2 and
    4.3). It leaves out 1 exactly if the test rejects at its level. If two sides differ by a factor,
    and not in shape, the estimate is the ratio of their medians.
    docs/decisions/0011-statistics-of-comparisons.md says why it is preferred to a bootstrap of
    that.

    A run with the worst rank has the figure 0 or infinity. Two such runs are equal, so their ratio
    is 1. Raises ValueError if a side is empty, or a figure is negative."""
    if not new or not base or min(*new, *base) < 0:
        raise ValueError("needs figures on both sides, none of them negative")
    differences = np.sort(_log_ratios(np.array(new)[:, None], np.array(base)[None, :]).ravel())
    return _between(differences, len(new), len(base), alpha)


def ratio_of_pairs(pairs: Sequence[tuple[float, float]], alpha: float = ALPHA) -> Ratio:
    """The typical ratio new ÷ base within pairs, with an interval of at least 1 - `alpha`.

    The estimate is the median of the Walsh averages of the log ratios of pairs, which are the means
    of each of them with each, including itself (J. L. Hodges and E. L. Lehmann, 1963). The interval
    runs between two of these averages, which the exact distribution of Wilcoxon's signed-rank
    statistic selects (Hollander, Wolfe and Chicken, 2014, sections 3.2 and 3.3). What speeds up or
    slows down both runs of a pair cancels.

    A run with the worst rank has the figure 0 or infinity. Two such runs in one pair are equal, so
    their ratio is 1. So is the average of a pair that only one side failed and a pair that only the
    other side failed. Raises ValueError without pairs, and if a figure is negative."""
    if not pairs or min(value for pair in pairs for value in pair) < 0:
        raise ValueError("needs pairs of figures, none of them negative")
    logs = log_ratios_of_pairs(pairs)
    rows, columns = np.triu_indices(len(logs))
    with np.errstate(invalid="ignore"):
        averages = (logs[rows] + logs[columns]) / 2
    return _between(np.sort(np.where(np.isnan(averages), 0.0, averages)), len(logs), None, alpha)


def log_ratios_of_pairs(pairs: Sequence[tuple[float, float]]) -> Floats:
    """The logarithm of the ratio of each pair. It is 0 for two runs with the worst rank, and
    infinite for one."""
    figures = np.array(pairs, dtype=float)
    return _log_ratios(figures[:, 0], figures[:, 1])


def _log_ratios(new: Floats, base: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        differences = np.log(new) - np.log(base)
    logs: Floats = np.where(np.isnan(differences), 0.0, differences)
    return logs


def _median(ordered: Floats) -> float:
    """The median. Halfway between minus infinity and infinity is 0, because neither side is
    better."""
    low, high = (float(ordered[index]) for index in ((len(ordered) - 1) // 2, len(ordered) // 2))
    return 0.0 if low == -high else (low + high) / 2


def _between(ordered: Floats, n: int, m: int | None, alpha: float) -> Ratio:
    """The ratio whose logarithm is the median of ordered logarithms, with the interval that leaves
    out at most `alpha`."""
    estimate = math.exp(_median(ordered))
    if n + (m or 0) <= MAX_EXACT:
        rank = exact_rank(n, m, alpha)
        if rank == 0:
            return Ratio(estimate, None)
        coverage = exact_coverage(n, m, rank)
    else:
        # This is the normal approximation of the same rank (the same source, sections 3.3 and 4.3).
        variance = n * (n + 1) * (2 * n + 1) / 24 if m is None else n * m * (n + m + 1) / 12
        rank = math.floor(
            len(ordered) / 2 - NormalDist().inv_cdf(1 - alpha / 2) * math.sqrt(variance)
        )
        coverage = 1 - alpha
    low = math.exp(float(ordered[rank - 1]))
    high = math.exp(float(ordered[-rank]))
    return Ratio(estimate, RatioInterval(low, high, coverage))
