"""How many times as much: the ratio of two sides of runs, with its interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from report.statistics.rank_test import MAX_EXACT, exact_coverage, exact_rank

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class RatioInterval:
    """`low` may be 0 and `high` infinite, where runs have the worst rank. `coverage` is exact, at least 0.95:
    only some levels exist for few runs."""

    low: float
    high: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Ratio:
    """New ÷ base. `interval` is None below four runs per side (4 against 4 is the first to have one)."""

    estimate: float
    """0 or infinite where the typical run of a side has the worst rank, and that of the other has not."""
    interval: RatioInterval | None


def ratio_of(new: Sequence[float], base: Sequence[float], alpha: float = ALPHA) -> Ratio:
    """The typical ratio of a run of `new` to one of `base`, with an interval of at least 1 - `alpha`.

    The estimate is the median of all n·m ratios of a run to a run (J. L. Hodges and E. L. Lehmann, 1963, on
    logarithms), the interval runs between two of these ratios, chosen by the exact Mann-Whitney distribution
    (Hollander, Wolfe and Chicken, 2014, sections 4.2 and 4.3): it leaves out 1 exactly when the test rejects
    at its level. Where two sides differ by a factor, and not in shape, it is the ratio of their medians; why
    it is preferred to a bootstrap of that: docs/decisions/0011-statistics-of-comparisons.md.

    A run with the worst rank has the figure 0 or infinity. Two of them are equal: their ratio is 1.

    Args:
        new, base: figures of independent runs, one unit, any order.
    Raises:
        ValueError: a side is empty, or holds a negative figure.
    """
    if not new or not base or min(*new, *base) < 0:
        raise ValueError("needs figures on both sides, none of them negative")
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = np.log(np.array(new)), np.log(np.array(base))
        differences = (a[:, None] - b[None, :]).ravel()
    differences = np.sort(np.where(np.isnan(differences), 0.0, differences))
    return Ratio(
        estimate=math.exp(_median(differences)),
        interval=_interval(differences, len(new), len(base), alpha),
    )


def _median(ordered: np.ndarray) -> float:
    """Halfway between minus infinity and infinity is 0: neither side is better."""
    low, high = (float(ordered[index]) for index in ((len(ordered) - 1) // 2, len(ordered) // 2))
    return 0.0 if low == -high else (low + high) / 2


def _interval(differences: np.ndarray, n: int, m: int, alpha: float) -> RatioInterval | None:
    if n + m <= MAX_EXACT:
        rank = exact_rank(n, m, alpha)
        if rank == 0:
            return None
        coverage = exact_coverage(n, m, rank)
    else:
        # The normal approximation of the same rank (the same source, section 4.3).
        reach = NormalDist().inv_cdf(1 - alpha / 2) * math.sqrt(n * m * (n + m + 1) / 12)
        rank = math.floor(n * m / 2 - reach)
        coverage = 1 - alpha
    return RatioInterval(
        math.exp(float(differences[rank - 1])), math.exp(float(differences[-rank])), coverage
    )
