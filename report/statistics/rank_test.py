"""The exact Mann-Whitney test, with ties, and Holm's correction."""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

#: Up to so many runs of both sides together every arrangement is counted; beyond, the normal approximation
#: is good to the third digit.
MAX_EXACT = 120

Floats = NDArray[np.float64]


def student_quantile(freedom: float, p: float) -> float:
    # Loading SciPy takes half a second, and most reports do not need it.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, p))


@lru_cache(maxsize=512)
def _tails(doubled_ranks: tuple[int, ...], chosen: int) -> Floats:
    """P(S ≤ s) for s = 0, 1, …: S is the sum of `chosen` of the ranks, any choice as likely as any other.

    Counted, not drawn: an item after the other is added to the subsets of each size (as in the
    Streitberg-Röhmel shift algorithm, 1986). Ranks are doubled, so that midranks are whole numbers."""
    top = sum(sorted(doubled_ranks)[-chosen:])
    ways = np.zeros((chosen + 1, top + 1))
    ways[0, 0] = 1
    for rank in doubled_ranks:
        ways[1:, rank:] += ways[:-1, : top + 1 - rank].copy()
    tails: Floats = np.cumsum(ways[chosen]) / math.comb(len(doubled_ranks), chosen)
    return tails


def midranks_doubled(values: Floats) -> NDArray[np.int64]:
    """Twice the rank of each value, from 2 on; equal values share the mean of their ranks."""
    ordered = np.sort(values)
    below = np.searchsorted(ordered, values, side="left")
    upto = np.searchsorted(ordered, values, side="right")
    doubled: NDArray[np.int64] = below + upto + 1
    return doubled


def mann_whitney_tails(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """The one-sided p values that `a` lies below `b`, and above it, if both were draws of one population.

    Exact for up to 120 values together, with ties too: all assignments of the midranks that occurred are
    counted (H. B. Mann and D. R. Whitney, 1947; M. Hollander, D. A. Wolfe and E. Chicken, Nonparametric
    Statistical Methods, 3rd ed., 2014, section 4.1). Beyond, the normal approximation with tie and continuity
    correction.

    Raises ValueError when a side is empty."""
    n, m = len(a), len(b)
    if n == 0 or m == 0:
        raise ValueError("needs at least one figure per side")
    if n + m > MAX_EXACT:
        from scipy.stats import mannwhitneyu

        less, greater = (
            float(mannwhitneyu(a, b, alternative=side, method="asymptotic").pvalue)
            for side in ("less", "greater")
        )
        return less, greater
    doubled = midranks_doubled(np.array([*a, *b], dtype=float))
    seen = int(doubled[:n].sum())
    tails = _tails(tuple(sorted(doubled.tolist())), n)
    lower = tails[min(seen, len(tails) - 1)]
    upper = 1 - (tails[seen - 1] if seen > 0 else 0.0)
    return float(lower), float(upper)


def mann_whitney_p(a: Sequence[float], b: Sequence[float]) -> float:
    """Two-sided p of the hypothesis that both sides are draws of one population: twice the smaller tail.

    Raises ValueError when a side is empty."""
    return min(1.0, 2 * min(mann_whitney_tails(a, b)))


def smallest_p(n: int, m: int) -> float:
    """The smallest two-sided p that so many runs can give: the ranges of the two sides do not overlap."""
    return min(1.0, 2 / math.comb(n + m, n))


def exact_rank(n: int, m: int, alpha: float) -> int:
    """How many of the n·m ordered pairwise differences lie outside an interval of 1 - alpha, on each side.

    0: so few runs give no such interval."""
    tails = _tails(tuple(range(2, 2 * (n + m) + 1, 2)), n)
    by_u = tails[n * (n + 1) :: 2]
    return int(np.searchsorted(by_u, alpha / 2 + 1e-12, side="right"))


def exact_coverage(n: int, m: int, rank: int) -> float:
    """What an interval between the `rank`-th difference from below and from above covers."""
    tails = _tails(tuple(range(2, 2 * (n + m) + 1, 2)), n)
    return float(1 - 2 * tails[n * (n + 1) + 2 * (rank - 1)])


def holm(p_values: Sequence[float]) -> list[float]:
    """p values corrected for there being several, in their order (S. Holm, 1979, Scand. J. Stat. 6:65-70)."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[index]))
        corrected[index] = highest
    return corrected
