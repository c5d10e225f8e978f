"""The section about load programs that make the calls in the place of Node."""

from collections.abc import Sequence
from dataclasses import dataclass

from report.analysis.figures import throughput
from report.analysis.load_programs import LoadProgramControl
from report.analysis.load_text import load_text
from report.base.format import ABSENT, microseconds, milliseconds, rate
from report.sections.printed_cells import (
    Read,
    Show,
    figure_cells,
    limited_by_text,
    printed_latency,
    problem_texts,
    runs_text,
)
from report.sections.tables import TableCell

#: Name and unit of each figure's column.
PROGRAM_COLUMNS = (
    ("Throughput", "decisions/s"),
    ("p50", "ms"),
    ("p99", "ms"),
    ("Service CPU", "µs/decision"),
    ("Store CPU", "µs/decision"),
)

_FIGURES: tuple[tuple[Read, Show], ...] = (
    (lambda printed: printed.operations_per_second, rate),
    (printed_latency("p50"), milliseconds),
    (printed_latency("p99"), milliseconds),
    (lambda printed: printed.service_cpu_us_per_operation, microseconds),
    (lambda printed: printed.store_cpu_us_per_operation, microseconds),
)


@dataclass(frozen=True, slots=True)
class LoadProgramRow:
    label: str
    load: str
    cells: tuple[TableCell, ...]
    """They go with `PROGRAM_COLUMNS`; empty where no run counts."""
    limited_by: str
    status: str
    runs: str
    client: str
    """Throughput of the client that it replaces; a dash where that was not measured."""
    client_limited_by: str


@dataclass(frozen=True, slots=True)
class LoadProgramSection:
    programs: str
    """With their versions."""
    rows: tuple[LoadProgramRow, ...]
    problems: tuple[tuple[str, str], ...]
    """File and reasons of each run that is not valid."""


def _client_rate(control: LoadProgramControl) -> str:
    figures = control.client.figures if control.client else None
    return rate(throughput(figures)) if figures else ABSENT


def _row(control: LoadProgramControl) -> LoadProgramRow:
    row, client = control.row, control.client
    limiting = client.figures.limiting_resource if client and client.figures else None
    return LoadProgramRow(
        label=row.identity.label,
        load=load_text(row.identity),
        cells=figure_cells(row, _FIGURES),
        limited_by=limited_by_text(row),
        status="" if row.verdict == "valid" else row.verdict,
        runs=runs_text(row),
        client=_client_rate(control),
        client_limited_by=limiting or ABSENT,
    )


def load_program_section(controls: Sequence[LoadProgramControl]) -> LoadProgramSection | None:
    """None for a campaign without load programs."""
    if not controls:
        return None
    runs = [run for control in controls for run in control.row.runs]
    programs = {f"{run.printed.program} {run.printed.program_version}" for run in runs if run.printed}
    return LoadProgramSection(
        programs=" and ".join(sorted(programs)) or "load programs",
        rows=tuple(map(_row, controls)),
        problems=problem_texts(run for run in runs if run.verdict != "valid"),
    )


def load_program_sentences(controls: Sequence[LoadProgramControl]) -> list[str]:
    """`Control, realistic, …: wrk in the place of throttlecrab-http reached 52,300 decisions/s, …`"""
    return [
        f"Control, {load_text(control.row.identity)}: {control.program} in the place of "
        f"{control.client_label} reached {rate(control.row.figures.operations_per_second)} decisions/s, "
        f"limited by {limited_by_text(control.row)}; Node reached {_client_rate(control)}."
        for control in controls
        if control.row.figures
    ]
