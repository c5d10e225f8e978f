"""Several servers as CSV and as a member of summary.json: one row per number of servers."""

from collections.abc import Sequence
from typing import Any

from report.analysis.figures import server_cpu, throughput
from report.analysis.several_servers import (
    AddedServer,
    FirstSecond,
    ServerScaling,
    ServerStep,
    all_ready_s,
    fairness,
    least_to_most,
    store_cpu_per_consume,
)
from report.base.csv_text import Cell, csv_number, csv_text
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

_COLUMNS = (
    "configuration_hash",
    "target",
    "servers",
    "runs",
    *(column for name, _, _ in _FIGURES for column in (name, f"{name}_min", f"{name}_max")),
    *(f"{name}_ratio{end}" for name in _RATIOS for end in ("", "_low", "_high", "_status")),
    *(f"added_server_share{end}" for end in ("", "_low", "_high")),
    *(f"first_second_ratio{end}" for end in ("", "_low", "_high")),
    "first_second_p99_ms",
    "rest_p99_ms",
    "limited_by",
)


def _comparisons(step: ServerStep) -> tuple[Comparison | None, ...]:
    return (step.of_linear, step.server_cpu, step.store_cpu)


def _ends(low: float | None, high: float | None) -> list[Cell]:
    return [csv_number(low, 4), csv_number(high, 4)]


def _comparison_cells(comparison: Comparison | None) -> list[Cell]:
    document = comparison_document(comparison) if comparison else None
    if document is None:
        return [None] * 4
    interval = document["interval"] or {"low": None, "high": None}
    return [
        csv_number(document["ratio"], 4),
        *_ends(interval["low"], interval["high"]),
        document["status"],
    ]


def _added_cells(added: AddedServer | None) -> list[Cell]:
    return [csv_number(added.estimate, 4), *_ends(added.low, added.high)] if added else [None] * 3


def _first_second_cells(found: FirstSecond | None) -> list[Cell]:
    if found is None:
        return [None] * 5
    interval = found.throughput.interval
    return [
        csv_number(found.throughput.estimate, 4),
        *_ends(interval.low if interval else None, interval.high if interval else None),
        csv_number(found.p99_ms, 3),
        csv_number(found.rest_p99_ms, 3),
    ]


def _cells(step: ServerStep) -> list[Cell]:
    summary, figures = step.summary, step.summary.figures
    cells: list[Cell] = [
        summary.identity.configuration_hash,
        summary.identity.label,
        step.servers,
        summary.counted_runs,
    ]
    for _, figure, digits in _FIGURES:
        span = summary.range_of(figure) or (None, None)
        cells.append(csv_number(figure(figures) if figures else None, digits))
        cells.extend(csv_number(end, digits) for end in span)
    for comparison in _comparisons(step):
        cells.extend(_comparison_cells(comparison))
    cells.extend(_added_cells(step.added))
    cells.extend(_first_second_cells(step.first_second))
    cells.append(figures.limited_by.resource if figures and figures.limited_by else None)
    return cells


def servers_csv(found: Sequence[ServerScaling]) -> str:
    """One row per target and number of servers."""
    return csv_text(_COLUMNS, (_cells(step) for each in found for step in each.steps))


def server_documents(found: Sequence[ServerScaling]) -> list[dict[str, Any]]:
    """Plain data; its shape is `several_servers` in `schemas/summary.schema.json`."""
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
        "servers_ready_s": list(figures.servers_ready_s) if figures else [],
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
        if figures and (limit := figures.limited_by)
        else None,
    }
