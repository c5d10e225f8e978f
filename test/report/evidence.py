"""The measured parts of a result: histograms, counters and readings."""

import statistics
from collections.abc import Mapping
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


def latency(*outcomes: Mapping[int, int]) -> Document:
    """Figures by nearest rank over all values, each as coarse as the histogram has it."""
    values = sorted(value for outcome in outcomes for value, count in outcome.items() for _ in range(count))
    coarse = histogram_of({})

    def at(per_mille: int) -> float:
        rank = -(-per_mille * len(values) // 1000)
        value: int = coarse.get_highest_equivalent_value(values[rank - 1])
        return value / 1000

    return {
        "average": round(statistics.fmean(values) / 1000, 3),
        "p50": at(500),
        "p75": at(750),
        "p90": at(900),
        "p95": at(950),
        "p97_5": at(975),
        "p99": at(990),
        "p99_9": at(999),
        "min": values[0] / 1000,
        "max": values[-1] / 1000,
        "stddev": round(statistics.pstdev(values) / 1000, 3),
    }


def usage(cpu_us: int) -> Document:
    return {
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


def script_of(target: Mapping[str, Any]) -> Document | None:
    """The script that a target runs; None for a control."""
    own = _OWN_SCRIPTS.get(target["client"])
    if own is None:
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
