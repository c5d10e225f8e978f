"""Histograms of latencies: reading, merging, and the percentiles of what was merged (rule M18).

The percentiles of one run stand in its result."""

import binascii
import zlib
from array import array
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from hdrh.histogram import HdrHistogram
from msgspec import Struct

from report.base.contract import CONSTANTS

#: Samples that must stand behind a percentile before it is printed unmarked (rule M18), by its
#: name.
MIN_SAMPLES: Mapping[str, int] = CONSTANTS["min_samples"]

#: In ascending order.
PERCENTILES: Mapping[str, float] = {
    name: float(percent) for name, percent in CONSTANTS["percentiles"].items()
}

#: Percentages at which the distribution of a run is drawn, in ascending order.
CURVE: Sequence[float] = tuple(map(float, CONSTANTS["curve_percentiles"]))

_MAX_HISTOGRAM_BYTES = 4 * 1024 * 1024

#: The accuracy of a latency (rule M2): bounds that are no further apart are one figure.
_ACCURACY: Mapping[str, float] = CONSTANTS["latency_accuracy"]


class Bounds(Struct, frozen=True):
    """What is known of a figure that requests without an answer could move (rule M23), in ms: at
    least `low`, and at most `high`; None: without an upper bound."""

    low: float
    high: float | None

    @property
    def figure(self) -> float | None:
        """The figure, where the bounds are one by the accuracy of a latency; else None."""
        if self.high is None or self.high - self.low > max(
            _ACCURACY["ms"], _ACCURACY["share"] * self.high
        ):
            return None
        return self.high


def decode_histogram(encoded: Mapping[str, Any]) -> HdrHistogram:
    """Reads `{unit: "us", encoding, count, data}` of a result; `data` is HDR's V2 format, deflated,
    base64.

    Raises ValueError if the data is damaged, or holds another number of values than `count`."""
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
    except (
        Exception
    ) as error:  # The decoder raises bare exceptions of its own for each kind of damage.
        raise ValueError(f"is not an HDR histogram ({type(error).__name__})") from error
    if histogram.get_total_count() != encoded["count"]:
        raise ValueError(
            f"holds {histogram.get_total_count()} values, but count says {encoded['count']}"
        )
    return histogram


def merge_histograms(histograms: Sequence[HdrHistogram]) -> HdrHistogram | None:
    """One histogram with the values of all: the only way to percentiles of several workers
    (M18)."""
    if not histograms:
        return None
    largest = max(histograms, key=lambda histogram: histogram.counts_len)
    trackable = largest.lowest_trackable_value, largest.highest_trackable_value
    merged = HdrHistogram(*trackable, largest.significant_figures)
    for histogram in histograms:
        merged.add(histogram)
    return merged


class Counts(Struct, frozen=True):
    """The values of a histogram, small enough to be kept of many runs, and all that merging
    takes."""

    lowest: int
    highest: int
    significant_figures: int
    indices: Sequence[int]
    """Of the buckets that hold values."""
    numbers: Sequence[int]
    """How many values each of these buckets holds."""

    @property
    def histogram(self) -> HdrHistogram:
        histogram = HdrHistogram(self.lowest, self.highest, self.significant_figures)
        if self.indices:
            np.ctypeslib.as_array(histogram.counts)[np.array(self.indices)] = np.array(self.numbers)
            histogram.set_internal_tacking_values(
                self.indices[0], self.indices[-1], sum(self.numbers)
            )
        return histogram


def counts_of(histogram: HdrHistogram) -> Counts:
    counts = np.ctypeslib.as_array(histogram.counts)[: histogram.counts_len]
    (indices,) = np.nonzero(counts)
    return Counts(
        lowest=histogram.lowest_trackable_value,
        highest=histogram.highest_trackable_value,
        significant_figures=histogram.significant_figures,
        indices=array("I", indices.tolist()),
        numbers=array("I", counts[indices].tolist()),
    )


