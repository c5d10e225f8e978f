"""Selects a run of a configuration, and computes the median of runs with its interval, their
spread, and how evenly servers share."""

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

#: The fewest figures whose median has an interval of 95 %.
MIN_FIGURES = 6


class Candidate(Protocol):
    @property
    def run(self) -> int: ...

    @property
    def eligible(self) -> bool:
        """Whether its figures count."""

    @property
    def spoiled(self) -> bool:
        """Whether the target failed its load in it."""

    @property
    def selection_rank(self) -> float | None:
        """The figure by which it is selected. Higher is better."""


Chosen = TypeVar("Chosen", bound=Candidate)


def select_run(runs: Iterable[Chosen]) -> Chosen | None:
    """The run of which the report shows what only a single run has, such as seconds and versions.

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
    """The spread of figures, in their unit."""

    count: int
    mean: float
    min: float
    max: float
    stdev: float | None
    cv_percent: float | None


def spread(values: Sequence[float]) -> Spread | None:
    """The spread of the throughputs of a configuration's eligible runs.

    The deviation is that of a sample (n − 1, Bessel's correction), and None below two values. The
    coefficient of variation is also None if the mean is 0."""
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
    #: The share that the interval really covers, which is at least 0.95.
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
    # The loop finds the largest rank whose tails together stay below 5 %.
    while below + math.comb(n, rank) / 2**n <= 0.025:
        below += math.comb(n, rank) / 2**n
        rank += 1
    return MedianInterval(
        statistics.median(ordered), ordered[rank - 1], ordered[n - rank], 1 - 2 * below
    )


def paired_ratio(a: Sequence[float], b: Sequence[float]) -> MedianInterval:
    """The typical ratio a/b of figures that were measured in pairs, in which both sides slow down
    together.

    Raises ValueError for fewer than 6 pairs and for sides of unequal length."""
    return median_interval([x / y for x, y in zip(a, b, strict=True)])


def jain_index(amounts: Sequence[float]) -> float | None:
    """Jain's index, which is 1 if all have the same, and 1/n if one of n has everything. None if
    there is nothing to share.

    Source: R. Jain, D.-M. Chiu and W. Hawe, "A quantitative measure of fairness and discrimination
    for resource allocation in shared computer systems", DEC-TR-301, 1984: (Σx)² ÷ (n · Σx²)."""
    squares = sum(amount**2 for amount in amounts)
    return sum(amounts) ** 2 / (len(amounts) * squares) if squares else None
