"""What --output-format means: which files a report consists of, and how each is made."""

import json
from collections.abc import Callable, Mapping

from report.analysis.campaign_analysis import Analysis
from report.export.action_benchmark import as_json, bigger_is_better, smaller_is_better
from report.export.faults import faults_csv, faults_json
from report.export.memory import memory_csv, memory_json
from report.export.printed_programs import load_programs_csv, operations_csv, operations_json
from report.export.several_servers import servers_csv
from report.export.summary_json import summary_document
from report.export.summary_markdown import summary_markdown
from report.export.tables_csv import figures_long_csv, runs_csv, summary_csv
from report.html.page import render_page
from report.sections.first_screen import DEFAULT_RATE
from report.sections.max_rate import max_rate_document

PAGE = "index.html"

#: How the names of its files end, by format. The page links to the tables, so they come with it.
FORMATS: Mapping[str, tuple[str, ...]] = {
    "html": (".html", ".csv"),
    "csv": (".csv",),
    "md": (".md",),
    "json": (".json",),
    "all": ("",),
}


def _summary_json(analysis: Analysis) -> str:
    return json.dumps(summary_document(analysis, PAGE), ensure_ascii=False, indent=1) + "\n"


def _max_rate_json(analysis: Analysis) -> str:
    manifest = analysis.campaign.manifest or {}
    document = {"command": manifest.get("command"), "found": list(map(max_rate_document, analysis.max_rates))}
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def report_files(
    analysis: Analysis, chosen: str, at_rate: float = DEFAULT_RATE, long_csv: bool = False
) -> dict[str, str]:
    """The files of a format with their texts, the first one first."""
    rows, operations, faults = analysis.summaries, analysis.store_operations, analysis.faults
    make: dict[str, Callable[[], str]] = {
        PAGE: lambda: render_page(analysis, at_rate=at_rate),
        "summary.csv": lambda: summary_csv(rows),
        "runs.csv": lambda: runs_csv(rows),
        "summary.md": lambda: summary_markdown(analysis, at_rate),
        "summary.json": lambda: _summary_json(analysis),
        "benchmark-bigger-is-better.json": lambda: as_json(bigger_is_better(rows)),
        "benchmark-smaller-is-better.json": lambda: as_json(smaller_is_better(rows)),
    }
    if operations:
        make["store-operations.csv"] = lambda: operations_csv(operations)
        make["store-operations.json"] = lambda: operations_json(operations)
    if analysis.load_programs:
        make["load-programs.csv"] = lambda: load_programs_csv(analysis.load_programs)
    if analysis.server_scalings:
        make["servers.csv"] = lambda: servers_csv(analysis.server_scalings)
    if analysis.max_rates:
        make["max-rate.json"] = lambda: _max_rate_json(analysis)
    if faults:
        make |= {"faults.csv": lambda: faults_csv(faults), "faults.json": lambda: faults_json(faults)}
    if analysis.memory:
        make["memory.csv"] = lambda: memory_csv(analysis.memory)
        make["memory.json"] = lambda: memory_json(analysis)
    made = {name: write() for name, write in make.items() if name.endswith(FORMATS[chosen])}
    return made | ({"figures.csv": figures_long_csv(analysis)} if long_csv else {})