class Mergeable(Struct, frozen=True):
    """The latencies of a run, kept so that they can be merged with those of other runs (rule
    M18)."""

    answered: Counts
    unanswered: Counts | None


#: Runs with more samples than this are not kept, because each of them has enough for every
#: percentile, and so have others of its configuration: their numbers of requests rarely differ by
#: more than twice.
MAX_MERGEABLE_SAMPLES = 2 * max(MIN_SAMPLES.values())


def mergeable(answered: HdrHistogram | None, unanswered: HdrHistogram | None) -> Mergeable | None:
    """None without answers, and where there are too many samples to need merging."""
    if answered is None or not 0 < answered.get_total_count() <= MAX_MERGEABLE_SAMPLES:
        return None
    has_unanswered = unanswered is not None and unanswered.get_total_count() > 0
    return Mergeable(counts_of(answered), counts_of(unanswered) if has_unanswered else None)


def merged_percentiles(runs: Sequence[Mergeable], names: Iterable[str]) -> dict[str, Bounds]:
    """Of the named percentiles those that all of these runs together have enough samples for."""
    answered = merge_histograms([run.answered.histogram for run in runs])
    if answered is None:
        return {}
    unanswered = merge_histograms([run.unanswered.histogram for run in runs if run.unanswered])
    few = unsupported_percentiles(answered.get_total_count())
    bounds = percentile_bounds(answered, unanswered)
    return {name: bounds[name] for name in names if name in bounds and name not in few}


def percentile_bounds(
    answered: HdrHistogram, unanswered: HdrHistogram | None = None
) -> dict[str, Bounds]:
    """What is known of each percentile of histograms in µs, by the names of `PERCENTILES`; empty
    without answers.

    By nearest rank over all requests: the highest value that HDR holds equivalent to the one at
    rank ⌈p·n⌉, as HdrHistogram's Java and JavaScript libraries have it (G. Tene,
    `getValueAtPercentile`). The Python library rounds the rank to the nearest whole number instead,
    which can be one rank too low. A request without an answer took at least its age, and perhaps
    for ever: the lower bound counts it at its age, the upper one beyond all answers (rule M23)."""
    if answered.get_total_count() == 0:
        return {}
    return dict(
        zip(PERCENTILES, bounds_at(answered, unanswered, list(PERCENTILES.values())), strict=True)
    )


def bounds_at(
    answered: HdrHistogram, unanswered: HdrHistogram | None, wanted: Sequence[float]
) -> list[Bounds]:
    """What is known at each of these percentages, see `percentile_bounds`; less than all where
    nothing is."""
    censored = unanswered.get_total_count() if unanswered else 0
    total = answered.get_total_count() + censored
    exact = np.array(wanted) / 100 * total
    ranks = np.maximum(1, np.ceil(exact - np.spacing(exact))).astype(int).tolist()
    high = _values_at(answered, ranks)
    if unanswered is None or not censored:
        return [Bounds(value, value) for value in high if value is not None]
    low = _values_at(merge_histograms([answered, unanswered]), ranks)
    both = zip(low, high, strict=True)
    return [Bounds(at_least, at_most) for at_least, at_most in both if at_least is not None]


def _values_at(histogram: HdrHistogram | None, ranks: Sequence[int]) -> list[float | None]:
    """Values in ms at the ranks; None beyond the last."""
    if histogram is None:
        return [None] * len(ranks)
    reached = np.cumsum(np.ctypeslib.as_array(histogram.counts)[: histogram.counts_len])
    indices = np.searchsorted(reached, ranks).tolist()
    return [
        histogram.get_highest_equivalent_value(histogram.get_value_from_index(index)) / 1000
        if rank <= reached[-1]
        else None
        for rank, index in zip(ranks, indices, strict=True)
    ]


def unsupported_percentiles(samples: int) -> tuple[str, ...]:
    """Names of the percentiles that `samples` values are too few for (rule M18)."""
    return tuple(name for name, needed in MIN_SAMPLES.items() if samples < needed)
