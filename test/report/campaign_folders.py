"""Writes folders of campaigns for tests of comparisons between campaigns."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from builder import Document, configuration, result
from campaign_writer import manifest, write_campaign

LOCAL = {"id": "local", "embedded_store": True, "caps_applied": False}
DOCKER = {"id": "docker", "embedded_store": False, "caps_applied": True}


def add_campaign(
    root: Path,
    day: int,
    rates: Mapping[str, Sequence[int]],
    *,
    runtime: Document = LOCAL,
    versions: Mapping[str, str] | None = None,
    failed: int = 0,
    **changes: Any,
) -> Path:
    """Writes a campaign of January 2026. `rates` are the requests/s of the runs by label.

    Args:
        versions: versions of its programs that differ from those of the builder.
        failed: the number of first runs of each target in which it failed its load.
        changes: fields of the manifest to replace.
    """
    name = f"202601{day:02d}_000000"
    configurations = [configuration(label) for label in rates]
    results = []
    for configured, values in zip(configurations, rates.values(), strict=True):
        for run, rate in enumerate(values, start=1):
            outcome: dict[str, Any] = {}
            if run <= failed:
                outcome = {"outcome": "failed", "timed_out_us": {1_000_000: rate}}
            document = result(configured, run, rate, campaign=name, runtime=runtime, **outcome)
            document["versions"] = {**document["versions"], **(versions or {})}
            results.append(document)
    described = manifest(
        configurations,
        max(map(len, rates.values())),
        campaign=name,
        started_at=f"2026-01-{day:02d}T00:00:00.000Z",
        **{"runtime": runtime, **changes},
    )
    return write_campaign(root / name, described, results)
