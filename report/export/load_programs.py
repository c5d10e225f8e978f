"""Rows of load programs as CSV: a file of their own, because they are in no ranking."""

from collections.abc import Sequence

from report.analysis.figures import throughput
from report.analysis.load_programs import LoadProgramControl
from report.base.csv_text import Cell, csv_number, records_csv

_LATENCIES = ("average", "p50", "p95", "p99", "max")


def _record(control: LoadProgramControl) -> dict[str, Cell]:
    row, client = control.row, control.client
    identity, figures = row.identity, row.figures
    low, high = row.range_of(lambda printed: printed.operations_per_second) or (None, None)
    of_client = throughput(client.figures) if client and client.figures else None
    return {
        "configuration_hash": identity.configuration_hash,
        "target": identity.label,
        "program": control.program,
        "program_version": figures.program_version if figures else None,
        "store": identity.store,
        "topology": identity.topology,
        "traffic": identity.traffic,
        "connections": identity.connections,
        "duration_s": csv_number(identity.duration_s, 3),
        "runs": len(row.runs),
        "counted_runs": len(row.counted),
        "missing_runs": len(row.missing),
        "verdict": row.verdict,
        "decisions_per_second": csv_number(figures.operations_per_second if figures else None, 2),
        "decisions_per_second_low": csv_number(low, 2),
        "decisions_per_second_high": csv_number(high, 2),
        **{f"{name}_ms": csv_number(figures.latency_ms[name] if figures else None, 3) for name in _LATENCIES},
        "service_cpu_us_per_decision": csv_number(
            figures.service_cpu_us_per_operation if figures else None, 2
        ),
        "store_cpu_us_per_decision": csv_number(figures.store_cpu_us_per_operation if figures else None, 2),
        "limited_by": figures.limited_by.resource if figures and figures.limited_by else None,
        "client": control.client_label,
        "client_decisions_per_second": csv_number(of_client, 2),
    }


def load_programs_csv(controls: Sequence[LoadProgramControl]) -> str:
    return records_csv(map(_record, controls))
