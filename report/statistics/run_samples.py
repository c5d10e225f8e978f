"""The runs of one configuration: which of them is selected, their median with its interval, how far
they lie apart; and how evenly servers share."""

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

#: Fewer figures than this have no interval of 95 %.
MIN_FIGURES = 6


class Candidate(Protocol):
    @property
    def run(self) -> int: ...

    @property
    def eligible(self) -> bool:
        """Its figures count."""

    @property
    def spoiled(self) -> bool:
        """The target failed its load in it."""

    @property
    def selection_rank(self) -> float | None:
        """What it is selected by, more is better."""


Chosen = TypeVar("Chosen", bound=Candidate)


def select_run(runs: Iterable[Chosen]) -> Chosen | None:
    """The run that what only a single run has is shown of: seconds, versions, the original's
    columns.

    It is the run in the middle by `selection_rank` among the eligible and the spoiled ones, which
    rank below all others (rule M24). With an even count it is the lower of the two in the middle,
    because that is a run that took place and the more modest claim. Runs of equal rank are ordered
    by run number."""
    ranked = sorted(
        (
            (0 if run.spoiled else 1, run.selection_rank, run.run, run)
            for run in runs
            if (run.eligible or run.spoiled) and run.selection_rank is not None
        ),
        key=lambda entry: entry[:3],
    )
    return ranked[(len(ranked) - 1) // 2][3] if ranked else None


class Spread(Struct, frozen=True):
    count: int
    mean: float
    min: float
    max: float
    stdev: float | None
    cv_percent: float | None


def spread(values: Sequence[float]) -> Spread | None:
    """Spread of the throughputs of a configuration's eligible runs.

    The deviation is the sample's (n − 1, Bessel's correction), absent below two values; the
    coefficient of variation is absent when the mean is 0."""
    if not values:
        return None
    mean = statistics.fmean(values)
    stdev = statistics.stdev(values) if len(values) > 1 else None
    cv_percent = 100 * stdev / mean if stdev is not None and mean > 0 else None
    return Spread(len(values), mean, min(values), max(values), stdev, cv_percent)


class MedianInterval(Struct, frozen=True):
    """A median with a distribution-free interval."""

    median: float
    low: float
    high: float
    #: What the interval really covers, at least 0.95.
    coverage: float


def median_interval(values: Sequence[float]) -> MedianInterval:
    """The median of independent figures, with an interval of at least 95 %.

    The interval runs between two order statistics and needs no assumption on the distribution (W.
    J. Conover, Practical Nonparametric Statistics, 3rd ed., 1999, section 3.2).

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
    return MedianInterval(
        statistics.median(ordered), ordered[rank - 1], ordered[n - rank], 1 - 2 * below
    )


def paired_ratio(a: Sequence[float], b: Sequence[float]) -> MedianInterval:
    """The typical ratio a/b of figures that were measured in pairs: what slows a pair down slows
    both sides.

    Raises ValueError for fewer than 6 pairs and for sides of unequal length."""
    return median_interval([x / y for x, y in zip(a, b, strict=True)])


def jain_index(amounts: Sequence[float]) -> float | None:
    """1 where all have the same, 1/n where one of n has everything; None where there is nothing to
    share.

    Source: R. Jain, D.-M. Chiu and W. Hawe, "A quantitative measure of fairness and discrimination
    for resource allocation in shared computer systems", DEC-TR-301, 1984: (Σx)² ÷ (n · Σx²)."""
    squares = sum(amount**2 for amount in amounts)
    return sum(amounts) ** 2 / (len(amounts) * squares) if squares else None
