"""The command line: which campaign, and what to say about it."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path

from .errors import INTERRUPTED, ReportError, one_line
from .export import summary_csv, summary_document
from .files import write_all
from .load import load_campaign
from .render import render_page
from .summarize import summarize
from .thresholds import judgements

_EPILOG = """exit codes: 0 done · 2 wrong usage, or a file that is not what it should be · 3 the environment
is not fit (tools missing, folder unwritable) · 4 writing failed"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="generate_report.py",
        description="Builds report/index.html and report/summary.csv of a campaign.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "campaign", metavar="DIR", help="a campaign's folder or a link to it, e.g. results/latest"
    )
    parser.add_argument(
        "--summary-json",
        action="store_true",
        help="print one JSON document with the figures instead of the path",
    )
    return parser


def build(folder: Path) -> tuple[str, str, dict[str, object]]:
    """Everything the report of a campaign consists of, before anything is written.

    Returns:
        The page, the CSV, and the summary document.
    Raises:
        ReportError: the campaign cannot be reported; nothing was changed.
    """
    campaign = load_campaign(folder)
    for name in campaign.ignored:
        print(f"{one_line(name)}: ignored, an interrupted write left it behind", file=sys.stderr)
    if campaign.manifest is None:
        print("manifest.json: there is none; the report cannot name the machine or the plan", file=sys.stderr)
    summaries = summarize(campaign)
    page = str(folder / "report" / "index.html")
    return (
        render_page(campaign, summaries),
        summary_csv(summaries),
        summary_document(campaign.name, summaries, judgements(campaign, summaries), page),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program.

    Returns:
        Its exit code, see `--help`.
    """
    for stream, errors in ((sys.stdout, "surrogateescape"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors)
    options = _parser().parse_args(arguments)
    try:
        folder = Path(os.path.realpath(options.campaign))
        page, table, summary = build(folder)
        write_all(folder / "report", {"index.html": page, "summary.csv": table})
    except ReportError as error:
        for line in error.lines:
            print(f"generate_report: {line}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    print(json.dumps(summary, ensure_ascii=False) if options.summary_json else summary["report"])
    return 0
