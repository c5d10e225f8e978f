"""How far figures would lie apart if the runs were made again: by drawing from the runs that there are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from report.statistics.ratio import ALPHA

Floats = NDArray[np.float64]

RESAMPLES = 2000

#: The interval of a median of fewer runs holds less than 95 %: even lowest to highest leaves out more.
MIN_RUNS_FOR_95_PERCENT = 6


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval of 95 % over resampled runs; each of the three may be infinite."""

    value: float
    low: float | None = None
    """None, like `high`, where one run alone counts."""
    high: float | None = None


class Resamples:
    """`RESAMPLES` draws, with replacement, of as many runs as there are. All figures of these runs share the
    draws, so that what belongs to one run stays together."""

    def __init__(self, runs: int, rng: np.random.Generator) -> None:
        self._drawn = rng.integers(0, runs, (RESAMPLES, runs))

    def medians(self, values: Sequence[float]) -> Floats:
        """The median of a figure in each draw; `values` are in the order of the runs."""
        found: Floats = np.median(np.asarray(values, dtype=float)[self._drawn], axis=1)
        return found


def estimate_of(value: float, resampled: Sequence[float] | Floats | None) -> Estimate:
    """A figure with the middle 95 % of the same figure of resampled runs.

    It is the percentile interval of the bootstrap (B. Efron and R. Tibshirani, An Introduction to the
    Bootstrap, 1993, section 13.3).

    Args:
        resampled: in any order; without an interval for None or nothing.
    """
    if resampled is None or len(resampled) == 0:
        return Estimate(value)
    ordered = np.sort(np.asarray(resampled, dtype=float))
    tail = int(len(ordered) * ALPHA / 2)
    return Estimate(value, float(ordered[tail]), float(ordered[-1 - tail]))
