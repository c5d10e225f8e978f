"""The files of a campaign's report."""

from collections.abc import Callable, Mapping

from report.analysis.campaign_analysis import Analysis
from report.analysis.frames import Frames
from report.base.files import json_text
from report.export.action_benchmark import bigger_is_better, smaller_is_better
from report.export.fault_tables import fault_documents, faults_csv
from report.export.load_curve_export import load_curve_csv
from report.export.load_program_tables import (
    load_programs_csv,
    operation_documents,
    operations_csv,
)
from report.export.memory_tables import memory_csv, memory_document
from report.export.server_tables import servers_csv
from report.export.summary_json import summary_document
from report.export.summary_markdown import summary_markdown
from report.export.tables_csv import figures_long_csv, runs_csv, summary_csv
from report.html.page import render_page
from report.sections.max_rate import max_rate_document

#: The name of the page.
PAGE = "index.html"

#: The endings of the names of files, by format. The page links to the tables, so they come with it.
FORMATS: Mapping[str, tuple[str, ...]] = {
    "html": (".html", ".csv"),
    "csv": (".csv",),
    "md": (".md",),
    "json": (".json",),
    "all": ("",),
}

Writers = dict[str, Callable[[], str]]
"""Functions that make the text of each file, by the name of the file."""


def campaign_files(
    analysis: Analysis, output_format: str, with_long_csv: bool = False
) -> dict[str, str]:
    """The texts of the files of a format by their names, the main file first."""
    tables = Frames(analysis)
    writers = _main_writers(analysis, tables) | _topic_writers(analysis)
    endings = FORMATS[output_format]
    files = {name: write() for name, write in writers.items() if name.endswith(endings)}
    if with_long_csv:
        ordered = [row.id for row in analysis.ordered]
        files["figures.csv"] = figures_long_csv(tables, ordered)
    return files


def _main_writers(analysis: Analysis, tables: Frames) -> Writers:
    """The files that every campaign has."""
    rows = analysis.summaries
    return {
        PAGE: lambda: render_page(analysis),
        "summary.csv": lambda: summary_csv(tables),
        "runs.csv": lambda: runs_csv(tables),
        "summary.md": lambda: summary_markdown(analysis),
        "summary.json": lambda: json_text(summary_document(analysis, PAGE)),
        "benchmark-bigger-is-better.json": lambda: json_text(bigger_is_better(rows)),
        "benchmark-smaller-is-better.json": lambda: json_text(smaller_is_better(rows)),
    }


def _topic_writers(analysis: Analysis) -> Writers:
    """The files of the topics that the campaign has."""
    writers: Writers = {}
    operations = analysis.store_operations
    if operations:
        writers["store-operations.csv"] = lambda: operations_csv(operations)
        writers["store-operations.json"] = lambda: json_text(operation_documents(operations))
    if analysis.load_programs:
        writers["load-programs.csv"] = lambda: load_programs_csv(analysis.load_programs)
    if analysis.server_scalings:
        writers["servers.csv"] = lambda: servers_csv(analysis.server_scalings)
    if analysis.load_curves:
        writers["load-curve.csv"] = lambda: load_curve_csv(analysis.load_curves)
    if analysis.max_rates:
        writers["max-rate.json"] = lambda: _max_rate_json(analysis)
    if analysis.faults:
        writers["faults.csv"] = lambda: faults_csv(analysis.faults)
        writers["faults.json"] = lambda: json_text(fault_documents(analysis.faults))
    if analysis.memory:
        writers["memory.csv"] = lambda: memory_csv(analysis.memory)
        writers["memory.json"] = lambda: json_text(memory_document(analysis))
    return writers


def _max_rate_json(analysis: Analysis) -> str:
    document = {
        "command": (analysis.campaign.manifest or {}).get("command"),
        "found": list(map(max_rate_document, analysis.max_rates)),
    }
    return json_text(document, indent=2)
