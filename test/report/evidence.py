"""The measured parts of a result: histograms, counters and readings."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from hdrh.histogram import HdrHistogram

Document = dict[str, Any]

MAX_US = 10_000_000

#: sha1 of the script of RateLimiterRedis, and of that of RateLimiterValkey.
REDIS_SHA1 = "a1de965f42e177aa339706bd580f049065eca79a"
VALKEY_SHA1 = "0aa93fe6a34317527000a66828426c0ae2104618"

_OWN_SCRIPTS = {
    "valkey-glide": ("fcall", "consume"),
    "iovalkey": ("evalsha", VALKEY_SHA1),
    "ioredis": ("evalsha", REDIS_SHA1),
    "node-redis": ("eval", REDIS_SHA1),
}


def histogram_of(counts: Mapping[int, int]) -> HdrHistogram:
    """A histogram of values in µs with their counts."""
    histogram = HdrHistogram(1, MAX_US, 3)
    for value, count in counts.items():
        histogram.record_value(value, count)
    return histogram


def encoded(counts: Mapping[int, int]) -> Document:
    histogram = histogram_of(counts)
    return {
        "unit": "us",
        "encoding": "hdr-v2-compressed-base64",
        "count": histogram.get_total_count(),
        "data": histogram.encode().decode("ascii"),
    }


def latency(*outcomes: Mapping[int, int], censored: Mapping[int, int] | None = None) -> Document:
    """Figures by nearest rank over all values, each as coarse as the histogram has it.

    Args:
        outcomes: latencies in µs of answers, with counts.
        censored: ages in µs of requests that failed or got no answer. A figure that they could move is null,
            with its bounds.
    """
    answered = _in_order(*outcomes)
    both = _in_order(*outcomes, censored or {})
    coarse = histogram_of({})

    def at(values: list[int], rank: int) -> float | None:
        if rank > len(values):
            return None
        value: int = coarse.get_highest_equivalent_value(values[rank - 1])
        return value / 1000

    def mean(values: list[int]) -> float:
        return round(statistics.fmean(values) / 1000, 3)

    bounds: Document = {}
    found: Document = {}
    for name, per_mille in _PER_MILLE.items():
        rank = -(-per_mille * len(both) // 1000)
        low, high = at(both, rank), at(answered, rank)
        assert low is not None
        same = high is not None and high - low <= max(0.05, 0.001 * high)
        found[name] = high if same else None
        if not same:
            bounds[name] = {"low": low, "high": high}
    if censored:
        bounds |= {
            "average": {"low": mean(both), "high": None},
            "max": {"low": both[-1] / 1000, "high": None},
        }
    return {
        "average": None if censored else mean(both),
        **found,
        "min": answered[0] / 1000,
        "max": None if censored else both[-1] / 1000,
        "stddev": None if censored else round(statistics.pstdev(both) / 1000, 3),
        **({"bounds": bounds} if bounds else {}),
    }


_PER_MILLE = {"p50": 500, "p75": 750, "p90": 900, "p95": 950, "p97_5": 975, "p99": 990, "p99_9": 999}


def _in_order(*outcomes: Mapping[int, int]) -> list[int]:
    return sorted(value for outcome in outcomes for value, count in outcome.items() for _ in range(count))


def slices(allowed: Sequence[int], latency_us: int = 1000) -> Document:
    """The slices of a window in which so many requests were allowed each 100 ms, and nothing else came."""
    nothing = [0] * len(allowed)
    return {
        "width_ms": 100,
        "allowed": list(allowed),
        "limited": nothing,
        "failed": nothing,
        "latency_sum_us": [count * latency_us for count in allowed],
    }


def spread_evenly(total: int, parts: int) -> list[int]:
    """So many counts that add up to `total`."""
    return [total * (part + 1) // parts - total * part // parts for part in range(parts)]


def usage(cpu_us: int, consumes: Document | None = None) -> Document:
    return {
        **({"consumes": consumes} if consumes else {}),
        "run_nonce": "n",
        "uptime_s": 5,
        "cpu_user_us": cpu_us,
        "cpu_system_us": 0,
        "heap_used_bytes": 20_000_000,
        "resident_bytes": 90_000_000,
        "event_loop_active_ms": 1,
        "event_loop_idle_ms": 1,
        "requests": 0,
        "in_flight": 0,
    }


def consumes(allowed: int, limited: int, failed: int = 0) -> Document:
    """Each of one descriptor, in a call of its own."""
    return {"calls": allowed + limited + failed, "allowed": allowed, "limited": limited, "failed": failed}


def script_of(target: Mapping[str, Any]) -> Document | None:
    """The script that a target runs; None for a control."""
    own = _OWN_SCRIPTS.get(target["client"])
    if own is None or target.get("decided_by", "library") != "library":
        return None
    kind, name = own
    if "same-script" in target["options"]:
        kind, name = ("eval" if kind == "eval" else "evalsha", REDIS_SHA1)
    return {"kind": kind, "name_or_sha1": name}


def calls_of(counts: Mapping[str, int], failed: int = 0) -> Document:
    """Script calls of a reading: each command with so many calls, those that failed among them."""
    return {command: {"calls": number, "failed": failed} for command, number in counts.items()}


def reading(script_calls: Mapping[str, Any] | None = None) -> Document:
    return {
        "run_id": "r",
        "version": "9.1.2",
        "uptime_s": 5,
        "keys": 0,
        "evicted_keys": 0,
        "expired_keys": 0,
        "used_memory_bytes": 3 * 1024**2,
        "script_calls": dict(script_calls or {}),
        "cpu_user_us": 1,
        "cpu_system_us": 1,
    }


def role(kind: str, source: str, cpu_us: int, answered: int, window_s: float) -> Document:
    return {
        "kind": kind,
        "source": source,
        "cpu_us": cpu_us,
        "cpu_percent": cpu_us / window_s / 10_000,
        "cpu_us_per_request": cpu_us / answered,
        "resident_bytes_mean": 90_000_000,
        "resident_bytes_max": 95_000_000,
        "samples": [],
    }
