"""Rows of load programs as CSV: a file of their own, because they are in no ranking."""

from collections.abc import Sequence

from report.analysis.figures import throughput
from report.analysis.load_programs import LoadProgramControl
from report.base.csv_text import Cell, csv_number, csv_text

_COLUMNS = (
    "configuration_hash",
    "target",
    "program",
    "program_version",
    "store",
    "topology",
    "traffic",
    "connections",
    "duration_s",
    "runs",
    "counted_runs",
    "missing_runs",
    "verdict",
    "decisions_per_second",
    "decisions_per_second_low",
    "decisions_per_second_high",
    "average_ms",
    "p50_ms",
    "p95_ms",
    "p99_ms",
    "max_ms",
    "service_cpu_us_per_decision",
    "store_cpu_us_per_decision",
    "limited_by",
    "client",
    "client_decisions_per_second",
)
_LATENCIES = ("average", "p50", "p95", "p99", "max")


def _cells(control: LoadProgramControl) -> list[Cell]:
    row, client = control.row, control.client
    identity, figures = row.identity, row.figures
    span = row.range_of(lambda printed: printed.operations_per_second) or (None, None)
    of_client = throughput(client.figures) if client and client.figures else None
    return [
        identity.configuration_hash,
        identity.label,
        control.program,
        figures.program_version if figures else None,
        identity.store,
        identity.topology,
        identity.traffic,
        identity.connections,
        csv_number(identity.duration_s, 3),
        len(row.runs),
        len(row.counted),
        len(row.missing),
        row.verdict,
        csv_number(figures.operations_per_second if figures else None, 2),
        *(csv_number(end, 2) for end in span),
        *(csv_number(figures.latency_ms[name] if figures else None, 3) for name in _LATENCIES),
        csv_number(figures.service_cpu_us_per_operation if figures else None, 2),
        csv_number(figures.store_cpu_us_per_operation if figures else None, 2),
        figures.limited_by.resource if figures and figures.limited_by else None,
        control.client_label,
        csv_number(of_client, 2),
    ]


def load_programs_csv(controls: Sequence[LoadProgramControl]) -> str:
    """One row a control."""
    return csv_text(_COLUMNS, map(_cells, controls))
