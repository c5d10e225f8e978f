"""The measured parts of a result: histograms, counters and readings."""

import statistics
from collections.abc import Mapping
from typing import Any

from hdrh.histogram import HdrHistogram

Document = dict[str, Any]

MAX_US = 10_000_000


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


def reading() -> Document:
    return {
        "run_id": "r",
        "version": "9.1.2",
        "uptime_s": 5,
        "keys": 0,
        "evicted_keys": 0,
        "expired_keys": 0,
        "used_memory_bytes": 3 * 1024**2,
        "script_calls": {},
        "cpu_user_us": 1,
        "cpu_system_us": 1,
    }


def role(source: str, cpu_us: int, answered: int, window_s: float) -> Document:
    return {
        "source": source,
        "cpu_us": cpu_us,
        "cpu_percent": cpu_us / window_s / 10_000,
        "cpu_us_per_request": cpu_us / answered,
        "resident_bytes_mean": 90_000_000,
        "resident_bytes_max": 95_000_000,
        "samples": [],
    }
