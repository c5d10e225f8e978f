"""figures.csv: a line for each figure of each configuration, for programs that pivot it themselves."""

from collections.abc import Iterator

from report.analysis.campaign_analysis import Analysis
from report.analysis.figures import COSTS, throughput
from report.analysis.load_text import load_name
from report.analysis.summary import Summary
from report.base.csv_text import Cell, csv_number, records_csv

#: By the name of a figure, its unit.
_UNITS = {"requests_per_second": "1/s", "p50": "ms", "p99": "ms", "p99_9": "ms", "heap": "bytes"}
_FIGURES = {"requests_per_second": throughput, **COSTS}


def _records(summary: Summary) -> Iterator[dict[str, Cell]]:
    identity = summary.identity
    for name, figure in _FIGURES.items():
        value = figure(summary.figures) if summary.figures else None
        if value is None:
            continue
        ends = summary.range_of(figure)
        yield {
            "configuration_hash": identity.configuration_hash,
            "target": identity.label,
            "store": identity.store_text,
            "topology": identity.topology,
            "workload": identity.workload,
            "traffic": identity.traffic,
            "load": load_name(identity),
            "metric": name if name in _UNITS else f"{name}_per_request",
            "unit": _UNITS.get(name, "us"),
            "value": csv_number(value, 3),
            "low": csv_number(ends[0] if ends else None, 3),
            "high": csv_number(ends[1] if ends else None, 3),
        }


def figures_long_csv(analysis: Analysis) -> str:
    """Of the median runs, with the range over the runs; a figure that is not known has no line."""
    return records_csv(record for summary in analysis.ordered for record in _records(summary))
