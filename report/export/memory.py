"""memory.csv and memory.json: the bytes that a key takes, by target and source."""

import json
from collections.abc import Sequence
from typing import Any

from report.analysis.campaign_analysis import Analysis
from report.analysis.memory_per_key import KeyMemory, Slope
from report.base.csv_text import Cell, csv_number, records_csv


def _identity(row: KeyMemory, *names: str) -> dict[str, Any]:
    return {name: getattr(row.identity, name) for name in ("store", "topology", "limiter", *names)}


def _record(row: KeyMemory, slope: Slope | None) -> dict[str, Cell]:
    line = slope.line if slope else None
    return {
        "target": row.identity.label,
        **_identity(row),
        "source": slope.source if slope else None,
        "bytes_per_key": csv_number(line.slope if line else None, 2),
        "bytes_per_key_interval_low": csv_number(line.low if line else None, 2),
        "bytes_per_key_interval_high": csv_number(line.high if line else None, 2),
        "fixed_bytes": csv_number(line.intercept if line else None, 0),
        "items_per_key": csv_number(row.items_per_key, 2),
        "runs": len(slope.points) if slope else 0,
        "left_out_runs": len(row.left_out),
        "reason": row.reason or None,
    }


def memory_csv(rows: Sequence[KeyMemory]) -> str:
    return records_csv(_record(row, slope) for row in rows for slope in (row.slopes or (None,)))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _slope(slope: Slope) -> dict[str, Any]:
    line = slope.line
    return {
        "source": slope.source,
        "bytes_per_key": _rounded(line.slope),
        "interval": None if line.low is None else {"low": _rounded(line.low), "high": _rounded(line.high)},
        "fixed_bytes": _rounded(line.intercept),
        "points": [{"run": point.run, "keys": point.keys, "bytes": point.bytes} for point in slope.points],
    }


def _target(row: KeyMemory) -> dict[str, Any]:
    identity = row.identity
    return {
        "label": identity.label,
        **_identity(row, "layer"),
        "runtime": row.runtime,
        "window_s": identity.limits[1] if identity.limits else None,
        "slopes": [_slope(slope) for slope in row.slopes],
        "items_per_key": _rounded(row.items_per_key),
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
        "targets": [_target(row) for row in analysis.memory],
    }


def memory_json(analysis: Analysis) -> str:
    return json.dumps(memory_document(analysis), ensure_ascii=False, indent=1) + "\n"
