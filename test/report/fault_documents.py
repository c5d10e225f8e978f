"""Makes results of runs with faults."""

from typing import Any

from builder import Document, configuration, result

RESTART = {
    "name": "store-restart",
    "action": "restart",
    "role": "store",
    "start_s": 2,
    "length_s": 1,
}
PAUSE = {"name": "store-pause", "action": "pause", "role": "store", "start_s": 2, "length_s": 2}
OPEN = {"model": "open", "rate_per_second": 2000, "arrivals": "constant", "connections": 200}

FIGURES = {
    "fault": 0,
    "observed_s": 3,
    "outage_injected_s": 1,
    "outage_seen_s": 1.2,
    "first_error_s": 0.1,
    "error_share": 0.98,
    "served_again_s": 1.1,
    "recovery": "recovered",
    "recovery_s": 1.3,
    "requests_lost": 2400,
    "p99_worst_us": 140_000,
    "over_admission": {"admitted": 5000, "counters_kept": 4000, "counters_lost": 4950},
    "answers": {"allowed": 0.02, "limited": 0, "failed": 0.98},
    "behaviour": "errors",
    "server_memory_peak_bytes": 100 * 1024**2,
}


def fail(columns: Document, seconds: float) -> None:
    """Makes every request fail for these seconds from the fault on, in slices or a timeline."""
    failing = slice(20, 20 + round(10 * seconds))
    length = failing.stop - failing.start
    columns["allowed"][failing] = columns["limited"][failing] = [0] * length
    columns["failed"][failing] = [200] * length


def faulted(
    label: str = "iovalkey", run: int = 1, *, fault: Document = RESTART, **changes: Any
) -> Document:
    """A run of 5 s with a fault at 2 s. `changes` replace fields of its fault figures."""
    document = result(configuration(label, load=OPEN, faults=[fault]), run, failed_us={1000: 2000})
    slices = document["slices"]
    nothing = [0] * 50
    some = [1000] * 50
    slices["failed"][:] = nothing
    fail(slices, 1.0)
    document["timeline"] = {
        "width_ms": 100,
        "opened_at": "2026-01-02T03:04:08.000Z",
        "opens_s": 3,
        "allowed": slices["allowed"],
        "limited": slices["limited"],
        "failed": slices["failed"],
        "timed_out": nothing,
        "p50_us": some,
        "p99_us": [*some[:20], *[None] * 10, *some[30:]],
        "p99_second_us": some,
        "p99_before_us": some,
        "backlog": nothing,
    }
    document["faults"] = [
        {
            "name": fault["name"],
            "action": fault["action"],
            "roles": ["store-1"],
            "planned": {"start_s": 2, "length_s": fault.get("length_s", 3)},
            "injected": {"from_s": 2.01, "to_s": 3.02},
            "undone": True,
            "store_reconnections": 12,
        }
    ]
    before = {"seconds": 3, "p99_us": 1000, "limited_share": 0.1}
    document["fault_figures"] = {"before": before, "faults": [{**FIGURES, **changes}]}
    return document
