"""The CSV file and the documents of several servers."""

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from report.analysis import column
from report.analysis.column import Column, Read
from report.analysis.columns import BOUND_ENDS
from report.analysis.server_counts import SCALING_FIGURES, ServerScaling, ServerStep, ready_s
from report.analysis.summary_columns import RANGE_ENDS, interval_end
from report.base.csv_text import picked
from report.export.comparison_document import comparison_document, rounded
from report.export.frame_csv import entries_csv

#: The names of the ratios to the row with the fewest servers.
_RATIOS = ("throughput_per_server", "server_cpu", "store_cpu")


class _ServerRow(Struct, frozen=True):
    scaling: ServerScaling
    step: ServerStep


def _server_figure(name: str, member: str) -> Read:
    figure, _ = SCALING_FIGURES[name]
    return lambda row: getattr(row.step.summary.figure_of(figure), member)


def _server_ratio_end(name: str, end: str) -> Read:
    return lambda row: interval_end(row.step.ratios.get(name), end)


def _server_ratio_member(name: str, member: str) -> Read:
    return lambda row: getattr(row.step.ratios.get(name), member, None)


def _step_member(part: str, member: str) -> Read:
    """A member of a part of a step, or None where the step does not have that part."""
    return lambda row: getattr(getattr(row.step, part), member, None)


def _server_figure_columns(name: str, digits: int) -> Iterator[tuple[str, Column]]:
    yield name, column.number(_server_figure(name, "value"), digits)
    for ending, end in RANGE_ENDS:
        yield f"{name}_{ending}", column.number(_server_figure(name, end), digits)


def _server_ratio_columns(name: str) -> Iterator[tuple[str, Column]]:
    yield f"{name}_ratio", column.number(_server_ratio_member(name, "ratio"), 4)
    for end in BOUND_ENDS:
        yield f"{name}_ratio_{end}", column.number(_server_ratio_end(name, end), 4)
    yield f"{name}_ratio_status", column.text(_server_ratio_member(name, "conclusion"))


SERVER_COLUMNS: Mapping[str, Column] = {
    "configuration_hash": column.text(attrgetter("step.summary.identity.configuration_hash")),
    "target": column.text(attrgetter("scaling.identity.label")),
    "servers": column.whole(attrgetter("step.servers")),
    "runs": column.whole(attrgetter("step.summary.counted_runs")),
    **dict(
        name_and_column
        for name, (_, digits) in SCALING_FIGURES.items()
        for name_and_column in _server_figure_columns(name, digits)
    ),
    **dict(name_and_column for name in _RATIOS for name_and_column in _server_ratio_columns(name)),
    "added_server_share": column.number(_step_member("added", "estimate"), 4),
    "added_server_share_low": column.number(_step_member("added", "low"), 4),
    "added_server_share_high": column.number(_step_member("added", "high"), 4),
    "first_second_ratio": column.number(_step_member("first_second", "ratio"), 4),
    "first_second_ratio_low": column.number(_step_member("first_second", "low"), 4),
    "first_second_ratio_high": column.number(_step_member("first_second", "high"), 4),
    "first_second_p99_ms": column.number(_step_member("first_second", "p99_ms"), 3),
    "rest_p99_ms": column.number(_step_member("first_second", "rest_p99_ms"), 3),
    "limited_by": column.text(lambda row: getattr(row.step.summary.limit, "resource", None)),
}


def servers_csv(scalings: Sequence[ServerScaling]) -> str:
    rows = (_ServerRow(scaling, step) for scaling in scalings for step in scaling.steps)
    return entries_csv(SERVER_COLUMNS, rows)


def server_documents(scalings: Sequence[ServerScaling]) -> list[dict[str, Any]]:
    return [
        {
            "name": scaling.name,
            "label": scaling.identity.label,
            "steps": list(map(_step, scaling.steps)),
        }
        for scaling in scalings
    ]


def _server_ratio(step: ServerStep, name: str) -> dict[str, Any] | None:
    if name not in step.ratios:
        return None
    document = comparison_document(step.ratios[name])
    members = ("conclusion", "reason", "ratio", "interval", "p_holm")
    return {member: document[member] for member in members}


def _step(step: ServerStep) -> dict[str, Any]:
    summary = step.summary
    measured = summary.selected_figures
    values = {}
    ranges = {}
    for name, (figure, digits) in SCALING_FIGURES.items():
        figure_summary = summary.figure_of(figure)
        values[name] = rounded(figure_summary.value, digits)
        if figure_summary.range:
            low, high = figure_summary.range
            ranges[name] = {"min": round(low, digits), "max": round(high, digits)}

    limit = summary.limit
    return {
        "configuration_hash": summary.identity.configuration_hash,
        "servers": step.servers,
        "runs": summary.counted_runs,
        **values,
        "ranges": ranges,
        "answers_by_server": list(measured.answers_by_server) if measured else [],
        "servers_ready_s": ready_s(measured) if measured else [],
        **{name: _server_ratio(step, name) for name in _RATIOS},
        "added_server_share": asdict(step.added) if step.added else None,
        "first_second": asdict(step.first_second) if step.first_second else None,
        "limited_by": picked(limit, "resource", "text", "runs", "of_runs") if limit else None,
    }
