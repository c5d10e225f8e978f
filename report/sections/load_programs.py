"""The section about load programs that make the calls in the place of Node."""

from collections.abc import Sequence

from report.analysis.campaign_analysis import Analysis
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
    verdict_cell,
)
from report.sections.section import (
    Column,
    Section,
    TableCell,
    TableRow,
    named,
    number,
    numbers,
    table_of,
    words,
)

TEXT = (
    "Controls, never ranked: {programs} made the same calls as the client that they replace, on a service "
    "or store with the same limits, and printed the figures. CPU was measured beside them. A service that "
    "decides more here than from Node was not the limit there. Each row shows its median run, with the "
    "range over its runs."
)

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


def _client_rate(control: LoadProgramControl) -> str:
    figures = control.client.figures if control.client else None
    return rate(throughput(figures)) if figures else ABSENT


def _row(control: LoadProgramControl) -> TableRow:
    row, client = control.row, control.client
    limiting = client.figures.limiting_resource if client and client.figures else None
    cells = (
        *named(row.identity.label, load_text(row.identity)),
        *figure_cells(row, _FIGURES),
        *named(limited_by_text(row), runs_text(row)),
        verdict_cell(row.verdict),
        number(_client_rate(control), None),
        TableCell(limiting or ABSENT),
    )
    return TableRow("", cells)


def load_programs(analysis: Analysis) -> Section | None:
    """None for a campaign without load programs."""
    controls = analysis.load_programs
    if not controls:
        return None
    runs = [run for control in controls for run in control.row.runs]
    programs = {f"{run.printed.program} {run.printed.program_version}" for run in runs if run.printed}
    columns = (
        *words("Target", "Load"),
        *numbers(PROGRAM_COLUMNS, "number"),
        *words("Limited by", "Runs", "Verdict"),
        Column("From Node", "decisions/s"),
        *words("Node limited by"),
    )
    return Section(
        "load-programs",
        "Load programs in the place of Node",
        text=(TEXT.format(programs=" and ".join(sorted(programs)) or "load programs"),),
        tables=(table_of("load-program-rows", columns, map(_row, controls)),),
        notes=problem_texts(runs),
        open=True,
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
