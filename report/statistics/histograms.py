"""Reads and merges histograms of latencies, and computes percentiles of merged ones (rule M18).

The percentiles of a single run are in its result."""

import binascii
import struct
import zlib
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from report.base.contract import CONSTANTS

#: The number of samples below which a percentile is printed with a mark (rule M18), by its name.
MIN_SAMPLES: Mapping[str, int] = CONSTANTS["min_samples"]

#: The percentages of the percentiles by name, in ascending order.
PERCENTILES: Mapping[str, float] = {
    name: float(percent) for name, percent in CONSTANTS["percentiles"].items()
}

#: The percentages at which the distribution of a run is drawn, in ascending order.
CURVE: Sequence[float] = tuple(map(float, CONSTANTS["curve_percentiles"]))

_MAX_HISTOGRAM_BYTES = 4 * 1024 * 1024

#: The accuracy of a latency (rule M2). Bounds that are no further apart are one figure.
_ACCURACY: Mapping[str, float] = CONSTANTS["latency_accuracy"]


Integers = NDArray[np.int64]


class Bounds(Struct, frozen=True):
    """The bounds in ms of a figure that requests without an answer could move (rule M23). `high` is
    None without an upper bound."""

    low: float
    high: float | None

    @property
    def figure(self) -> float | None:
        """The figure, if the bounds are equal by the accuracy of a latency, else None."""
        if self.high is None:
            return None
        accuracy_ms = max(_ACCURACY["ms"], _ACCURACY["share"] * self.high)
        return self.high if self.high - self.low <= accuracy_ms else None


class Histogram(Struct, frozen=True, eq=False):
    """A histogram of latencies in µs, which stores only the buckets that hold values.

    A run fills a few hundred of some 20,000 buckets, so that histograms of many runs fit into
    memory."""

    lowest: int
    """The lowest value that it distinguishes from 0."""
    highest: int
    """The highest value that has a bucket."""
    significant_figures: int
    indices: Integers
    """The indices of the buckets that hold values, in ascending order."""
    numbers: Integers
    """The number of values in each of these buckets."""

    @property
    def total(self) -> int:
        return int(self.numbers.sum())

    @property
    def unit_magnitude(self) -> int:
        """The binary logarithm of the width of the smallest buckets."""
        return self.lowest.bit_length() - 1

    @property
    def half_magnitude(self) -> int:
        """The binary logarithm of the number of buckets of one width, from the second width on."""
        finest: int = 2 * 10**self.significant_figures
        return (finest - 1).bit_length() - 1

    @property
    def bucket_count(self) -> int:
        half = self.half_magnitude
        widths = max(1, self.highest.bit_length() - self.unit_magnitude - half)
        return (widths + 1) << half

    def highest_values_at(self, indices: Sequence[int]) -> list[int]:
        """The highest value that belongs into each of these buckets, which other libraries call
        `highestEquivalentValue`."""
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
    """Reads a histogram of a result, which is in the compressed V2 format of HDR (G. Tene), as
    base64.

    It consists of a header of 8 bytes and deflated data, which are a header of 40 bytes and the
    numbers of the buckets.

    Raises ValueError if the data is damaged, or holds another number of values than `count`."""
    return _decoded_empty(data) if count == 0 else _decoded(data, count)


@lru_cache(maxsize=16)
def _decoded_empty(data: str) -> Histogram:
    """A histogram without values. Half of those of a campaign are, and have one text."""
    return _decoded(data, 0)


def _decoded(data: str, count: int) -> Histogram:
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

    encoded_numbers = plain[_HEADER.size :]
    if count == 0 and encoded_numbers in _NOTHING_COUNTED:
        return Histogram(lowest, highest, figures, _NO_NUMBERS, _NO_NUMBERS)

    numbers = _decode_numbers(encoded_numbers)
    # A negative number stands for that many empty buckets.
    steps = np.maximum(-numbers, 1)
    ends = steps.cumsum()
    (filled,) = (numbers > 0).nonzero()
    histogram = Histogram(lowest, highest, figures, ends[filled] - 1, numbers[filled])
    if len(steps) and max(steps.max(), ends[-1]) > histogram.bucket_count:
        raise ValueError(_NO_HISTOGRAM)
    if histogram.total != count:
        raise ValueError(f"holds {histogram.total} values, but count says {count}")
    return histogram


