"""All statistics of the report, and the selection of the median run. Nothing else computes them.

What is concluded from runs is in the package `inference`; this is its door.
"""

import binascii
import math
import statistics
import zlib
from base64 import b64decode
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Protocol, TypeVar

from hdrh.histogram import HdrHistogram

from .inference.decide import (
    DEFAULT_FLOOR,
    Comparison,
    Level,
    Status,
    compare_family,
    compare_runs,
    not_comparable,
)
from .inference.instability import (
    MAX_CV_PERCENT,
    Modes,
    Ramp,
    Trend,
    range_of_five,
    trend,
    two_levels,
    warm_up_ramp,
)
from .inference.looks import Family, Schedule, Stop, family_in_looks, side_in_looks
from .inference.median import MedianInterval, median_interval
from .inference.noise import MIN_RUNS_FOR_NOISE, Noise, floor_from_spread, noise_of, runs_for_floor
from .inference.power import MAX_RUNS, MIN_RUNS_FOR_A_CLAIM, detectable_difference, log_deviation, runs_needed
from .inference.rank_test import holm, mann_whitney_p, smallest_p
from .inference.ratio import ALPHA, Ratio, RatioInterval, ratio_of

__all__ = [
    "ALPHA",
    "DEFAULT_FLOOR",
    "MAX_CV_PERCENT",
    "MAX_RUNS",
    "MIN_RUNS_FOR_A_CLAIM",
    "MIN_RUNS_FOR_NOISE",
    "MIN_SAMPLES",
    "PERCENTILES",
    "Candidate",
    "Comparison",
    "Family",
    "Level",
    "MedianInterval",
    "Modes",
    "Noise",
    "Ramp",
    "Ratio",
    "RatioInterval",
    "Schedule",
    "Spread",
    "Status",
    "Stop",
    "Trend",
    "compare_family",
    "compare_runs",
    "decode_histogram",
    "detectable_difference",
    "family_in_looks",
    "floor_from_spread",
    "holm",
    "log_deviation",
    "mann_whitney_p",
    "median_interval",
    "merge_histograms",
    "noise_of",
    "not_comparable",
    "paired_difference",
    "paired_ratio",
    "percentiles_ms",
    "range_of_five",
    "ratio_of",
    "runs_for_floor",
    "runs_needed",
    "select_median_run",
    "side_in_looks",
    "smallest_p",
    "spread",
    "trend",
    "two_levels",
    "unsupported_percentiles",
    "warm_up_ramp",
]

#: Samples that must stand behind a percentile before it is printed unmarked (rule M18 of the methodology):
#: about a hundred of them beyond the percentile.
MIN_SAMPLES = {"p99": 10_000, "p99_9": 100_000}

#: In ascending order.
PERCENTILES = {
    "p50": 50.0,
    "p75": 75.0,
    "p90": 90.0,
    "p95": 95.0,
    "p97_5": 97.5,
    "p99": 99.0,
    "p99_9": 99.9,
}

_MAX_HISTOGRAM_BYTES = 4 * 1024 * 1024


class Candidate(Protocol):
    """A run, as far as its selection needs it."""

    @property
    def run(self) -> int: ...

    @property
    def eligible(self) -> bool:
        """It was measured and its verdict is not `invalid`."""

    @property
    def requests_per_second(self) -> float | None: ...


Chosen = TypeVar("Chosen", bound=Candidate)


