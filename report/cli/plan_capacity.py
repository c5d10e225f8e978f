"""`ratelimit-bench plan-capacity`: what a rate takes, from measured campaigns."""

import argparse
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from report.analysis.capacity import CapacityPlan, plan_capacity
from report.analysis.role_needs import Demand
from report.analysis.server_numbers import MeasuredTarget, measured_targets
from report.analysis.summary import Summary
from report.base.errors import USAGE, ReportError, one_line
from report.base.format import joined
from report.base.terminal import run_program
from report.compare.comparability import machine_differences, machine_of
from report.compare.selection import CampaignReader
from report.export.capacity import capacity_json, capacity_markdown
from report.results.model import Campaign
from report.sections.capacity import capacity_lines

LATEST = "results/latest"
MAX_RATE = 100_000_000
#: From 90 % on a CPU counts as used up.
MIN_UTILISATION, MAX_UTILISATION = 10, 90

#: Versions that the runs of one target share.
_VERSIONS = ("node", "client", "limiter", "store")

Format = Callable[[Sequence[CapacityPlan], Demand, Sequence[str]], str]

FORMATS: dict[str, Format] = {
    "text": lambda plans, demand, names: "\n".join(
        one_line(line, 1000) for line in capacity_lines(plans, demand, names)
    ),
    "markdown": capacity_markdown,
    "json": capacity_json,
}

_EPILOG = """exit codes: 0 done · 2 wrong usage, no run that counts, or a file that is not what it should be ·
3 the environment is not fit · 4 writing failed"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ratelimit-bench plan-capacity",
        description="Says how many load generators, servers and store nodes a rate takes.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--rate", required=True, metavar="N", help="requests per second")
    parser.add_argument(
        "--from", dest="campaigns", action="append", metavar="DIR", help=f"a campaign; repeatable ({LATEST})"
    )
    parser.add_argument(
        "--utilisation", default="70", metavar="PERCENT", help="of its CPU that a role may use (70)"
    )
    parser.add_argument("--format", choices=list(FORMATS), default="text")
    return parser


def _whole(flag: str, text: str, least: int, most: int) -> int:
    number = int(text) if re.fullmatch(r"[0-9]{1,12}", text) else -1
    if not least <= number <= most:
        raise ReportError(
            f"{flag} {one_line(text, 40)!r}: give a whole number from {least:,} to {most:,}", USAGE
        )
    return number


def _demand(options: argparse.Namespace) -> Demand:
    percent = options.utilisation.strip().removesuffix("%").strip()
    return Demand(
        _whole("--rate", options.rate.strip(), 1, MAX_RATE),
        _whole("--utilisation", percent, MIN_UTILISATION, MAX_UTILISATION) / 100,
    )


def _require_one_machine(campaigns: Sequence[Campaign]) -> None:
    """What one machine type measured says nothing about another."""
    for one, other in pairwise(campaigns):
        names = f"{one_line(one.name)} and {one_line(other.name)}"
        first, second = machine_of(one), machine_of(other)
        if first is None or second is None:
            raise ReportError(
                f"{names}: one of them has no manifest, so that its machine is not known; plan from one "
                "campaign",
                USAGE,
            )
        differences = machine_differences(first, second)
        if differences:
            raise ReportError(
                f"{names} were measured on machines of two types ({'; '.join(differences)}): plan from "
                "campaigns of one type",
                USAGE,
            )


def _require_one_version(target: MeasuredTarget) -> None:
    runs = [run for number in target.numbers for run in number.runs]
    for part in _VERSIONS:
        found = sorted({run.versions[part] for run in runs if part in run.versions})
        if len(found) > 1:
            raise ReportError(
                f"{one_line(target.summary.identity.label)} ran with several versions of its {part} "
                f"({', '.join(map(one_line, found))}): plan from campaigns of one version",
                USAGE,
            )


def _measured(names: Sequence[str], summaries: Sequence[Summary]) -> None:
    """Raises ReportError unless there is a run to plan from."""
    where = joined([one_line(name) for name in names])
    remedy = "measure with `ratelimit-bench run --clients TARGETS --servers 1,2,4`"
    targets = measured_targets(summaries)
    if not targets:
        layers = sorted({row.identity.layer for row in summaries if not row.identity.servers})
        found = f" (it has the {joined(layers)} layer)" if layers else ""
        raise ReportError(
            f"{where} measured no target in a closed loop at the server layer{found}: {remedy}", USAGE
        )
    if not any(target.numbers for target in targets):
        raise ReportError(f"{where} has no run that counts: {remedy}", USAGE)
    for target in targets:
        _require_one_version(target)


def _run(options: argparse.Namespace) -> int:
    demand = _demand(options)
    folders = [Path(folder) for folder in options.campaigns or [LATEST]]
    reader = CampaignReader()
    read = [reader.read(folder) for folder in folders]
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise ReportError("a campaign is named twice: it says nothing more the second time", USAGE)
    campaigns = [campaign for campaign, _ in read]
    names = [campaign.name for campaign in campaigns]
    _require_one_machine(campaigns)
    summaries = [row for _, rows in read for row in rows]
    _measured(names, summaries)
    print(FORMATS[options.format](plan_capacity(summaries, demand), demand, names))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program. Returns its exit code, see `--help`."""
    return run_program("plan-capacity", lambda: _run(_parser().parse_args(arguments)))