#: A cookie and the length of what follows.
_OUTER_HEADER = struct.Struct(">II")
#: A cookie, the length of what follows, an offset, significant figures, the lowest and the highest
#: value, and a ratio.
_HEADER = struct.Struct(">IIIIQQd")
#: The cookies of the two headers, without the bits that say how long a number is.
_COOKIES = (0x1C849304, 0x1C849303)
_COOKIE_MASK = 0xFFFFFF0F
_MAX_FIGURES = 5

#: A longer number would count more values than any run has.
_MAX_NUMBER_BYTES = 8

_NO_NUMBERS: Integers = np.zeros(0, dtype=np.int64)
#: The encoded numbers of histograms without values, which libraries write with no bucket or one.
_NOTHING_COUNTED = (b"", b"\0")


def _decode_numbers(encoded: bytes) -> Integers:
    """Decodes signed numbers in ZigZag LEB128, which has the least significant seven bits first,
    and the sign in the lowest bit."""
    pieces = np.frombuffer(encoded, dtype=np.uint8)
    (ends,) = (pieces < 0x80).nonzero()
    if not len(pieces):
        return _NO_NUMBERS
    if not len(ends) or ends[-1] != len(pieces) - 1:
        raise ValueError(_NO_HISTOGRAM)
    starts = np.concatenate(([0], ends[:-1] + 1))
    longest = int((ends - starts).max()) + 1
    if longest > _MAX_NUMBER_BYTES:
        raise ValueError(_NO_HISTOGRAM)

    unsigned = (pieces[starts] & 0x7F).astype(np.int64)
    for place in range(1, longest):
        (longer,) = (starts + place <= ends).nonzero()
        unsigned[longer] |= (pieces[starts[longer] + place] & 0x7F).astype(np.int64) << 7 * place
    signed: Integers = (unsigned >> 1) ^ -(unsigned & 1)
    return signed


def merge_histograms(histograms: Sequence[Histogram]) -> Histogram | None:
    """One histogram with the values of all, which is the only way to percentiles of several workers
    (rule M18)."""
    if not histograms:
        return None
    largest = max(histograms, key=lambda histogram: histogram.bucket_count)
    filled = [
        _with_buckets_of(histogram, largest) for histogram in histograms if len(histogram.indices)
    ]
    if len(filled) < 2:
        return filled[0] if filled else largest

    size = 1 + max(int(histogram.indices[-1]) for histogram in filled)
    numbers = np.zeros(size, dtype=np.int64)
    for histogram in filled:
        numbers[histogram.indices] += histogram.numbers
    indices = np.flatnonzero(numbers)
    return structs.replace(largest, indices=indices, numbers=numbers[indices])


def _with_buckets_of(histogram: Histogram, other: Histogram) -> Histogram:
    """The values of a histogram in the buckets of the other one."""
    has_same_width = histogram.unit_magnitude == other.unit_magnitude
    if has_same_width and histogram.half_magnitude == other.half_magnitude:
        return histogram

    numbers: dict[int, int] = {}
    values = histogram.highest_values_at(histogram.indices.tolist())
    for value, number in zip(values, histogram.numbers.tolist(), strict=True):
        index = other.index_of(value)
        numbers[index] = numbers.get(index, 0) + number
    indices = sorted(numbers)
    return structs.replace(
        other,
        indices=np.array(indices, dtype=np.int64),
        numbers=np.array([numbers[index] for index in indices], dtype=np.int64),
    )


class Mergeable(Struct, frozen=True):
    """The latencies of a run, which can be merged with those of other runs (rule M18)."""

    answered: Histogram
    unanswered: Histogram | None


