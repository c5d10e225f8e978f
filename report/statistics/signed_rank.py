"""The exact Wilcoxon signed-rank test of differences within pairs, with ties and zeros."""

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from report.statistics.rank_test import Floats, midranks_doubled

#: Up to so many pairs every choice of signs is counted; beyond, the normal approximation is good to the third
#: digit.
MAX_EXACT_PAIRS = 120


@lru_cache(maxsize=512)
def _tails(ranks: tuple[int, ...]) -> Floats:
    """P(S ≤ s) for s = 0, 1, …: S is the sum of the ranks whose sign is positive, each with probability ½."""
    chances = np.zeros(sum(ranks) + 1)
    chances[0] = 1
    for rank in ranks:
        moved = np.zeros_like(chances)
        moved[rank:] = chances[: len(chances) - rank]
        chances = (chances + moved) / 2
    tails: Floats = np.cumsum(chances)
    return tails


def signed_rank_tails(differences: Sequence[float]) -> tuple[float, float]:
    """P(S ≤ seen) and P(S ≥ seen): the one-sided p values that the differences lie below, and above, 0.

    S is the sum of the ranks of the positive ones (F. Wilcoxon, 1945, Biometrics Bull. 1:80-83), over all
    choices of signs of the sizes that occurred; equal sizes share midranks, and a difference of 0 keeps its
    rank and has no sign (J. W. Pratt, 1959, J. Am. Stat. Assoc. 54:655-667). Infinite ones are largest.

    Raises ValueError without differences."""
    if not len(differences):
        raise ValueError("needs at least one pair")
    found = np.array(differences, dtype=float)
    doubled = midranks_doubled(np.abs(found))
    signed = doubled[found != 0]
    seen = int(doubled[found > 0].sum())
    if len(found) > MAX_EXACT_PAIRS:
        mean, deviation = float(signed.sum()) / 2, math.sqrt(float((signed.astype(float) ** 2).sum())) / 2
        if deviation == 0:
            return 1.0, 1.0
        normal = NormalDist(mean, deviation)
        return normal.cdf(seen + 1), 1 - normal.cdf(seen - 1)
    tails = _tails(tuple(sorted(signed.tolist())))
    return float(tails[seen]), float(1 - tails[seen - 1]) if seen else 1.0


def signed_rank_p(differences: Sequence[float]) -> float:
    """Two-sided p of the hypothesis that differences lie symmetrically around 0: twice the smaller tail.

    Where a coin decided which side of each pair was measured first, signs are coins by design, whatever the
    host did from pair to pair.

    Raises ValueError without differences."""
    return min(1.0, 2 * min(signed_rank_tails(differences)))


def smallest_paired_p(pairs: int) -> float:
    """The smallest two-sided p that so many pairs can give: all have one sign."""
    return min(1.0, 2.0 ** (1 - pairs))


def _untied(pairs: int) -> Floats:
    return _tails(tuple(range(1, pairs + 1)))


def exact_paired_rank(pairs: int, alpha: float) -> int:
    """How many of the ordered Walsh averages lie outside an interval of 1 - alpha, on each side.

    0: so few pairs give no such interval."""
    return int(np.searchsorted(_untied(pairs), alpha / 2 + 1e-12, side="right"))


def exact_paired_coverage(pairs: int, rank: int) -> float:
    """What an interval between the `rank`-th Walsh average from below and from above covers."""
    return float(1 - 2 * _untied(pairs)[rank - 1])
