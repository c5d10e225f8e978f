"""The runs of one configuration: which of them stands for all, and how far they lie apart."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar


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
    def requests_per_second(self) -> float | None: ...


Chosen = TypeVar("Chosen", bound=Candidate)


def select_median_run(runs: Iterable[Chosen]) -> Chosen | None:
    """The run that stands for its configuration.

    The run with the median throughput among the eligible and the spoiled ones, which rank below all others
    (rule M24). With an even count it is the lower of the two in the middle: a run that took place, and the
    more modest claim. Equal throughputs are ordered by run number."""
    ranked = sorted(
        (
            (0.0 if run.spoiled else run.requests_per_second, run.run, run)
            for run in runs
            if (run.eligible or run.spoiled) and run.requests_per_second is not None
        ),
        key=lambda entry: entry[:2],
    )
    return ranked[(len(ranked) - 1) // 2][2] if ranked else None


@dataclass(frozen=True, slots=True)
class Spread:
    count: int
    mean: float
    min: float
    max: float
    stdev: float | None
    cv_percent: float | None


def spread(values: Sequence[float]) -> Spread | None:
    """Spread of the throughputs of a configuration's eligible runs.

    The deviation is the sample's (n − 1, Bessel's correction), absent below two values; the coefficient of
    variation is absent when the mean is 0."""
    if not values:
        return None
    mean = statistics.fmean(values)
    stdev = statistics.stdev(values) if len(values) > 1 else None
    cv_percent = 100 * stdev / mean if stdev is not None and mean > 0 else None
    return Spread(len(values), mean, min(values), max(values), stdev, cv_percent)