#: Histograms of runs with more samples are not kept, because such a run has enough of them for
#: every percentile. So have other runs of its configuration, whose numbers of requests rarely
#: differ by more than a factor of two.
MAX_MERGEABLE_SAMPLES = 2 * max(MIN_SAMPLES.values())


def mergeable(answered: Histogram | None, unanswered: Histogram | None) -> Mergeable | None:
    """The latencies to keep of a run. None without answers, and if it has enough samples by
    itself."""
    if answered is None or not 0 < answered.total <= MAX_MERGEABLE_SAMPLES:
        return None
    return Mergeable(
        _compact(answered), _compact(unanswered) if unanswered and unanswered.total else None
    )


def _compact(histogram: Histogram) -> Histogram:
    """The same histogram with numbers of half the size, which are enough for so few samples."""
    return structs.replace(
        histogram,
        indices=histogram.indices.astype(np.uint32),
        numbers=histogram.numbers.astype(np.uint32),
    )


def merged_percentiles(runs: Sequence[Mergeable], names: Iterable[str]) -> dict[str, Bounds]:
    """Those of the named percentiles for which all runs together have enough samples."""
    answered = merge_histograms([run.answered for run in runs])
    if answered is None:
        return {}

    unanswered = merge_histograms([run.unanswered for run in runs if run.unanswered])
    unsupported = unsupported_percentiles(answered.total)
    bounds = percentile_bounds(answered, unanswered)
    return {name: bounds[name] for name in names if name in bounds and name not in unsupported}


def percentile_bounds(
    answered: Histogram, unanswered: Histogram | None = None
) -> dict[str, Bounds]:
    """The bounds in ms of each percentile of histograms in µs, by the names of `PERCENTILES`. Empty
    without answers.

    A percentile is the nearest rank over all requests. It is the highest value that HDR holds
    equivalent to the one at rank ⌈p·n⌉, as in the Java and JavaScript libraries of HdrHistogram (G.
    Tene, `getValueAtPercentile`). The Python library rounds the rank to the nearest whole number
    instead, which can be one rank too low.

    A request without an answer took at least its age, and may never end. The lower bound counts it
    at its age, and the upper one beyond all answers (rule M23)."""
    if answered.total == 0:
        return {}
    return dict(
        zip(PERCENTILES, bounds_at(answered, unanswered, list(PERCENTILES.values())), strict=True)
    )


def bounds_at(
    answered: Histogram, unanswered: Histogram | None, percentages: Sequence[float]
) -> list[Bounds]:
    """The bounds at each of these percentages, see `percentile_bounds`. The list ends before the
    first one at which nothing is known."""
    censored = unanswered.total if unanswered else 0
    total = answered.total + censored
    exact = np.array(percentages) / 100 * total
    ranks = np.maximum(1, np.ceil(exact - np.spacing(exact))).astype(int).tolist()
    high_values = _values_at(answered, ranks)
    if unanswered is None or not censored:
        return [Bounds(value, value) for value in high_values if value is not None]

    low_values = _values_at(merge_histograms([answered, unanswered]), ranks)
    return [
        Bounds(low, high)
        for low, high in zip(low_values, high_values, strict=True)
        if low is not None
    ]


def _values_at(histogram: Histogram | None, ranks: Sequence[int]) -> list[float | None]:
    """The values in ms at the ranks, which must ascend. None beyond the last value."""
    if histogram is None:
        return [None] * len(ranks)
    places = np.searchsorted(np.cumsum(histogram.numbers), ranks)
    indices = histogram.indices[places[places < len(histogram.indices)]].tolist()
    values = [value / 1000 for value in histogram.highest_values_at(indices)]
    return [*values, *[None] * (len(ranks) - len(values))]


def unsupported_percentiles(samples: int) -> tuple[str, ...]:
    """The names of the percentiles for which this number of samples is too small (rule M18)."""
    return tuple(name for name, needed in MIN_SAMPLES.items() if samples < needed)
