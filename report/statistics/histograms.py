"""Histograms of latencies: reading, merging, and the percentiles of what was merged (rule M18).

The percentiles of one run stand in its result."""

import binascii
import struct
import zlib
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

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


Integers = NDArray[np.int64]


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


class Histogram(Struct, frozen=True, eq=False):
    """A histogram of latencies in µs, by the buckets that hold values: a run fills a few hundred of
    some 20,000, so that it is small enough to be kept of many runs."""

    lowest: int
    """The lowest value that it tells from 0."""
    highest: int
    """The highest value that it has a bucket for."""
    significant_figures: int
    indices: Integers
    """Of the buckets that hold values, in ascending order."""
    numbers: Integers
    """How many values each of these buckets holds."""

    @property
    def total(self) -> int:
        return int(self.numbers.sum())

    @property
    def unit_magnitude(self) -> int:
        """The binary logarithm of what the smallest bucket is wide."""
        return self.lowest.bit_length() - 1

    @property
    def half_magnitude(self) -> int:
        """The binary logarithm of how many buckets have the same width, from the second width
        on."""
        finest: int = 2 * 10**self.significant_figures
        return (finest - 1).bit_length() - 1

    @property
    def bucket_count(self) -> int:
        half = self.half_magnitude
        widths = max(1, self.highest.bit_length() - self.unit_magnitude - half)
        return (widths + 1) << half

    def highest_values_at(self, indices: Sequence[int]) -> list[int]:
        """The highest value that belongs into each of these buckets (`highestEquivalentValue` of
        other libraries)."""
        half = self.half_magnitude
        unit = self.unit_magnitude
        widths = [max(0, (index >> half) - 1) for index in indices]
        return [
            ((index - (width << half) + 1) << (width + unit)) - 1
            for index, width in zip(indices, widths, strict=True)
        ]

    def index_of(self, value: int) -> int:
        half = self.half_magnitude
        unit = self.unit_magnitude
        width = max(0, value.bit_length() - unit - half - 1)
        return (width << half) + (value >> (width + unit))


_NO_HISTOGRAM = "is not an HDR histogram"


def decode_histogram(data: str, count: int) -> Histogram:
    """Reads a histogram of a result: HDR's V2 format, deflated, base64.

    G. Tene's format: a header of 8 bytes, and deflated a header of 40 bytes and the numbers of the
    buckets.

    Raises ValueError if the data is damaged, or holds another number of values than `count`."""
    try:
        packed = b64decode(data, validate=True)
        inflater = zlib.decompressobj()
        plain = inflater.decompress(packed[_OUTER_HEADER.size :], _MAX_HISTOGRAM_BYTES)
    except (binascii.Error, zlib.error, ValueError) as error:
        raise ValueError("is damaged") from error
    if inflater.unconsumed_tail:
        raise ValueError("is too large for a histogram")

    if len(packed) < _OUTER_HEADER.size or len(plain) < _HEADER.size or not inflater.eof:
        raise ValueError(_NO_HISTOGRAM)
    outer_cookie, length = _OUTER_HEADER.unpack_from(packed)
    cookie, _, _, figures, lowest, highest, _ = _HEADER.unpack_from(plain)
    cookies = (outer_cookie & _COOKIE_MASK, cookie & _COOKIE_MASK)
    if cookies != _COOKIES or length != len(packed) - _OUTER_HEADER.size:
        raise ValueError(_NO_HISTOGRAM)
    if not (1 <= figures <= _MAX_FIGURES and 1 <= lowest <= highest):
        raise ValueError(_NO_HISTOGRAM)

    numbers = _decode_numbers(plain[_HEADER.size :])
    # A negative number stands for so many empty buckets.
    steps = np.where(numbers < 0, -numbers, 1)
    filled = np.flatnonzero(numbers > 0)
    indices = np.cumsum(steps)[filled] - 1
    histogram = Histogram(lowest, highest, figures, indices, numbers[filled])
    if len(steps) and max(steps.max(), steps.sum()) > histogram.bucket_count:
        raise ValueError(_NO_HISTOGRAM)
    if histogram.total != count:
        raise ValueError(f"holds {histogram.total} values, but count says {count}")
    return histogram


#: A cookie and the length of the rest.
_OUTER_HEADER = struct.Struct(">II")
#: A cookie, the length of the rest, an offset, significant figures, the lowest and the highest
#: value, and a ratio.
_HEADER = struct.Struct(">IIIIQQd")
#: Of the two headers, without the bits that say how long a number is.
_COOKIES = (0x1C849304, 0x1C849303)
_COOKIE_MASK = 0xFFFFFF0F
_MAX_FIGURES = 5

#: A longer number would be of more values than any run has.
_MAX_NUMBER_BYTES = 8


def _decode_numbers(encoded: bytes) -> Integers:
    """Signed numbers, the least significant seven bits first; the lowest bit is the sign
    (ZigZag LEB128)."""
    pieces = np.frombuffer(encoded, dtype=np.uint8)
    ends = np.flatnonzero(pieces < 0x80)
    if not len(pieces):
        return np.zeros(0, dtype=np.int64)
    if not len(ends) or ends[-1] != len(pieces) - 1:
        raise ValueError(_NO_HISTOGRAM)
    starts = np.concatenate(([0], ends[:-1] + 1))
    longest = int((ends - starts).max()) + 1
    if longest > _MAX_NUMBER_BYTES:
        raise ValueError(_NO_HISTOGRAM)

    unsigned = (pieces[starts] & 0x7F).astype(np.int64)
    for place in range(1, longest):
        longer = np.flatnonzero(starts + place <= ends)
        unsigned[longer] |= (pieces[starts[longer] + place] & 0x7F).astype(np.int64) << 7 * place
    signed: Integers = (unsigned >> 1) ^ -(unsigned & 1)
    return signed


