"""`ratelimit-bench compare`: compares campaigns, and exits with a code for CI jobs."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from report.base.errors import NOT_DECIDED, REGRESSION, USAGE, ReportError, one_line
from report.base.terminal import parser_of, run_program
from report.compare.comparability import KINDS
from report.compare.comparison_tables import FORMATS
from report.compare.matching import METRICS, compare_sides
from report.compare.selection import CampaignReader, Selection, find_baseline, parse_selection, save_baseline

_PERCENT = re.compile(r"(\d{1,2}(?:\.\d{1,3})?)\s*%?")

_EPILOG = """A side is TARGET (of --campaign), DIR#TARGET, or DIR: every target of that campaign. A word
with a / is a folder. With --baseline NAME give NEW alone, or nothing: then it is all of --campaign.

In a closed loop CPU per request follows from the throughput: --metric cpu concludes at one rate alone.

exit codes: 0 no regression · 2 wrong usage, unlike things, or a file that is not what it should be ·
3 the environment is not fit · 4 writing failed · 6 a regression · 7 not decided"""


def _parser() -> argparse.ArgumentParser:
    about = "Compares targets of a campaign, campaigns, or a campaign with a saved baseline."
    parser = parser_of("ratelimit-bench compare", about, _EPILOG)
    parser.add_argument("sides", nargs="*", metavar="BASE NEW", help="what is compared, see below")
    parser.add_argument("--campaign", metavar="DIR", help="where targets are looked up (OUTPUT/latest)")
    parser.add_argument("--metric", choices=list(METRICS), default="throughput")
    parser.add_argument("--floor", default="2%", help="a difference has to lie beyond it (2%%)")
    fail_on, never = ["regression", "never"], "never: end with 0 whatever was found"
    parser.add_argument("--fail-on", choices=fail_on, default="regression", help=never)
    parser.add_argument("--format", choices=list(FORMATS), default="table")
    parser.add_argument("--baseline", metavar="NAME", help="a saved baseline is the base")
    parser.add_argument("--save-baseline", metavar="NAME", help="save a campaign, compare nothing")
    parser.add_argument("--allow", default="", metavar="LIST", help=f"may differ: {', '.join(KINDS)}")
    parser.add_argument("--output", default="results", metavar="DIR", help="results root (results)")
    return parser


def floor_share(text: str) -> float:
    """`2%` or `2` as 0.02. Raises ReportError for anything else, and above 99 %."""
    found = _PERCENT.fullmatch(text.strip())
    if not found:
        raise ReportError(f"--floor {one_line(text, 40)!r}: give percent, from 0 to 99, e.g. 2%", USAGE)
    return float(found[1]) / 100


def _allowed(text: str) -> frozenset[str]:
    words = frozenset(filter(None, re.split(r"[,\s]+", text)))
    unknown = sorted(words - set(KINDS))
    if unknown:
        raise ReportError(f"--allow {one_line(unknown[0], 40)!r}: give of {', '.join(KINDS)}", USAGE)
    return words


def _sides(options: argparse.Namespace, campaigns: CampaignReader) -> tuple[Selection, Selection]:
    default = _default_campaign(options)
    words = [parse_selection(text, default) for text in options.sides]
    if options.baseline is None:
        if len(words) != 2:
            raise ReportError("give BASE and NEW, or --baseline NAME; see --help", USAGE)
        (base_folder, base_label), (new_folder, new_label) = words
        # `DIR` beside `DIR#TARGET` is the same target of the other campaign.
        base = campaigns.select(base_folder, base_label or new_label)
        return base, campaigns.select(new_folder, new_label or base_label)
    if len(words) > 1:
        raise ReportError("with --baseline give one side at most: it is compared with it", USAGE)
    new_folder, label = words[0] if words else (default, None)
    base_folder = find_baseline(Path(options.output), options.baseline)
    try:
        campaigns.read(base_folder)
    except ReportError as error:
        remedy = f"baseline {options.baseline}: save it again with --save-baseline {options.baseline}"
        raise ReportError([*error.lines, remedy], error.exit_code) from error
    return campaigns.select(base_folder, label), campaigns.select(new_folder, label)


def _default_campaign(options: argparse.Namespace) -> Path:
    return Path(options.campaign) if options.campaign else Path(options.output) / "latest"


def _save(options: argparse.Namespace, campaigns: CampaignReader) -> int:
    if len(options.sides) > 1 or options.baseline is not None:
        raise ReportError("--save-baseline saves one campaign: give its folder, or --campaign", USAGE)
    default = _default_campaign(options)
    folder, label = parse_selection(options.sides[0], default) if options.sides else (default, None)
    if label is not None:
        raise ReportError(f"a baseline is a whole campaign: give a folder, not {one_line(label)}", USAGE)
    campaign, _ = campaigns.read(folder)
    saved = save_baseline(Path(options.output), options.save_baseline, folder.resolve(), campaign)
    print(f"baseline {options.save_baseline}: campaign {one_line(campaign.name)}, in {one_line(saved)}")
    if campaign.manifest is not None and not campaign.manifest["plan"].get("references"):
        note = "it has no reference, so nothing can be decided against it: measure it with --reference auto"
        print(f"baseline {options.save_baseline}: {note}", file=sys.stderr)
    return 0


def _run(options: argparse.Namespace) -> int:
    campaigns = CampaignReader()
    allowed, floor = _allowed(options.allow), floor_share(options.floor)
    if options.save_baseline is not None:
        return _save(options, campaigns)
    base, new = _sides(options, campaigns)
    outcome = compare_sides(base, new, METRICS[options.metric], floor, allowed)
    print(FORMATS[options.format](outcome))
    if options.fail_on == "never":
        return 0
    return {"regression": REGRESSION, "not decided": NOT_DECIDED}.get(outcome.verdict, 0)


def main(arguments: Sequence[str] | None = None) -> int:
    return run_program("compare", lambda: _run(_parser().parse_args(arguments)))
