"""Several servers as CSV and as a member of summary.json: one row per number of servers."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import asdict

from report.analysis.several_servers import FIGURES, ServerScaling, ServerStep, ready_s
from report.base.csv_text import Cell, csv_number, records_csv
from report.export.conclusions import comparison_document

#: Ratios to the row with the fewest servers.
_RATIOS = ("throughput_per_server", "server_cpu", "store_cpu")


def _ends(name: str, found: dict[str, Any] | None, *ends: str) -> dict[str, Cell]:
    return {f"{name}_{end}": csv_number(found[end], 4) if found else None for end in ends}


def _record(each: ServerScaling, step: ServerStep) -> dict[str, Cell]:
    document = _document(step)
    added, first, limit = (document[name] for name in ("added_server_share", "first_second", "limited_by"))
    record: dict[str, Cell] = {
        "configuration_hash": document["configuration_hash"],
        "target": each.identity.label,
        "servers": document["servers"],
        "runs": document["runs"],
    }
    for name, (_, digits) in FIGURES.items():
        span = document["ranges"].get(name, {})
        record[name] = csv_number(document[name], digits)
        record |= {f"{name}_{end}": csv_number(span.get(end), digits) for end in ("min", "max")}
    for name in _RATIOS:
        found = document[name]
        record[f"{name}_ratio"] = csv_number(found["ratio"], 4) if found else None
        record |= _ends(f"{name}_ratio", found and found["interval"], "low", "high")
        record[f"{name}_ratio_status"] = found["status"] if found else None
    return {
        **record,
        "added_server_share": csv_number(added["estimate"], 4) if added else None,
        **_ends("added_server_share", added, "low", "high"),
        "first_second_ratio": csv_number(first["ratio"], 4) if first else None,
        **_ends("first_second_ratio", first, "low", "high"),
        "first_second_p99_ms": csv_number(first["p99_ms"], 3) if first else None,
        "rest_p99_ms": csv_number(first["rest_p99_ms"], 3) if first else None,
        "limited_by": limit["resource"] if limit else None,
    }


def servers_csv(found: Sequence[ServerScaling]) -> str:
    return records_csv(_record(each, step) for each in found for step in each.steps)


def server_documents(found: Sequence[ServerScaling]) -> list[dict[str, Any]]:
    return [
        {"name": each.name, "label": each.identity.label, "steps": [_document(step) for step in each.steps]}
        for each in found
    ]


def _ratio(step: ServerStep, name: str) -> dict[str, Any] | None:
    if name not in step.ratios:
        return None
    whole = comparison_document(step.ratios[name])
    return {part: whole[part] for part in ("status", "reason", "ratio", "interval", "p_holm")}


def _document(step: ServerStep) -> dict[str, Any]:
    summary, figures = step.summary, step.summary.figures
    values, ranges = {}, {}
    for name, (figure, digits) in FIGURES.items():
        value, span = figure(figures) if figures else None, summary.range_of(figure)
        values[name] = None if value is None else round(value, digits)
        if span:
            ranges[name] = {"min": round(span[0], digits), "max": round(span[1], digits)}
    limit = figures.record.limited_by if figures else None
    return {
        "configuration_hash": summary.identity.configuration_hash,
        "servers": step.servers,
        "runs": summary.counted_runs,
        **values,
        "ranges": ranges,
        "answers_by_server": list(figures.answers_by_server) if figures else [],
        "servers_ready_s": ready_s(figures) if figures else [],
        **{name: _ratio(step, name) for name in _RATIOS},
        "added_server_share": asdict(step.added) if step.added else None,
        "first_second": asdict(step.first_second) if step.first_second else None,
        "limited_by": {"resource": limit.resource, "text": limit.text} if limit else None,
    }
