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
    # A damaged file stops the report at the end. Until then the campaign goes on without it.
    campaign = load_campaign(Path(options.campaign), keep_going=True, series=False)
    summaries = [_looked_at(row, options.round, is_last=options.end) for row in summarize(campaign)]
    decision = adaptive_of(analysis_of(campaign, summaries))
    if decision is None:
        raise ReportError("this campaign has a fixed number of runs", USAGE)
    print(json.dumps(adaptive_document(decision), ensure_ascii=False))
    return 0


def _looked_at(row: Summary, last_round: int, is_last: bool) -> Summary:
    """The row as it is after this round. The manifest on disk does not contain the look yet."""
    schedule = row.look_schedule
    if not schedule:
        return row
    ended = last_round if is_last else None
    return replace(row, last_look=last_round, look_schedule=replace(schedule, ended=ended))


def main(arguments: Sequence[str] | None = None) -> int:
    return run_program("decide-rounds", lambda: _run(_parser().parse_args(arguments)))
