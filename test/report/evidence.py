"""Makes the measured parts of a result, which are histograms, counters and readings."""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Any

from hdrh.histogram import HdrHistogram

from fixtures import Document, fixture
from report.results.older_documents import curve_ms
from report.statistics.histograms import Histogram, decode_histogram

MAX_US = 60_000_000

#: The sha1s of the scripts of RateLimiterRedis and RateLimiterValkey.
REDIS_SHA1 = "a1de965f42e177aa339706bd580f049065eca79a"
VALKEY_SHA1 = "0aa93fe6a34317527000a66828426c0ae2104618"

_DEFAULT_SCRIPTS = {
    "valkey-glide": ("fcall", "consume"),
    "iovalkey": ("evalsha", VALKEY_SHA1),
    "ioredis": ("evalsha", REDIS_SHA1),
    "node-redis": ("eval", REDIS_SHA1),
}


def histogram_of(counts: Mapping[int, int]) -> Histogram:
    """A histogram of values in µs with their counts."""
    document = encoded(counts)
    return decode_histogram(document["data"], document["count"])


def encoded(counts: Mapping[int, int]) -> Document:
    return {
        "unit": "us",
        "encoding": "hdr-v2-compressed-base64",
        "count": sum(counts.values()),
        "data": _data(tuple(counts.items())),
    }


@cache
def _data(counts: Iterable[tuple[int, int]]) -> str:
    histogram = HdrHistogram(1, MAX_US, 3)
    for value, count in counts:
        histogram.record_value(value, count)
    data: bytes = histogram.encode()
    return data.decode("ascii")


def curve(*outcomes: Mapping[int, int], censored: Mapping[int, int] | None = None) -> list[float]:
    """The curve of the latencies of a run. See `latency` for the arguments."""
    answered: Counter[int] = Counter()
    for counts in outcomes:
        answered.update(counts)
    return curve_ms(histogram_of(answered), histogram_of(censored or {}))


def latency(*outcomes: Mapping[int, int], censored: Mapping[int, int] | None = None) -> Document:
    """Figures by nearest rank over all values, with the accuracy of the histogram.

    Args:
        outcomes: latencies in µs of answers, with counts.
        censored: ages in µs of requests that failed or got no answer. A figure that they could
            move is null, with its bounds.
    """
    answered = _Values(*outcomes)
    all_values = _Values(*outcomes, censored or {})
    bounds: Document = {}
    figures: Document = {}
    for name, per_mille in _PER_MILLE.items():
        rank = -(-per_mille * all_values.count // 1000)
        low = all_values.at(rank)
        high = answered.at(rank)
        assert low is not None
        same = high is not None and high - low <= max(0.05, 0.001 * high)
        figures[name] = high if same else None
        if not same:
            bounds[name] = {"low": low, "high": high}
    if censored:
        bounds |= {
            "average": {"low": all_values.mean, "high": None},
            "max": {"low": all_values.most, "high": None},
        }
    return {
        "average": None if censored else all_values.mean,
        **figures,
        "min": answered.least,
        "max": None if censored else all_values.most,
        "stddev": None if censored else all_values.deviation,
        **({"bounds": bounds} if bounds else {}),
    }


_PER_MILLE = {
    "p50": 500,
    "p75": 750,
    "p90": 900,
    "p95": 950,
    "p97_5": 975,
    "p99": 990,
    "p99_9": 999,
}


_COARSE = HdrHistogram(1, MAX_US, 3)


class _Values:
    """Computes figures in ms of values in µs with their counts. Those by rank have the accuracy of
    the histogram."""

    def __init__(self, *outcomes: Mapping[int, int]) -> None:
        together = sum((Counter(counts) for counts in outcomes), Counter[int]())
        self._values = sorted(together)
        self._upto = list(accumulate(together[value] for value in self._values))
        self.count = self._upto[-1]
        self.least = self._values[0] / 1000
        self.most = self._values[-1] / 1000
        total, squares = (
            sum(value**power * number for value, number in together.items()) for power in (1, 2)
        )
        self.mean = round(total / self.count / 1000, 3)
        self.deviation = round(math.sqrt(squares * self.count - total**2) / self.count / 1000, 3)

    def at(self, rank: int) -> float | None:
        if rank > self.count:
            return None
        value: int = _COARSE.get_highest_equivalent_value(
            self._values[bisect_left(self._upto, rank)]
        )
        return value / 1000


def slices(allowed: Sequence[int], latency_us: int = 1000) -> Document:
    """The slices of a window in which these numbers of requests were allowed in each 100 ms, and no
    other requests ended."""
    nothing = [0] * len(allowed)
    return {
        "width_ms": 100,
        "allowed": list(allowed),
        "limited": nothing,
        "failed": nothing,
        "latency_sum_us": [count * latency_us for count in allowed],
    }


def spread_evenly(total: int, parts: int) -> list[int]:
    """Counts for all parts that add up to `total`."""
    return [total * (part + 1) // parts - total * part // parts for part in range(parts)]


_MEASURED = fixture("measured")
_USAGE = _MEASURED["consumers"][0]["at_start"]
_READING = _MEASURED["store"]["nodes"][0]["at_start"]
_ROLE = _MEASURED["resources"]["server-1"]


def usage(cpu_us: int, consumes: Document | None = None) -> Document:
    return {**({"consumes": consumes} if consumes else {}), **_USAGE, "cpu_user_us": cpu_us}


def consumes(allowed: int, limited: int, failed: int = 0) -> Document:
    """Counts of consumes of one descriptor, each in a separate call."""
    return {
        "calls": allowed + limited + failed,
        "allowed": allowed,
        "limited": limited,
        "failed": failed,
    }


def script_of(target: Mapping[str, Any]) -> Document | None:
    """The script that a target runs. None for a control."""
    default_script = _DEFAULT_SCRIPTS.get(target["client"])
    if default_script is None or target.get("decided_by", "library") != "library":
        return None
    kind, name = default_script
    if "same-script" in target["options"]:
        kind = "eval" if kind == "eval" else "evalsha"
        name = REDIS_SHA1
    return {"kind": kind, "name_or_sha1": name}


def calls_of(counts: Mapping[str, int], failed: int = 0) -> Document:
    """The script calls of a reading. Each command has this number of calls, including those that
    failed."""
    return {command: {"calls": number, "failed": failed} for command, number in counts.items()}


def reading(script_calls: Mapping[str, Any] | None = None) -> Document:
    return {**_READING, "script_calls": dict(script_calls or {})}


def role(kind: str, source: str, cpu_us: int, answered: int, window_s: float) -> Document:
    return {
        **_ROLE,
        "kind": kind,
        "source": source,
        "cpu_us": cpu_us,
        "cpu_percent": cpu_us / window_s / 10_000,
        "cpu_us_per_request": cpu_us / answered,
        "samples": [],
    }