def merge_histograms(histograms: Sequence[Histogram]) -> Histogram | None:
    """One histogram with the values of all: the only way to percentiles of several workers
    (M18)."""
    if not histograms:
        return None
    largest = max(histograms, key=lambda histogram: histogram.bucket_count)
    filled = [
        _with_buckets_of(histogram, largest) for histogram in histograms if len(histogram.indices)
    ]
    if len(filled) < 2:
        return filled[0] if filled else largest

    size = 1 + max(int(histogram.indices[-1]) for histogram in filled)
    every = np.zeros(size, dtype=np.int64)
    for histogram in filled:
        every[histogram.indices] += histogram.numbers
    indices = np.flatnonzero(every)
    return structs.replace(largest, indices=indices, numbers=every[indices])


def _with_buckets_of(histogram: Histogram, other: Histogram) -> Histogram:
    """Its values in the buckets of another one."""
    layouts = {(each.unit_magnitude, each.half_magnitude) for each in (histogram, other)}
    if len(layouts) == 1:
        return histogram
    numbers: dict[int, int] = {}
    values = histogram.highest_values_at(histogram.indices.tolist())
    for value, number in zip(values, histogram.numbers.tolist(), strict=True):
        there = other.index_of(value)
        numbers[there] = numbers.get(there, 0) + number
    indices = sorted(numbers)
    return structs.replace(
        other,
        indices=np.array(indices, dtype=np.int64),
        numbers=np.array([numbers[index] for index in indices], dtype=np.int64),
    )


class Mergeable(Struct, frozen=True):
    """The latencies of a run, kept so that they can be merged with those of other runs (rule
    M18)."""

    answered: Histogram
    unanswered: Histogram | None


#: Runs with more samples than this are not kept, because each of them has enough for every
#: percentile, and so have others of its configuration: their numbers of requests rarely differ by
#: more than twice.
MAX_MERGEABLE_SAMPLES = 2 * max(MIN_SAMPLES.values())


def mergeable(answered: Histogram | None, unanswered: Histogram | None) -> Mergeable | None:
    """None without answers, and where there are too many samples to need merging."""
    if answered is None or not 0 < answered.total <= MAX_MERGEABLE_SAMPLES:
        return None
    return Mergeable(
        _compact(answered), _compact(unanswered) if unanswered and unanswered.total else None
    )


def _compact(histogram: Histogram) -> Histogram:
    """So few samples leave half of each number empty."""
    return structs.replace(
        histogram,
        indices=histogram.indices.astype(np.uint32),
        numbers=histogram.numbers.astype(np.uint32),
    )


def merged_percentiles(runs: Sequence[Mergeable], names: Iterable[str]) -> dict[str, Bounds]:
    """Of the named percentiles those that all of these runs together have enough samples for."""
    answered = merge_histograms([run.answered for run in runs])
    if answered is None:
        return {}
    unanswered = merge_histograms([run.unanswered for run in runs if run.unanswered])
    few = unsupported_percentiles(answered.total)
    bounds = percentile_bounds(answered, unanswered)
    return {name: bounds[name] for name in names if name in bounds and name not in few}


def percentile_bounds(
    answered: Histogram, unanswered: Histogram | None = None
) -> dict[str, Bounds]:
    """What is known of each percentile of histograms in µs, by the names of `PERCENTILES`; empty
    without answers.

    By nearest rank over all requests: the highest value that HDR holds equivalent to the one at
    rank ⌈p·n⌉, as HdrHistogram's Java and JavaScript libraries have it (G. Tene,
    `getValueAtPercentile`). The Python library rounds the rank to the nearest whole number instead,
    which can be one rank too low. A request without an answer took at least its age, and perhaps
    for ever: the lower bound counts it at its age, the upper one beyond all answers (rule M23)."""
    if answered.total == 0:
        return {}
    return dict(
        zip(PERCENTILES, bounds_at(answered, unanswered, list(PERCENTILES.values())), strict=True)
    )


def bounds_at(
    answered: Histogram, unanswered: Histogram | None, wanted: Sequence[float]
) -> list[Bounds]:
    """What is known at each of these percentages, see `percentile_bounds`; less than all where
    nothing is."""
    censored = unanswered.total if unanswered else 0
    total = answered.total + censored
    exact = np.array(wanted) / 100 * total
    ranks = np.maximum(1, np.ceil(exact - np.spacing(exact))).astype(int).tolist()
    high = _values_at(answered, ranks)
    if unanswered is None or not censored:
        return [Bounds(value, value) for value in high if value is not None]
    low = _values_at(merge_histograms([answered, unanswered]), ranks)
    both = zip(low, high, strict=True)
    return [Bounds(at_least, at_most) for at_least, at_most in both if at_least is not None]


def _values_at(histogram: Histogram | None, ranks: Sequence[int]) -> list[float | None]:
    """Values in ms at the ranks, which ascend; None beyond the last."""
    if histogram is None:
        return [None] * len(ranks)
    places = np.searchsorted(np.cumsum(histogram.numbers), ranks)
    indices = histogram.indices[places[places < len(histogram.indices)]].tolist()
    values = [value / 1000 for value in histogram.highest_values_at(indices)]
    return [*values, *[None] * (len(ranks) - len(values))]


def unsupported_percentiles(samples: int) -> tuple[str, ...]:
    """Names of the percentiles that `samples` values are too few for (rule M18)."""
    return tuple(name for name, needed in MIN_SAMPLES.items() if samples < needed)
