"""The CSV file and the document of memory per key."""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from msgspec import Struct

from report.analysis import column
from report.analysis.campaign_analysis import Analysis
from report.analysis.column import Column, Read
from report.analysis.memory_per_key_rows import KeyMemory, Slope
from report.base.csv_text import picked
from report.export.comparison_document import rounded
from report.export.frame_csv import entries_csv

_MEMORY_IDENTITY = ("store", "topology", "limiter")


class _MemoryRow(Struct, frozen=True):
    """The memory that a key takes by one source of figures. Without a slope it is not known, and
    `reason` of the memory says why."""

    memory: KeyMemory
    slope: Slope | None


def _slope_member(path: str) -> Read:
    read = attrgetter(path)
    return lambda row: read(row.slope) if row.slope else None


MEMORY_COLUMNS: Mapping[str, Column] = {
    "target": column.text(attrgetter("memory.identity.label")),
    **{name: column.text(attrgetter(f"memory.identity.{name}")) for name in _MEMORY_IDENTITY},
    "source": column.text(_slope_member("source")),
    "bytes_per_key": column.number(_slope_member("line.slope"), 2),
    "bytes_per_key_interval_low": column.number(_slope_member("line.low"), 2),
    "bytes_per_key_interval_high": column.number(_slope_member("line.high"), 2),
    "fixed_bytes": column.number(_slope_member("line.intercept"), 0),
    "items_per_key": column.number(attrgetter("memory.items_per_key"), 2),
    "runs": column.whole(lambda row: len(row.slope.points) if row.slope else 0),
    "left_out_runs": column.whole(lambda row: len(row.memory.left_out)),
    "reason": column.text(attrgetter("memory.reason")),
}


def memory_csv(memories: Sequence[KeyMemory]) -> str:
    return entries_csv(
        MEMORY_COLUMNS,
        (_MemoryRow(memory, slope) for memory in memories for slope in (memory.slopes or (None,))),
    )


def _slope(slope: Slope) -> dict[str, Any]:
    line = slope.line
    interval = None
    if line.low is not None:
        interval = {"low": rounded(line.low), "high": rounded(line.high)}
    return {
        "source": slope.source,
        "bytes_per_key": rounded(line.slope),
        "interval": interval,
        "fixed_bytes": rounded(line.intercept),
        "points": [picked(point, "run", "keys", "bytes") for point in slope.points],
    }


def _memory_target(row: KeyMemory) -> dict[str, Any]:
    identity = row.identity
    return {
        "label": identity.label,
        **picked(identity, *_MEMORY_IDENTITY, "layer"),
        "runtime": row.runtime,
        "window_s": identity.limits[1] if identity.limits else None,
        "slopes": [_slope(slope) for slope in row.slopes],
        "items_per_key": rounded(row.items_per_key),
        "left_out": list(row.left_out),
        "reason": row.reason or None,
    }


def memory_document(analysis: Analysis) -> dict[str, Any]:
    manifest = analysis.campaign.manifest
    return {
        "schema": "ratelimit-bench/memory",
        "schema_version": 1,
        "campaign": analysis.campaign.name,
        "started_at": manifest["started_at"] if manifest else None,
        "targets": [_memory_target(row) for row in analysis.memory],
    }
