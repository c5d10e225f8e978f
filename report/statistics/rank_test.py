"""The exact rank tests with ties, which are that of Mann and Whitney for two sides and that of
Wilcoxon for pairs, and Holm's correction.

The sizes `n` and `m` are the runs of two sides. `m` is None if `n` counts pairs."""

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

#: Up to this number of runs, or pairs, every arrangement is counted. For more of them the normal
#: approximation is good to the third digit.
MAX_EXACT = 120

Floats = NDArray[np.float64]


@lru_cache(maxsize=4096)
def student_quantile(freedom: float, p: float) -> float:
    # Loading SciPy takes half a second, and most reports do not need it.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, p))


def chi_square_quantile(freedom: float, p: float) -> float:
    from scipy.special import chdtri

    return float(chdtri(freedom, 1 - p))


def student_p(freedom: float, mean: float, error: float) -> float:
    """The two-sided p that a mean with this standard error is 0, by Student's t."""
    from scipy.special import stdtr

    if error == 0:
        return 1.0 if mean == 0 else 0.0
    return min(1.0, 2 * float(stdtr(freedom, -abs(mean / error))))


@lru_cache(maxsize=512)
def _tails_of_chosen(ranks: tuple[int, ...], chosen: int) -> Floats:
    """P(S ≤ s) for s = 0, 1, …, where S is the sum of `chosen` of the ranks, and all choices are
    equally likely.

    The choices are counted and not drawn. One item after the other is added to the subsets of each
    size, as in the shift algorithm of Streitberg and Röhmel (1986)."""
    sums = sum(sorted(ranks)[-chosen:]) + 1
    # The sums of each size follow those of the size below it, so that an item is one shift of all.
    # No subset of up to `chosen` items exceeds the sums of its size.
    ways = np.zeros((chosen + 1) * sums)
    ways[0] = 1
    for rank in ranks:
        shift = sums + rank
        ways[shift:] += ways[:-shift].copy()
    tails: Floats = np.cumsum(ways[chosen * sums :]) / math.comb(len(ranks), chosen)
    return tails


@lru_cache(maxsize=512)
def _tails_of_signs(ranks: tuple[int, ...]) -> Floats:
    """P(S ≤ s) for s = 0, 1, …, where S is the sum of the ranks with a positive sign, which each
    rank has with a probability of ½."""
    probabilities = np.zeros(sum(ranks) + 1)
    probabilities[0] = 1
    for rank in ranks:
        shifted = np.zeros_like(probabilities)
        shifted[rank:] = probabilities[: len(probabilities) - rank]
        probabilities = (probabilities + shifted) / 2
    tails: Floats = np.cumsum(probabilities)
    return tails


def midranks_doubled(values: Floats) -> NDArray[np.int64]:
    """Twice the rank of each value, from 2 on, so that the ranks that equal values share are whole
    numbers."""
    ordered = np.sort(values)
    below = np.searchsorted(ordered, values, side="left")
    doubled: NDArray[np.int64] = below + np.searchsorted(ordered, values, side="right") + 1
    return doubled


def mann_whitney_tails(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """The one-sided p values of the claims that `a` lies below `b`, and above it, if both were
    draws of one population.

    They are exact for up to 120 values together, also with ties, because all assignments of the
    midranks that occurred are counted (H. B. Mann and D. R. Whitney, 1947; M. Hollander, D. A.
    Wolfe and E. Chicken, Nonparametric Statistical Methods, 3rd ed., 2014, section 4.1). For more
    values they are the normal approximation with tie and continuity correction.

    Raises ValueError when a side is empty."""
    if not len(a) or not len(b):
        raise ValueError("needs at least one figure per side")

    if len(a) + len(b) > MAX_EXACT:
        from scipy.stats import mannwhitneyu

        less = mannwhitneyu(a, b, alternative="less", method="asymptotic")
        greater = mannwhitneyu(a, b, alternative="greater", method="asymptotic")
        return float(less.pvalue), float(greater.pvalue)

    doubled = midranks_doubled(np.array([*a, *b], dtype=float))
    rank_sum = int(doubled[: len(a)].sum())
    tails = _tails_of_chosen(tuple(sorted(doubled.tolist())), len(a))
    return float(tails[min(rank_sum, len(tails) - 1)]), float(1 - tails[rank_sum - 1])


def mann_whitney_p(a: Sequence[float], b: Sequence[float]) -> float:
    return two_sided(mann_whitney_tails(a, b))


def signed_rank_tails(differences: Sequence[float]) -> tuple[float, float]:
    """P(S ≤ seen) and P(S ≥ seen): the one-sided p values that the differences lie below, and
    above, 0.

    S is the sum of the ranks of the positive ones (F. Wilcoxon, 1945, Biometrics Bull. 1:80-83),
    over all choices of signs of the sizes that occurred; equal sizes share midranks, and a
    difference of 0 keeps its rank and has no sign (J. W. Pratt, 1959, J. Am. Stat. Assoc.
    54:655-667). Infinite ones are largest. Where a coin decided which side of each pair was
    measured first, signs are coins by design, whatever the host did from pair to pair.

    Raises ValueError without differences."""
    if not len(differences):
        raise ValueError("needs at least one pair")
    values = np.array(differences, dtype=float)
    doubled = midranks_doubled(np.abs(values))
    signed = doubled[values != 0]
    seen = int(doubled[values > 0].sum())
    if len(values) > MAX_EXACT:
        mean = float(signed.sum()) / 2
        deviation = math.sqrt(float((signed.astype(float) ** 2).sum())) / 2
        if deviation == 0:
            return 1.0, 1.0
        normal = NormalDist(mean, deviation)
        return normal.cdf(seen + 1), 1 - normal.cdf(seen - 1)
    tails = _tails_of_signs(tuple(sorted(signed.tolist())))
    return float(tails[seen]), float(1 - tails[seen - 1]) if seen else 1.0


def two_sided(tails: tuple[float, float]) -> float:
    return min(1.0, 2 * min(tails))


@lru_cache(maxsize=4096)
def smallest_p(n: int, m: int | None) -> float:
    """The smallest two-sided p that this number of runs can give. It is that of two sides whose
    ranges do not overlap, or of pairs with the same sign."""
    return min(1.0, 2 / (2**n if m is None else math.comb(n + m, n)))


def _untied(n: int, m: int | None) -> Floats:
    if m is None:
        return _tails_of_signs(tuple(range(1, n + 1)))
    return _tails_of_chosen(tuple(range(1, n + m + 1)), n)[n * (n + 1) // 2 :]


@lru_cache(maxsize=4096)
def exact_rank(n: int, m: int | None, alpha: float) -> int:
    """The number of the n·m ordered pairwise differences, or of the ordered Walsh averages of
    pairs, that lie outside an interval of 1 - alpha on each side. 0 if the runs are too few for
    such an interval."""
    return int(np.searchsorted(_untied(n, m), alpha / 2 + 1e-12, side="right"))


@lru_cache(maxsize=4096)
def exact_coverage(n: int, m: int | None, rank: int) -> float:
    """The coverage of an interval between the `rank`-th difference or average from below and that
    from above."""
    return float(1 - 2 * _untied(n, m)[rank - 1])


def holm(p_values: Sequence[float]) -> list[float]:
    """The p values corrected for their number, in their order (S. Holm, 1979, Scand. J. Stat.
    6:65-70)."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for place, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[index]))
        corrected[index] = highest
    return corrected
