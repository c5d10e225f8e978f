"""Cells of rows whose figures a foreign program printed."""

from collections.abc import Callable, Iterable, Sequence

from report.analysis.printed_rows import PrintedRow
from report.base.format import ABSENT
from report.results.model import Printed, Run
from report.sections.section import TableCell, number

Read = Callable[[Printed], float | None]
Show = Callable[[float | None], str]


def printed_latency(name: str) -> Read:
    return lambda printed: printed.latency_ms[name]


def figure_cells(row: PrintedRow, columns: Sequence[tuple[Read, Show]]) -> tuple[TableCell, ...]:
    """Figures of the median run, with their range over the runs; dashes where no run counts."""
    figures = row.figures
    if figures is None:
        return (number(ABSENT, None),) * len(columns)
    found = []
    for read, show in columns:
        span = row.range_of(read)
        found.append(
            TableCell(
                show(read(figures)), range=f"{show(span[0])}–{show(span[1])}" if span else "", kind="number"
            )
        )
    return tuple(found)


def limited_by_text(row: PrintedRow) -> str:
    figures = row.figures
    return figures.limited_by.resource if figures and figures.limited_by else ABSENT


def runs_text(row: PrintedRow) -> str:
    planned, counted = len(row.runs) + len(row.missing), len(row.counted)
    return str(counted) if counted == planned else f"{counted} of {planned}"


def verdict_cell(verdict: str) -> TableCell:
    return TableCell(verdict, kind=f"verdict {verdict}")


def problem_texts(runs: Iterable[Run]) -> tuple[str, ...]:
    return tuple(
        f"{run.file} is {run.verdict if run.printed else run.status}: "
        + "; ".join(f"{reason.rule} {reason.text}" for reason in run.reasons)
        + "."
        for run in runs
        if run.verdict != "valid"
    )
