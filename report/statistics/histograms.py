"""Histograms of latencies: reading, merging, their percentiles (rule M18) and the curve that charts draw."""

import binascii
import json
import math
import zlib
from base64 import b64decode
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from hdrh.histogram import HdrHistogram

from report.base.paths import CONTRACT_GENERATED

#: Samples that must stand behind a percentile before it is printed unmarked (rule M18), by its name.
MIN_SAMPLES: Mapping[str, int] = json.loads((CONTRACT_GENERATED / "min-samples.json").read_text("utf-8"))

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


#: In percent, ascending; closer together where the tail is.
CURVE = (
    *(10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 75.0, 80.0, 85.0, 90.0, 92.5, 95.0, 96.5),
    *(97.5, 98.0, 98.5, 99.0, 99.25, 99.5, 99.7, 99.8, 99.85, 99.9),
)


def curve_ms(histogram: HdrHistogram | None) -> tuple[float, ...]:
    """Latencies in ms at the percentiles of `CURVE`, of a histogram in µs.

    By nearest rank, as `percentiles_ms` has them, so that both agree on a percentile that both name.

    Returns:
        Nothing without values.
    """
    if histogram is None or histogram.get_total_count() == 0:
        return ()
    counts = np.ctypeslib.as_array(histogram.counts)
    reached = np.cumsum(counts[: histogram.counts_len])
    exact = np.array(CURVE) / 100 * int(reached[-1])
    ranks = np.maximum(1, np.ceil(exact - np.spacing(exact)))
    indices = np.searchsorted(reached, ranks)
    return tuple(
        histogram.get_highest_equivalent_value(histogram.get_value_from_index(int(index))) / 1000
        for index in indices
    )
