"""`ratelimit-bench noise`: what comparisons of a target with itself show, on this host."""

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from report.analysis.load_text import load_text
from report.analysis.summary import Summary
from report.base.errors import ENVIRONMENT, USAGE, ReportError, one_line
from report.base.files import write_all
from report.base.terminal import run_program
from report.compare.comparability import machine_of, runtime_of
from report.compare.metrics import METRICS, values_of
from report.compare.noise_floor import (
    MAX_NOISE,
    NOISE_FOLDER,
    NOISE_SCHEMA,
    NOISE_SCHEMA_VERSION,
    percent_text,
)
from report.compare.selection import CampaignReader, Selection
from report.statistics.noise import MIN_RUNS_FOR_NOISE, Noise, noise_of

_EPILOG = """exit codes: 0 done · 2 wrong usage, too few runs, or a file that is not what it should be ·
3 the environment is not fit · 4 writing failed"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="report noise",
        description="Compares the runs of one configuration with each other, as if they were of two targets.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("campaign", metavar="DIR")
    parser.add_argument("--target", metavar="TARGET", help="of a campaign with several")
    parser.add_argument("--output", default="results", metavar="DIR", help="results root (results)")
    parser.add_argument("--format", choices=["table", "json"], default="table")
    return parser


def _configuration(side: Selection) -> Summary:
    enough = [row for row in side.summaries if row.counted_runs >= MIN_RUNS_FOR_NOISE]
    if len(enough) == 1 and enough[0].spoiled_runs:
        raise ReportError(
            f"{one_line(enough[0].identity.label)} {enough[0].spoiled_text}: noise is of runs that served it",
            USAGE,
        )
    if len(enough) == 1:
        return enough[0]
    if not enough:
        raise ReportError(
            f"no configuration of {one_line(side.text)} has {MIN_RUNS_FOR_NOISE} runs that count: measure "
            "with `ratelimit-bench noise TARGET`",
            USAGE,
        )
    names = "; ".join(f"{row.identity.label}, {load_text(row.identity)}" for row in enough)
    raise ReportError(f"{one_line(side.text)} has several configurations ({names}): name one --target", USAGE)


def noise_document(side: Selection, summary: Summary) -> dict[str, Any]:
    """What is saved: by metric, where every run has it, with where and on what it was measured."""
    metrics = {}
    for metric in METRICS.values():
        values = values_of(summary, metric)
        if len(values) == summary.counted_runs and min(values) > 0 and max(values) < math.inf:
            metrics[metric.id] = asdict(noise_of(values))
    manifest = side.campaign.manifest
    return {
        "schema": NOISE_SCHEMA,
        "schema_version": NOISE_SCHEMA_VERSION,
        "campaign": side.campaign.name,
        "measured_at": manifest["started_at"] if manifest else "",
        "label": summary.identity.label,
        "load": load_text(summary.identity),
        "machine": machine_of(side.campaign),
        "runtime": runtime_of(summary),
        "metrics": metrics,
        "warnings": list(summary.warnings),
    }


def _sentences(name: str, noise: Noise) -> list[str]:
    """What the runs show by one metric. The last line warns where nothing can be compared here."""
    runs = "more than 1000" if noise.runs_for_5_percent is None else f"about {noise.runs_for_5_percent}"
    detectable = (
        "none"
        if noise.detectable is None
        else percent_text(noise.detectable) + ("" if noise.detectable > 1 else " or more")
    )
    unsteady = (
        "  too unsteady to compare anything: chance or drift alone moves this figure by half and more. "
        "Stop other work on this machine, then measure again"
    )
    return [
        f"{name}: {noise.runs} runs, standard deviation {percent_text(noise.deviation)}",
        f"  found to differ from itself: in {percent_text(noise.flagged_share)} of {noise.comparisons} "
        f"interleaved comparisons of {noise.per_side} runs per side (by the test alone, without the floor of "
        f"2 %: in {percent_text(noise.rejected_share)}),",
        f"  and in {noise.separate_flagged} of {noise.separate} comparisons of 5 runs per side that share "
        "no run",
        f"  noise floor: {percent_text(noise.noise_floor)} either way (chance "
        f"{percent_text(noise.chance)}; the second half of the runs differs from the first by "
        f"{percent_text(noise.drift)})",
        f"  difference that {noise.per_side} runs per side find: {detectable}; "
        f"a difference of 5 % takes {runs} runs per side",
        *([unsteady] if noise.noise_floor >= MAX_NOISE else []),
    ]


def _run(options: argparse.Namespace) -> int:
    side = CampaignReader().select(Path(options.campaign), options.target)
    summary = _configuration(side)
    found = noise_document(side, summary)
    text = json.dumps(found, ensure_ascii=False, indent=2)
    folder = Path(options.output) / NOISE_FOLDER
    if not folder.parent.is_dir():
        raise ReportError(f"{one_line(folder.parent)} is not a folder: give --output DIR", ENVIRONMENT)
    name = f"{side.folder.name}-{summary.id}.json"
    write_all(folder, {name: f"{text}\n"})
    if options.format == "json":
        print(text)
        return 0
    print(f"{summary.identity.label} against itself, {found['load']}")
    for metric, figures in found["metrics"].items():
        for line in _sentences(metric, Noise(**figures)):
            print(line)
    for warning in found["warnings"]:
        print(f"warning: {warning}")
    print(f"saved for `compare` in {one_line(folder / name)}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program. Returns its exit code, see `--help`."""
    return run_program("noise", lambda: _run(_parser().parse_args(arguments)))
