"""Builds the report of one campaign, or of several."""

import argparse
import gc
import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from report.analysis.campaign_analysis import Analysis, analyse
from report.base.contract import CONSTANTS
from report.base.errors import USAGE, ReportError, one_line
from report.base.files import write_all, write_file
from report.base.terminal import run_program
from report.campaigns.build import build_report, extract_median_runs, results_root
from report.cli.command_line import command_parser
from report.export.images import images
from report.export.junit import junit_text, threshold_cases
from report.export.summary_json import summary_document
from report.outputs.campaign_files import PAGE, campaign_files
from report.results.load import load_campaign
from report.results.model import Campaign
from report.sections.load_curve_text import rate_text, sizing_lines, sizings

_LATEST = f"{CONSTANTS['results_root']}/{CONSTANTS['latest']}"

#: The format of the original for HTML with CSV, which `html` stands for here.
_BOTH = "both"


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("generate_report.py", "report", also={"output-format": (_BOTH,)})
    parser.add_argument(
        "campaign",
        metavar="DIR",
        nargs="?",
        help=f"a campaign's folder or a link to it (default: {_LATEST})",
    )

    several = parser.add_argument_group("several campaigns")
    several.add_argument(
        "--compare-runs",
        metavar="ROOT",
        nargs="?",
        const=True,
        help="all campaigns in this folder side by side, e.g. ./results (default: those beside DIR)",
    )
    several.add_argument(
        "--extract-median",
        action="store_true",
        help="copy the selected run of each configuration of all campaigns beside DIR into a new "
        "folder, and report that",
    )
    return parser


def _check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    if options.campaign is not None and options.compare_runs not in (None, True):
        parser.error("give either a campaign's folder or --compare-runs ROOT")
    if options.extract_median and options.compare_runs is not None:
        parser.error("give either --extract-median or --compare-runs")
    if options.compare_runs is None:
        for flag in ("include_trends", "baseline"):
            if getattr(options, flag):
                parser.error(f"--{flag.replace('_', '-')} needs --compare-runs ROOT")
    elif options.summary_json or options.images or options.plan_for or options.junit:
        parser.error("--summary-json, --images, --junit and --plan-for are for a single campaign")
    if options.plan_for is not None and (
        options.summary_json or options.extract_median or options.junit
    ):
        parser.error("--plan-for prints its answer alone: leave out the other flag")


def _planned_rate(text: str) -> float:
    """The rate in `5000/s`, in requests per second."""
    number = text.strip().removesuffix("/s")
    try:
        rate_per_second = float(number)
    except ValueError:
        rate_per_second = math.nan
    if not 0 < rate_per_second < math.inf:
        raise ReportError(f"--plan-for {text[:60]!r}: give requests per second, e.g. 5000/s", USAGE)
    return rate_per_second


def _plan_for(folder: Path, text: str, keep_going: bool) -> int:
    """Prints the cores of each target at a rate. Returns the exit code."""
    rate_per_second = _planned_rate(text)
    curves = analyse(load_campaign(folder, keep_going=keep_going)).load_curves
    if not curves:
        raise ReportError(
            f"{folder.name} has no load curve: measure one with run --load-curve, or with "
            f"run --rates and rates below and above {rate_text(rate_per_second)}",
            USAGE,
        )
    print("\n".join(sizing_lines(curves, rate_per_second)))
    if any(sizing.known for sizing in sizings(curves, rate_per_second)):
        return 0
    asked = rate_text(rate_per_second)
    print(f"measure it: run --rates with rates below and above {asked}", file=sys.stderr)
    return USAGE


def _notes(campaign: Campaign, program: str) -> list[str]:
    notes = [
        f"{one_line(name)}: ignored, an interrupted write left it behind"
        for name in campaign.ignored
    ]
    if campaign.manifest is None:
        notes.append("manifest.json: there is none; the report cannot name the machine or the plan")
    notes += [f"{program}: {entry}: excluded" for entry in campaign.excluded]
    return notes


@contextmanager
def _kept_until_the_end() -> Iterator[None]:
    """Spares what is made inside from garbage collection, which would visit all runs of a campaign
    again and again and free nothing."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _write_junit(path: Path, analysis: Analysis) -> None:
    """Writes what the campaign's thresholds say. Raises ReportError without any."""
    if not (analysis.campaign.manifest or {}).get("thresholds"):
        raise ReportError("--junit: the campaign has no --threshold, so nothing is judged", USAGE)
    write_file(path, junit_text("thresholds", threshold_cases(analysis)))


def _report_campaign(
    folder: Path, output_format: str, options: argparse.Namespace, program: str
) -> int:
    with _kept_until_the_end():
        campaign = load_campaign(folder, keep_going=options.keep_going)
        for line in _notes(campaign, program):
            print(line, file=sys.stderr)
        analysis = analyse(campaign)

    if options.junit is not None:
        _write_junit(Path(options.junit), analysis)

    files = campaign_files(analysis, output_format, options.csv == "long")
    write_all(folder / "report", files)

    if options.images:
        pictures, skipped_cells = images(analysis)
        if skipped_cells:
            print(
                f"images: {skipped_cells} cells are left out, there are too many", file=sys.stderr
            )
        write_all(folder / "report" / "images", pictures)

    first_file = PAGE if PAGE in files else next(iter(files))
    page = str(folder / "report" / first_file)
    if options.summary_json:
        print(json.dumps(summary_document(analysis, page), ensure_ascii=False))
    else:
        print(page)
    return USAGE if campaign.excluded else 0


def _run(arguments: Sequence[str] | None, program: str) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    _check(parser, options)
    output_format = "html" if options.output_format == _BOTH else options.output_format
    folder = Path(options.campaign or _LATEST)

    if options.compare_runs is not None:
        is_default = options.compare_runs is True
        return build_report(
            results_root(folder) if is_default else Path(options.compare_runs),
            trends=options.include_trends,
            baseline=options.baseline,
            form=output_format,
            keep_going=options.keep_going,
            program=program,
        )

    if options.plan_for is not None:
        return _plan_for(Path(os.path.realpath(folder)), options.plan_for, options.keep_going)

    if options.extract_median:
        folder = extract_median_runs(folder, options.keep_going, program)
    return _report_campaign(Path(os.path.realpath(folder)), output_format, options, program)


def main(arguments: Sequence[str] | None = None, program: str = "generate_report") -> int:
    """Builds a report. Lines about failures begin with the name of the program that was called."""
    return run_program(program, lambda: _run(arguments, program))
