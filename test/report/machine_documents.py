"""Campaigns on several machines, as the harness writes them."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from builder import Document, configuration, result
from campaign_writer import manifest

#: The machine of each role.
APART = {"generator-1": "load-host", "server-1": "app-host", "store-1": "data-host"}
TOGETHER = {"generator-1": "load-host", "server-1": "app-host", "store-1": "app-host"}


def machine(name: str, **properties: Any) -> Document:
    return {
        "name": name,
        "operating_system": "Debian GNU/Linux 13",
        "kernel": "6.12.0",
        "cpus": 8,
        "memory_bytes": 32 * 1024**3,
        "engine": "Docker 28.0.1",
        "facts": {
            "platform": "linux x64",
            "kernel": "Linux 6.12.0",
            "cpu_model": "Example CPU @ 3.00GHz",
            "cpus": 8,
            "memory_bytes": 32 * 1024**3,
            "sysctl": {},
            **properties,
        },
    }


def link(one: str, other: str, round_trip_us: float, **changes: Any) -> Document:
    return {
        "between": [one, other],
        "round_trip_us": {"p50": round_trip_us, "p90": 1.5 * round_trip_us, "count": 1000},
        "bits_per_second": {"there": 9.4e9, "back": 9.2e9},
        **changes,
    }


def machines_manifest(
    configurations: Sequence[Document],
    runs: int,
    placement: Mapping[str, str] = APART,
    round_trips_us: tuple[float, float] = (61, 58),
    machines: Mapping[str, Document] | None = None,
    **changes: Any,
) -> Document:
    names = list(dict.fromkeys(placement.values()))
    ends = list(pairwise(names))
    return manifest(
        configurations,
        runs,
        machines=[(machines or {}).get(name, machine(name)) for name in names],
        sessions=[
            {
                "started_at": "2026-01-02T03:04:05.000Z",
                "harness": {"version": "0.1.0", "node": "24.11.0"},
                "links": [
                    link(end, other_end, us)
                    for (end, other_end), us in zip(ends, round_trips_us, strict=False)
                ],
            }
        ],
        **changes,
    )


def placed_result(
    run: int,
    requests_per_second: int = 2000,
    label: str = "iovalkey",
    placement: Mapping[str, str] = APART,
    **changes: Any,
) -> Document:
    """A run on several machines."""
    return result(
        configuration(label), run, requests_per_second, placement=dict(placement), **changes
    )
