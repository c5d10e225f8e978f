"""The median of one side of figures, with its interval."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

#: Fewer figures than this have no interval of 95 %.
MIN_FIGURES = 6


@dataclass(frozen=True)
class MedianInterval:
    """A median with a distribution-free interval."""

    median: float
    low: float
    high: float
    #: What the interval really covers, at least 0.95.
    coverage: float


def median_interval(values: Sequence[float]) -> MedianInterval:
    """The median of independent figures, with an interval of at least 95 %.

    The interval runs between two order statistics and needs no assumption on the distribution (W. J. Conover,
    Practical Nonparametric Statistics, 3rd ed., 1999, section 3.2).

    Raises ValueError for fewer than 6 figures, of which no such interval exists."""
    n = len(values)
    if n < MIN_FIGURES:
        raise ValueError(f"needs at least {MIN_FIGURES} figures, got {n}")
    ordered = sorted(values)
    below = 0.0
    rank = 0
    # The largest rank whose tails together stay below 5 %.
    while below + math.comb(n, rank) / 2**n <= 0.025:
        below += math.comb(n, rank) / 2**n
        rank += 1
    return MedianInterval(statistics.median(ordered), ordered[rank - 1], ordered[n - rank], 1 - 2 * below)


def paired_ratio(a: Sequence[float], b: Sequence[float]) -> MedianInterval:
    """The typical ratio a/b of figures that were measured in pairs: what slows a pair down slows both sides.

    Raises ValueError for fewer than 6 pairs and for sides of unequal length."""
    return median_interval([x / y for x, y in zip(a, b, strict=True)])
