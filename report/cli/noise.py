"""`ratelimit-bench noise`: what comparisons of a target with itself show on this host, within a campaign and
between repeated ones."""

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from report.analysis.load_text import load_text
from report.analysis.summary import Summary
from report.base.errors import USAGE, ReportError, one_line
from report.base.format import joined, plural
from report.base.terminal import run_program
from report.compare.comparability import machine_of, runtime_of
from report.compare.metrics import METRICS, values_of
from report.compare.noise_floor import MAX_NOISE, percent_text
from report.compare.repeated_campaigns import MIN_RUNS, RepeatedCampaigns, remember
from report.compare.selection import CampaignReader, Selection
from report.statistics.noise import MIN_RUNS_FOR_NOISE, Noise, noise_of
from report.statistics.variance_components import MIN_CAMPAIGNS, VarianceComponents

NOISE_SCHEMA = "ratelimit-bench/noise"
#: History: 1 — the runs of one campaign; 2 — and repeated campaigns, in place of a floor from one.
NOISE_SCHEMA_VERSION = 2

_EPILOG = """exit codes: 0 done · 2 wrong usage, too few runs, or a file that is not what it should be ·
3 the environment is not fit · 4 writing failed"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="report noise",
        description="Compares one configuration with itself: its runs of one campaign, and of several.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("campaigns", metavar="DIR", nargs="+")
    parser.add_argument("--target", metavar="TARGET", help="of a campaign with several")
    parser.add_argument("--format", choices=["table", "json"], default="table")
    return parser


def _configuration(side: Selection) -> Summary:
    enough = [row for row in side.summaries if row.counted_runs >= MIN_RUNS]
    if len(enough) == 1 and enough[0].spoiled_runs:
        raise ReportError(
            f"{one_line(enough[0].identity.label)} {enough[0].spoiled_text}: noise is of runs that served it",
            USAGE,
        )
    if len(enough) == 1:
        return enough[0]
    if not enough:
        raise ReportError(
            f"no configuration of {one_line(side.text)} has {MIN_RUNS} runs that count: measure "
            "with `ratelimit-bench noise TARGET`",
            USAGE,
        )
    names = "; ".join(f"{row.identity.label}, {load_text(row.identity)}" for row in enough)
    raise ReportError(f"{one_line(side.text)} has several configurations ({names}): name one --target", USAGE)


def _same_configuration(sides: Sequence[Selection]) -> list[Summary]:
    """One of each campaign. Raises ReportError where they are not of one configuration, or one is named
    twice."""
    rows = [_configuration(side) for side in sides]
    if len({side.folder for side in sides}) < len(sides):
        raise ReportError("a campaign is named twice: it says nothing more the second time", USAGE)
    names = list(dict.fromkeys(f"{row.identity.label}, {load_text(row.identity)}" for row in rows))
    if len({row.identity.key for row in rows}) > 1:
        raise ReportError(f"these campaigns measured different things ({'; '.join(names)})", USAGE)
    return rows


def _within(summary: Summary) -> dict[str, Noise]:
    """By metric, where every run has it; empty with too few runs."""
    if summary.counted_runs < MIN_RUNS_FOR_NOISE:
        return {}
    found = {metric.id: values_of(summary, metric) for metric in METRICS.values()}
    return {
        name: noise_of(values)
        for name, values in found.items()
        if len(values) == summary.counted_runs and min(values) > 0 and max(values) < math.inf
    }


def noise_document(side: Selection, summary: Summary, repeated: RepeatedCampaigns) -> dict[str, Any]:
    """What is known, by metric: within the newest campaign that was given, and between all of its kind."""
    return {
        "schema": NOISE_SCHEMA,
        "schema_version": NOISE_SCHEMA_VERSION,
        "campaign": side.campaign.name,
        "label": summary.identity.label,
        "load": load_text(summary.identity),
        "machine": machine_of(side.campaign),
        "runtime": runtime_of(summary),
        "within": {name: asdict(found) for name, found in _within(summary).items()},
        "between": {
            "campaigns": list(repeated.names),
            "needed": MIN_CAMPAIGNS,
            "metrics": {name: asdict(found) for name, found in repeated.metrics.items()},
        },
        "warnings": list(summary.warnings),
    }


def _between_text(found: VarianceComponents) -> str:
    unsteady = "; too unsteady to compare campaigns at all" if found.apart >= MAX_NOISE else ""
    return (
        f"two campaigns differ by up to {percent_text(found.apart)} in 95 % of cases (standard deviation "
        f"between campaigns {percent_text(found.between)}, of the runs within one "
        f"{percent_text(found.within)}; {found.campaigns} campaigns, {plural(found.runs, 'run')}){unsteady}"
    )


def _between_lines(repeated: RepeatedCampaigns, label: str) -> list[str]:
    count = plural(len(repeated.names), "campaign")
    if not repeated.metrics:
        return [
            f"between campaigns: not known: {count} of the {MIN_CAMPAIGNS} that it takes "
            f"({joined([one_line(name) for name in repeated.names])}); measure more with `noise "
            f"{one_line(label)} --campaigns {MIN_CAMPAIGNS}`, best of all on several days"
        ]
    return [
        f"between campaigns, the floor of `compare` for this load on this host ({count}):",
        *(f"  {name}: {_between_text(found)}" for name, found in repeated.metrics.items()),
    ]


def _sentences(name: str, noise: Noise) -> list[str]:
    """What the runs show by one metric. The last line warns where nothing can be compared here."""
    runs = "more than 1000" if noise.runs_for_5_percent is None else f"about {noise.runs_for_5_percent}"
    detectable = (
        "none"
        if noise.detectable is None
        else percent_text(noise.detectable) + ("" if noise.detectable > 1 else " or more")
    )
    unsteady = (
        "  too unsteady to compare anything: chance alone moves this figure by half and more. "
        "Stop other work on this machine, then measure again"
    )
    return [
        f"{name}: {noise.runs} runs, standard deviation {percent_text(noise.deviation)}",
        f"  found to differ from itself: in {percent_text(noise.flagged_share)} of {noise.comparisons} "
        f"interleaved comparisons of {noise.per_side} runs per side (by the test alone, without the floor of "
        f"2 %: in {percent_text(noise.rejected_share)}),",
        f"  and in {noise.separate_flagged} of {noise.separate} comparisons of 5 runs per side that share "
        "no run",
        f"  interleaved comparisons are off by up to {percent_text(noise.chance)} in 95 % of cases; the "
        f"second half of the runs differs from the first by {percent_text(noise.drift)}, which interleaving "
        "keeps out",
        f"  difference that {noise.per_side} runs per side find: {detectable}; "
        f"a difference of 5 % takes {runs} runs per side",
        *([unsteady] if noise.chance >= MAX_NOISE else []),
    ]


def _run(options: argparse.Namespace) -> int:
    reader = CampaignReader()
    sides = [reader.select(Path(folder), options.target) for folder in options.campaigns]
    rows = _same_configuration(sides)
    for side, row in zip(sides, rows, strict=True):
        repeated = remember(side.campaign, row)
    side, summary = sides[-1], rows[-1]
    document = noise_document(side, summary, repeated)
    if options.format == "json":
        print(json.dumps(document, ensure_ascii=False, indent=2))
        return 0
    print(f"{summary.identity.label} against itself, {document['load']}")
    for line in _between_lines(repeated, summary.identity.label):
        print(line)
    if document["within"]:
        print(f"within campaign {one_line(side.campaign.name)}, as interleaved targets:")
    for metric, figures in document["within"].items():
        for line in _sentences(metric, Noise(**figures)):
            print(line)
    for warning in document["warnings"]:
        print(f"warning: {warning}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program. Returns its exit code, see `--help`."""
    return run_program("noise", lambda: _run(_parser().parse_args(arguments)))
