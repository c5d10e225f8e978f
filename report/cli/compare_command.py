"""`ratelimit-bench compare`: compares campaigns, and exits with a code for CI jobs."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from report.base.contract import CONSTANTS
from report.base.errors import NOT_DECIDED, REGRESSION, USAGE, ReportError, one_line
from report.base.files import write_file
from report.base.terminal import run_program
from report.cli.command_line import command_parser
from report.compare.comparability import KINDS
from report.compare.compare_sides import compare_sides, with_gate
from report.compare.comparison_cases import comparison_cases
from report.compare.comparison_metrics import METRICS
from report.compare.comparison_tables import FORMATS
from report.compare.selection import (
    CampaignReader,
    Selection,
    find_baseline,
    parse_selection,
    save_baseline,
)
from report.export.junit import junit_text
from report.results.load import load_audit

_PERCENT = re.compile(r"(\d{1,2}(?:\.\d{1,3})?)\s*%?")


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("ratelimit-bench compare", "compare")
    parser.add_argument("sides", nargs="*", metavar="BASE NEW", help="what is compared, see below")
    return parser


def percent_share(flag: str, text: str) -> float:
    """The share of 1 that a flag names in percent: 0.02 for `2%` or `2`.

    Raises ReportError for other texts, and from 100 % on."""
    match = _PERCENT.fullmatch(text.strip())
    if not match:
        raise ReportError(
            f"{flag} {one_line(text, 40)!r}: give percent, from 0 to 99, e.g. 2%", USAGE
        )
    return float(match[1]) / 100


def _tolerated(options: argparse.Namespace, margin: float) -> float | None:
    """The loss that a gate tolerates, as a share of 1. None without a gate."""
    if options.tolerate is None:
        if options.audit is not None:
            raise ReportError("--audit: give --tolerate, too, e.g. --tolerate 10%", USAGE)
        return None
    if options.metric != "throughput":
        raise ReportError("--tolerate judges throughput and CPU: leave --metric out", USAGE)
    tolerated = percent_share("--tolerate", options.tolerate)
    if tolerated <= margin:
        remedy = f"give more than the margin of {100 * margin:g} %, or a smaller --margin"
        raise ReportError(f"--tolerate {one_line(options.tolerate, 40)}: {remedy}", USAGE)
    return tolerated


def _allowed(text: str) -> frozenset[str]:
    words = frozenset(filter(None, re.split(r"[,\s]+", text)))
    unknown = sorted(words - set(KINDS))
    if unknown:
        raise ReportError(
            f"--allow {one_line(unknown[0], 40)!r}: give of {', '.join(KINDS)}", USAGE
        )
    return words


def _sides(options: argparse.Namespace, campaigns: CampaignReader) -> tuple[Selection, Selection]:
    default = _default_campaign(options)
    sides = [parse_selection(text, default) for text in options.sides]
    if options.baseline is None:
        if len(sides) != 2:
            raise ReportError("give BASE and NEW, or --baseline NAME; see --help", USAGE)
        (base_folder, base_label), (new_folder, new_label) = sides
        # When one side is `DIR#TARGET` and the other `DIR`, both name the same target.
        base = campaigns.select(base_folder, base_label or new_label)
        return base, campaigns.select(new_folder, new_label or base_label)

    if len(sides) > 1:
        raise ReportError("with --baseline give one side at most: it is compared with it", USAGE)
    new_folder, label = sides[0] if sides else (default, None)
    base_folder = find_baseline(Path(options.output), options.baseline)
    try:
        campaigns.read(base_folder)
    except ReportError as error:
        remedy = (
            f"baseline {options.baseline}: save it again with --save-baseline {options.baseline}"
        )
        raise ReportError([*error.lines, remedy], error.exit_code) from error
    return campaigns.select(base_folder, label), campaigns.select(new_folder, label)


def _default_campaign(options: argparse.Namespace) -> Path:
    return (
        Path(options.campaign) if options.campaign else Path(options.output) / CONSTANTS["latest"]
    )


def _save(options: argparse.Namespace, campaigns: CampaignReader) -> int:
    if len(options.sides) > 1 or options.baseline is not None:
        raise ReportError(
            "--save-baseline saves one campaign: give its folder, or --campaign", USAGE
        )
    default = _default_campaign(options)
    folder, label = parse_selection(options.sides[0], default) if options.sides else (default, None)
    if label is not None:
        raise ReportError(
            f"a baseline is a whole campaign: give a folder, not {one_line(label)}", USAGE
        )
    campaign, _ = campaigns.read(folder)
    saved = save_baseline(Path(options.output), options.save_baseline, folder.resolve(), campaign)
    print(
        f"baseline {options.save_baseline}: campaign {one_line(campaign.name)}, in {one_line(saved)}"
    )
    if campaign.manifest is not None and not any(
        ranking.reference for ranking in campaign.rankings
    ):
        note = "it has no reference, so nothing can be decided against it: measure it with --reference auto"
        print(f"baseline {options.save_baseline}: {note}", file=sys.stderr)
    return 0


def _run(options: argparse.Namespace) -> int:
    campaigns = CampaignReader()
    allowed = _allowed(options.allow or "")
    margin = None if options.margin is None else percent_share("--margin", options.margin)
    if options.save_baseline is not None:
        return _save(options, campaigns)
    base, new = _sides(options, campaigns)
    if margin is None:
        margin = new.campaign.margin
    tolerated = _tolerated(options, margin)
    outcome = compare_sides(base, new, METRICS[options.metric], margin, allowed)
    if tolerated is not None:
        audit = load_audit(Path(options.audit)) if options.audit is not None else None
        outcome = with_gate(outcome, tolerated, audit)
    if options.junit is not None:
        write_file(Path(options.junit), junit_text("compare", comparison_cases(outcome)))
    print(FORMATS[options.format](outcome))

    if options.fail_on == "never":
        return 0
    codes = {"regression": REGRESSION, "fails": REGRESSION, "not decided": NOT_DECIDED}
    return codes.get(outcome.verdict, 0)


def main(arguments: Sequence[str] | None = None) -> int:
    return run_program("compare", lambda: _run(_parser().parse_args(arguments)))
