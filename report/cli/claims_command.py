"""Published claims and questions against every campaign that measured them: a page of each."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from report.analysis.campaign_analysis import Analysis, analyse
from report.base.contract import CONSTANTS
from report.base.errors import USAGE, ReportError, one_line
from report.base.files import write_all
from report.base.format import plural
from report.base.terminal import run_program
from report.claims.attempts import Attempt, attempts_in
from report.claims.claims_text import claims_markdown, questions_markdown
from report.claims.register import read_register
from report.results.archives import found_campaigns
from report.results.load import load_campaign
from report.results.model import MANIFEST

#: What writes the pages, by their names.
PAGES = {"claims.md": claims_markdown, "questions.md": questions_markdown}


def _campaigns_by_start(results: Path) -> list[tuple[str, Analysis]]:
    """All campaigns below the folder, each with its place, the earliest first.

    Two copies of a campaign are one attempt. Campaigns that cannot be read are named on standard
    error."""
    by_start: dict[str, tuple[str, Analysis]] = {}
    with found_campaigns(results, MANIFEST) as campaigns:
        for place, folder, problem in campaigns:
            try:
                if problem:
                    raise ReportError(problem, USAGE)
                analysis = analyse(load_campaign(folder, keep_going=True, series=False))
            except ReportError as error:
                print(f"claims: left out: {place}: {error.lines[0]}", file=sys.stderr)
                continue
            start = (analysis.campaign.manifest or {}).get("started_at", "")
            by_start[start] = (str(place), analysis)
    return [by_start[start] for start in sorted(by_start)]


def _run(options: argparse.Namespace) -> int:
    results = Path(options.results).resolve()
    register = read_register(Path(options.claims))
    campaigns = _campaigns_by_start(results)
    attempts_of: dict[str, list[Attempt]] = {}
    for claim in register.claims:
        attempts = attempts_of.setdefault(str(claim["id"]), [])
        for place, analysis in campaigns:
            attempts += attempts_in(claim, place, analysis, register.history)

    for name, write in PAGES.items():
        text, row_count = write(register, attempts_of)
        write_all(results, {name: text})
        print(f"{plural(row_count, 'row')} saved in {one_line(results / name, 4096)}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="report claims", description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "--claims", metavar="DIR", default="claims", help="folder of the claims (./claims)"
    )
    parser.add_argument(
        "--results",
        metavar="DIR",
        default=CONSTANTS["results_root"],
        help="of campaigns (./results)",
    )
    return run_program("claims", lambda: _run(parser.parse_args(arguments)))