def select_median_run(runs: Iterable[Chosen]) -> Chosen | None:
    """The run that stands for its configuration.

    The run with the median throughput among the eligible ones. With an even count it is the lower of the two
    in the middle: a run that took place, and the more modest claim. Equal throughputs are ordered by run
    number.

    Args:
        runs: runs of one configuration in any order.
    Returns:
        One of `runs`, or None when none is eligible.
    """
    ranked = sorted(
        (
            (run.requests_per_second, run.run, run)
            for run in runs
            if run.eligible and run.requests_per_second is not None
        ),
        key=lambda entry: entry[:2],
    )
    return ranked[(len(ranked) - 1) // 2][2] if ranked else None


@dataclass(frozen=True, slots=True)
class Spread:
    """How far runs lie apart, in the unit of the values; `cv_percent` is the deviation in % of the mean."""

    count: int
    mean: float
    min: float
    max: float
    stdev: float | None
    cv_percent: float | None


def spread(values: Sequence[float]) -> Spread | None:
    """Spread of the throughputs of a configuration's eligible runs.

    The deviation is the sample's (n − 1, Bessel's correction), absent below two values; the coefficient of
    variation is absent when the mean is 0.

    Args:
        values: finite numbers of one unit, in any order.
    Returns:
        None when there are no values.
    """
    if not values:
        return None
    mean = statistics.fmean(values)
    stdev = statistics.stdev(values) if len(values) > 1 else None
    cv_percent = 100 * stdev / mean if stdev is not None and mean > 0 else None
    return Spread(len(values), mean, min(values), max(values), stdev, cv_percent)


def decode_histogram(encoded: Mapping[str, Any]) -> HdrHistogram:
    """Reads one histogram of a result.

    Args:
        encoded: `{unit: "us", encoding, count, data}`; `data` is HDR's V2 format, deflated, base64.
    Raises:
        ValueError: the data is damaged, or holds another number of values than `count`.
    """
    try:
        inflater = zlib.decompressobj()
        inflater.decompress(b64decode(encoded["data"], validate=True)[8:], _MAX_HISTOGRAM_BYTES)
        if inflater.unconsumed_tail:
            raise ValueError("is too large for a histogram")
        histogram = HdrHistogram.decode(encoded["data"])
    except (binascii.Error, zlib.error) as error:
        raise ValueError("is damaged") from error
    except ValueError:
        raise
    except Exception as error:  # The decoder raises bare exceptions of its own for each kind of damage.
        raise ValueError(f"is not an HDR histogram ({type(error).__name__})") from error
    if histogram.get_total_count() != encoded["count"]:
        raise ValueError(f"holds {histogram.get_total_count()} values, but count says {encoded['count']}")
    return histogram


def merge_histograms(histograms: Sequence[HdrHistogram]) -> HdrHistogram | None:
    """One histogram with the values of all: the only way to have percentiles of several workers (rule M18).

    Args:
        histograms: of one unit; the widest is added to, so hand over what is not needed any more.
    Returns:
        None when there is no histogram.
    """
    ordered = sorted(histograms, key=lambda histogram: histogram.counts_len, reverse=True)
    if not ordered:
        return None
    merged, *others = ordered
    for other in others:
        merged.add(other)
    return merged


def percentiles_ms(histogram: HdrHistogram) -> dict[str, float]:
    """Percentiles of a histogram in µs, as milliseconds, by the names of `PERCENTILES`; empty without values.

    Nearest rank: the highest value that HDR holds equivalent to the one at rank ⌈p·n⌉, as HdrHistogram's Java
    and JavaScript libraries have it (G. Tene, `getValueAtPercentile`). The Python library rounds the rank to
    the nearest whole number instead, which can be one rank too low.
    """
    total = histogram.get_total_count()
    if total == 0:
        return {}
    found: dict[str, float] = {}
    seen = list(accumulate(histogram.counts[: histogram.counts_len]))
    for name, percentile in PERCENTILES.items():
        exact = percentile / 100 * total
        rank = max(1, math.ceil(exact - math.ulp(exact)))
        index = bisect_left(seen, rank)
        value = histogram.get_highest_equivalent_value(histogram.get_value_from_index(index))
        found[name] = value / 1000
    return found


def unsupported_percentiles(samples: int) -> tuple[str, ...]:
    """Names of the percentiles that `samples` values are too few for (rule M18)."""
    return tuple(name for name, needed in MIN_SAMPLES.items() if samples < needed)


def paired_ratio(a: Sequence[float], b: Sequence[float]) -> MedianInterval:
    """The typical ratio a/b of figures that were measured in pairs: what slows a pair down slows both sides.

    Raises ValueError for fewer than 6 pairs and for sides of unequal length.
    """
    return median_interval([x / y for x, y in zip(a, b, strict=True)])


def paired_difference(a: Sequence[float], b: Sequence[float]) -> MedianInterval:
    """The typical difference a - b of figures that were measured in pairs, in their unit.

    Raises ValueError for fewer than 6 pairs and for sides of unequal length.
    """
    return median_interval([x - y for x, y in zip(a, b, strict=True)])
