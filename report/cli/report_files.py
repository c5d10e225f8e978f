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
from report.sections.cost import DEFAULT_RATE
from report.sections.max_rate import max_rate_document

PAGE = "index.html"
OPERATIONS_CSV = "store-operations.csv"
OPERATIONS_JSON = "store-operations.json"
LOAD_PROGRAMS_CSV = "load-programs.csv"
MAX_RATE_JSON = "max-rate.json"
FAULTS_CSV = "faults.csv"
FAULTS_JSON = "faults.json"
SERVERS_CSV = "servers.csv"
LONG_CSV = "figures.csv"

Make = Callable[[Analysis, float], str]


def _summary_json(analysis: Analysis) -> str:
    return json.dumps(summary_document(analysis, PAGE), ensure_ascii=False, indent=1) + "\n"


def _max_rate_json(analysis: Analysis) -> str:
    manifest = analysis.campaign.manifest or {}
    document = {"command": manifest.get("command"), "found": list(map(max_rate_document, analysis.max_rates))}
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


_MAKE: Mapping[str, Make] = {
    PAGE: lambda analysis, rate: render_page(analysis, at_rate=rate),
    "summary.csv": lambda analysis, _: summary_csv(analysis.summaries),
    "runs.csv": lambda analysis, _: runs_csv(analysis.summaries),
    OPERATIONS_CSV: lambda analysis, _: operations_csv(analysis.store_operations),
    OPERATIONS_JSON: lambda analysis, _: operations_json(analysis.store_operations),
    LOAD_PROGRAMS_CSV: lambda analysis, _: load_programs_csv(analysis.load_programs),
    SERVERS_CSV: lambda analysis, _: servers_csv(analysis.server_scalings),
    "summary.md": summary_markdown,
    "summary.json": lambda analysis, _: _summary_json(analysis),
    MAX_RATE_JSON: lambda analysis, _: _max_rate_json(analysis),
    FAULTS_CSV: lambda analysis, _: faults_csv(analysis.faults),
    FAULTS_JSON: lambda analysis, _: faults_json(analysis.faults),
    "memory.csv": lambda analysis, _: memory_csv(analysis.memory),
    "memory.json": lambda analysis, _: memory_json(analysis),
    "benchmark-bigger-is-better.json": lambda analysis, _: as_json(bigger_is_better(analysis.summaries)),
    "benchmark-smaller-is-better.json": lambda analysis, _: as_json(smaller_is_better(analysis.summaries)),
}

#: Only campaigns have them that measured what a key takes.
_OF_MEMORY = ("memory.csv", "memory.json")

#: The tables as CSV.
_TABLES = (
    "summary.csv",
    "runs.csv",
    "memory.csv",
    OPERATIONS_CSV,
    LOAD_PROGRAMS_CSV,
    FAULTS_CSV,
    SERVERS_CSV,
)

#: Files by format. The page links to the tables, so they come with it.
FORMATS: Mapping[str, tuple[str, ...]] = {
    "html": (PAGE, *_TABLES),
    "csv": _TABLES,
    "md": ("summary.md",),
    "json": (
        "summary.json",
        "memory.json",
        OPERATIONS_JSON,
        MAX_RATE_JSON,
        FAULTS_JSON,
        "benchmark-bigger-is-better.json",
        "benchmark-smaller-is-better.json",
    ),
    "all": tuple(_MAKE),
}


def report_files(
    analysis: Analysis, chosen: str, at_rate: float = DEFAULT_RATE, long_csv: bool = False
) -> dict[str, str]:
    """The files of a format with their texts."""
    left_out = (
        *(() if analysis.memory else _OF_MEMORY),
        *(() if analysis.max_rates else (MAX_RATE_JSON,)),
        *(() if analysis.store_operations else (OPERATIONS_CSV, OPERATIONS_JSON)),
        *(() if analysis.load_programs else (LOAD_PROGRAMS_CSV,)),
        *(() if analysis.faults else (FAULTS_CSV, FAULTS_JSON)),
        *(() if analysis.server_scalings else (SERVERS_CSV,)),
    )
    made = {name: _MAKE[name](analysis, at_rate) for name in FORMATS[chosen] if name not in left_out}
    return made | ({LONG_CSV: figures_long_csv(analysis)} if long_csv else {})
