"""Decides which configurations need more runs after a round: JSON for the orchestrator."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from report.analysis.campaign_analysis import analysis_of
from report.analysis.summary import Summary, summarize
from report.base.errors import USAGE, ReportError
from report.base.terminal import run_program
from report.results.load import load_campaign
from report.sections.adaptive import adaptive_document, adaptive_of


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="report decide-rounds", description=__doc__)
    parser.add_argument("campaign", help="its folder")
    parser.add_argument("--round", type=int, required=True, help="the last one that was made")
    parser.add_argument("--end", action="store_true", help="there will be none after it")
    return parser


def _run(options: argparse.Namespace) -> int:
    # A file that is damaged stops the report; until then the others go on without it.
    campaign = load_campaign(Path(options.campaign), keep_going=True, series=False)
    made, ended = options.round, options.round if options.end else None

    def looked(row: Summary) -> Summary:
        schedule = row.look_schedule
        return (
            replace(row, last_look=made, look_schedule=replace(schedule, ended=ended))
            if schedule
            else row
        )

    found = adaptive_of(analysis_of(campaign, list(map(looked, summarize(campaign)))))
    if found is None:
        raise ReportError("this campaign has a fixed number of runs", USAGE)
    print(json.dumps(adaptive_document(found), ensure_ascii=False))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    return run_program("decide-rounds", lambda: _run(_parser().parse_args(arguments)))
