"""Several servers as CSV and as a member of summary.json: one row per number of servers."""

from collections.abc import Sequence
from typing import Any

from report.analysis.figures import server_cpu, throughput
from report.analysis.several_servers import (
    ServerScaling,
    ServerStep,
    all_ready_s,
    fairness,
    least_to_most,
    store_cpu_per_consume,
)
from report.base.csv_text import Cell, csv_number, records_csv
from report.export.conclusions import comparison_document
from report.statistics.decision import Comparison

#: Name, figure and decimals, as CSV and JSON have them.
_FIGURES = (
    ("requests_per_second", throughput, 3),
    ("server_cpu_us_per_request", server_cpu, 3),
    ("store_cpu_us_per_consume", store_cpu_per_consume, 3),
    ("fairness_index", fairness, 6),
    ("fewest_to_most_answers", least_to_most, 6),
    ("all_ready_s", all_ready_s, 3),
)

#: Ratios to the row with the fewest servers.
_RATIOS = ("throughput_per_server", "server_cpu", "store_cpu")


def _comparisons(step: ServerStep) -> tuple[Comparison | None, ...]:
    return (step.of_linear, step.server_cpu, step.store_cpu)


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
    for name, _, digits in _FIGURES:
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
        {
            "name": each.name,
            "label": each.identity.label,
            "steps": [_document(step) for step in each.steps],
        }
        for each in found
    ]


def _ratio_document(comparison: Comparison) -> dict[str, Any]:
    whole = comparison_document(comparison)
    return {name: whole[name] for name in ("status", "reason", "ratio", "interval", "p_holm")}


def _document(step: ServerStep) -> dict[str, Any]:
    summary, figures = step.summary, step.summary.figures
    added, first = step.added, step.first_second
    interval = first.throughput.interval if first else None
    spans = {name: summary.range_of(figure) for name, figure, _ in _FIGURES}
    return {
        "configuration_hash": summary.identity.configuration_hash,
        "servers": step.servers,
        "runs": summary.counted_runs,
        **{
            name: None if (value := figure(figures) if figures else None) is None else round(value, digits)
            for name, figure, digits in _FIGURES
        },
        "ranges": {
            name: {"min": round(span[0], digits), "max": round(span[1], digits)}
            for name, _, digits in _FIGURES
            if (span := spans[name])
        },
        "answers_by_server": list(figures.answers_by_server) if figures else [],
        "servers_ready_s": list((figures.record.servers_ready_s or {}).values()) if figures else [],
        **{
            name: _ratio_document(comparison) if comparison else None
            for name, comparison in zip(_RATIOS, _comparisons(step), strict=True)
        },
        "added_server_share": {"estimate": added.estimate, "low": added.low, "high": added.high}
        if added
        else None,
        "first_second": {
            "ratio": first.throughput.estimate,
            "low": interval.low if interval else None,
            "high": interval.high if interval else None,
            "p99_ms": first.p99_ms,
            "rest_p99_ms": first.rest_p99_ms,
        }
        if first
        else None,
        "limited_by": {"resource": limit.resource, "text": limit.text}
        if figures and (limit := figures.record.limited_by)
        else None,
    }
