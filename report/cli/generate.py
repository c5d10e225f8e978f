"""Builds the report of one campaign, or of several."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from report.analysis.campaign_analysis import Analysis, analyse
from report.analysis.frames import Frames
from report.base.contract import CONSTANTS
from report.base.errors import USAGE, one_line
from report.base.files import json_text, write_all
from report.base.terminal import run_program
from report.campaigns.build import build_report, extract_median_runs, results_root
from report.cli.command_line import command_parser
from report.export import topics
from report.export.action_benchmark import bigger_is_better, smaller_is_better
from report.export.images import images
from report.export.summary_json import summary_document
from report.export.summary_markdown import summary_markdown
from report.export.tables_csv import figures_long_csv, runs_csv, summary_csv
from report.html.page import render_page
from report.results.load import load_campaign
from report.results.model import Campaign
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


def report_files(analysis: Analysis, chosen: str, long_csv: bool = False) -> dict[str, str]:
    """The files of a format with their texts, the first one first."""
    rows, operations, faults = analysis.summaries, analysis.store_operations, analysis.faults
    tables = Frames(analysis)
    make: dict[str, Callable[[], str]] = {
        PAGE: lambda: render_page(analysis),
        "summary.csv": lambda: summary_csv(tables),
        "runs.csv": lambda: runs_csv(tables),
        "summary.md": lambda: summary_markdown(analysis),
        "summary.json": lambda: json_text(summary_document(analysis, PAGE)),
        "benchmark-bigger-is-better.json": lambda: json_text(bigger_is_better(rows)),
        "benchmark-smaller-is-better.json": lambda: json_text(smaller_is_better(rows)),
    }
    if operations:
        make["store-operations.csv"] = lambda: topics.operations_csv(operations)
        make["store-operations.json"] = lambda: json_text(topics.operation_documents(operations))
    if analysis.load_programs:
        make["load-programs.csv"] = lambda: topics.load_programs_csv(analysis.load_programs)
    if analysis.server_scalings:
        make["servers.csv"] = lambda: topics.servers_csv(analysis.server_scalings)
    if analysis.max_rates:
        command, found = (analysis.campaign.manifest or {}).get("command"), analysis.max_rates
        searched = {"command": command, "found": list(map(max_rate_document, found))}
        make["max-rate.json"] = lambda: json_text(searched, indent=2)
    if faults:
        make["faults.csv"] = lambda: topics.faults_csv(faults)
        make["faults.json"] = lambda: json_text(topics.fault_documents(faults))
    if analysis.memory:
        make["memory.csv"] = lambda: topics.memory_csv(analysis.memory)
        make["memory.json"] = lambda: json_text(topics.memory_document(analysis))
    made = {name: write() for name, write in make.items() if name.endswith(FORMATS[chosen])}
    ordered = [row.id for row in analysis.ordered]
    return made | ({"figures.csv": figures_long_csv(tables, ordered)} if long_csv else {})


_LATEST = f"{CONSTANTS['results_root']}/{CONSTANTS['latest']}"

#: In the original this is HTML with CSV, as `html` is here.
_BOTH = "both"


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("generate_report.py", "report", also={"output-format": (_BOTH,)})
    folder = f"a campaign's folder or a link to it (default: {_LATEST})"
    parser.add_argument("campaign", metavar="DIR", nargs="?", help=folder)
    several = parser.add_argument_group("several campaigns")
    root = "all campaigns in this folder side by side, e.g. ./results (default: those beside DIR)"
    several.add_argument("--compare-runs", metavar="ROOT", nargs="?", const=True, help=root)
    copied = "the selected run of each configuration of all campaigns beside DIR"
    medians = f"copy {copied} into a new folder, and report that"
    several.add_argument("--extract-median", action="store_true", help=medians)
    return parser


def _notes(campaign: Campaign) -> list[str]:
    notes = [
        f"{one_line(name)}: ignored, an interrupted write left it behind"
        for name in campaign.ignored
    ]
    if campaign.manifest is None:
        notes.append("manifest.json: there is none; the report cannot name the machine or the plan")
    return [*notes, *(f"generate_report: {entry}: excluded" for entry in campaign.excluded)]


def _report_campaign(folder: Path, output_format: str, options: argparse.Namespace) -> int:
    campaign = load_campaign(folder, keep_going=options.keep_going)
    for line in _notes(campaign):
        print(line, file=sys.stderr)
    analysis = analyse(campaign)
    files = report_files(analysis, output_format, options.csv == "long")
    write_all(folder / "report", files)
    if options.images:
        pictures, left_out = images(analysis)
        if left_out:
            print(f"images: {left_out} cells are left out, there are too many", file=sys.stderr)
        write_all(folder / "report" / "images", pictures)
    page = str(folder / "report" / (PAGE if PAGE in files else next(iter(files))))
    document = options.summary_json and json.dumps(
        summary_document(analysis, page), ensure_ascii=False
    )
    print(document or page)
    return USAGE if campaign.excluded else 0


def _check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    if options.campaign is not None and options.compare_runs not in (None, True):
        parser.error("give either a campaign's folder or --compare-runs ROOT")
    if options.extract_median and options.compare_runs is not None:
        parser.error("give either --extract-median or --compare-runs")
    if options.compare_runs is None:
        for flag in ("include_trends", "baseline"):
            if getattr(options, flag):
                parser.error(f"--{flag.replace('_', '-')} needs --compare-runs ROOT")
    elif options.summary_json or options.images:
        parser.error("--summary-json and --images are for a single campaign")


def _run(arguments: Sequence[str] | None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    _check(parser, options)
    output_format = "html" if options.output_format == _BOTH else options.output_format
    beside = options.campaign or _LATEST
    if options.compare_runs is not None:
        return build_report(
            results_root(Path(beside))
            if options.compare_runs is True
            else Path(options.compare_runs),
            trends=options.include_trends,
            baseline=options.baseline,
            form=output_format,
            keep_going=options.keep_going,
        )
    folder = (
        extract_median_runs(Path(beside), options.keep_going) if options.extract_median else beside
    )
    return _report_campaign(Path(os.path.realpath(folder)), output_format, options)


def main(arguments: Sequence[str] | None = None) -> int:
    return run_program("generate_report", lambda: _run(arguments))
