"""`ratelimit-bench compare`: compares campaigns, and exits with a code for CI jobs."""

import argparse
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from report.analysis.figures import throughput
from report.analysis.shared_limits import shared_limits
from report.analysis.summary import Summary
from report.analysis.texts import interval_text, load_text, runs_text, varying_fields
from report.base.errors import NOT_DECIDED, REGRESSION, USAGE, ReportError, one_line
from report.base.format import ABSENT, decimals, plural
from report.base.markdown import prose, table
from report.base.terminal import parser_of, run_program
from report.compare.comparability import KINDS, together_text
from report.compare.matching import METRICS, Compared, Metric, Outcome, compare_sides
from report.compare.selection import CampaignReader, Selection, find_baseline, parse_selection, save_baseline
from report.export.topics import comparison_document
from report.sections.verdict_text import although_suspect, limited_throughput

_HEADINGS = (
    *("base", "new", "load", "base median", "new median"),
    *("ratio", "95 % interval", "p (Holm)", "new is"),
)
_NUMBERS = range(3, 8)


def _figure_text(metric: Metric, row: Summary, runs: int) -> str:
    if not row.has_figures:
        return row.spoiled_text or ABSENT
    found = row.figure_of(metric.read)
    beside = filter(None, (found.range_text(metric.show), plural(runs, "run")))
    return f"{found.text(metric.show)} ({', '.join(beside)})"


def _ratio_text(value: float) -> str:
    """Three decimals, fewer where the ratio is large: no digits that mean nothing."""
    return decimals(value, 3 if value < 10 else 1 if value < 1000 else 0)


def _p_text(p: float | None) -> str:
    return ABSENT if p is None else "<0.0001" if p < 0.0001 else f"{p:.4f}"


def _rows(outcome: Outcome) -> list[tuple[str, ...]]:
    fields = varying_fields([row.new for row in outcome.rows])
    return [
        (
            row.base.identity.label,
            row.new.identity.label,
            load_text(row.new.identity, fields),
            _figure_text(outcome.metric, row.base, len(row.values(row.base))),
            _figure_text(outcome.metric, row.new, len(row.values(row.new))),
            ABSENT if found.ratio is None else f"{_ratio_text(found.ratio)}×",
            (interval_text(found.interval, _ratio_text) if found.interval else "") or ABSENT,
            _p_text(found.p_holm),
            found.status,
        )
        for row in outcome.rows
        for found in [row.comparison]
    ]


def _percent_text(share: float) -> str:
    """`2 %`, `0.51 %`, `more than 100 %`: never with an exponent."""
    if share > 1:
        return "more than 100 %"
    percent = 100 * share
    return f"{percent:.3g} %" if percent >= 0.001 else "0 %"


def _remarks(row: Compared) -> Iterator[str]:
    """Why it is not decided and what that would take; what the runs could find; what a conclusion and the
    throughput are to be read with."""
    found, detectable = row.comparison, row.comparison.detectable
    closed_throughput = row.metric.read is throughput and not row.new.identity.open_loop
    if closed_throughput and (resources := shared_limits(row.new, row.base, found.pairs is not None)):
        yield limited_throughput(resources)
    if found.decided and (although := although_suspect((row.base, row.new))):
        yield f"{found.status}{although}"
    unsteady = detectable is not None and detectable > 1
    if not row.concludes:
        yield f"{found.status}: {found.reason}"
    elif not found.decided and unsteady:
        yield (
            f"{found.status}: these runs are too unsteady to compare, even a figure twice as high could "
            "be missed; stop other work on this machine and measure again"
        )
    elif not found.decided:
        final = found.blocked or found.status == "not comparable"
        yield f"{found.status}: {found.reason}{'' if final else f'; {runs_text(found)}'}"
    if detectable is not None and not unsteady and not found.shown:
        share = _percent_text(detectable)
        yield f"with so many runs, four of five comparisons find a difference of {share} or more"


def _notes(outcome: Outcome) -> list[str]:
    texts = [text for row in outcome.rows for text in row.differs]
    if any({"client", "script"} <= set(row.parts) for row in outcome.rows):
        texts.append("to compare the clients alone, measure both with +same-script")
    by_text: dict[str, list[str]] = {}
    for row in outcome.rows:
        for text in _remarks(row):
            by_text.setdefault(text, []).append(row.new.identity.label)
    texts += [f"{', '.join(dict.fromkeys(labels))}: {text}" for text, labels in by_text.items()]
    return [*dict.fromkeys(texts), *outcome.notes]


def _head(outcome: Outcome) -> list[str]:
    direction = "higher" if outcome.metric.read.higher_is_better else "lower"
    return [
        f"{outcome.new.text} against {outcome.base.text}: {outcome.metric.text}, {direction} is better",
        f"a difference counts only beyond ±{_percent_text(outcome.floor)}",
    ]


def as_table(outcome: Outcome) -> str:
    every = enumerate(zip(_HEADINGS, *_rows(outcome), strict=True))
    columns = [(index, column) for index, column in every if not set(column[1:]) <= {"", ABSENT}]
    padded = []
    for index, column in columns:
        width = max(map(len, column))
        padded.append([text.rjust(width) if index in _NUMBERS else text.ljust(width) for text in column])
    lines = ["  ".join(cells).rstrip() for cells in zip(*padded, strict=True)]
    notes = [f"- {text}" for text in _notes(outcome)]
    return "\n".join([*_head(outcome), "", *lines, *(["", *notes] if notes else []), "", outcome.verdict])


def as_markdown(outcome: Outcome) -> str:
    title, floor = map(prose, _head(outcome))
    rows = [[prose(text) for text in row] for row in _rows(outcome)]
    notes = [f"- {prose(text)}" for text in _notes(outcome)]
    head = [f"**{outcome.verdict}**: {title}; {floor}", ""]
    return "\n".join([*head, *table(_HEADINGS, rows, _NUMBERS[0]), *(["", *notes] if notes else [])])


def _side(metric: Metric, row: Summary, values: Sequence[float]) -> dict[str, Any]:
    found = row.figure_of(metric.read)
    return {
        "label": row.identity.label,
        "runs": len(values),
        "median": found.value,
        "min": found.low,
        "max": found.high,
        "values": [value if 0 < value < math.inf else None for value in values],
    }


def as_json(outcome: Outcome) -> str:
    """Ratios are new ÷ base, values in the metric's unit in order of time, null for a run that failed its
    load, or that has no upper bound."""
    document = {
        "schema": "ratelimit-bench/comparison",
        "schema_version": 2,
        "verdict": outcome.verdict,
        "metric": outcome.metric.id,
        "metric_text": outcome.metric.text,
        "higher_is_better": outcome.metric.read.higher_is_better,
        "floor_percent": 100 * outcome.floor,
        "base": {"campaign": outcome.base.campaign.name, "label": outcome.base.label},
        "new": {"campaign": outcome.new.campaign.name, "label": outcome.new.label},
        "comparisons": [
            {
                "load": load_text(row.new.identity),
                "topology": row.new.identity.topology,
                "base": _side(outcome.metric, row.base, row.values(row.base)),
                "new": _side(outcome.metric, row.new, row.values(row.new)),
                **comparison_document(row.comparison),
                "differs": list(row.differs),
                "compared": together_text(row.parts),
                "compared_parts": list(row.parts),
                "reference": row.reference,
            }
            for row in outcome.rows
        ],
        "notes": list(outcome.notes),
    }
    return json.dumps(document, ensure_ascii=False, indent=2)


FORMATS: dict[str, Callable[[Outcome], str]] = {"table": as_table, "md": as_markdown, "json": as_json}

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
    if campaign.manifest is not None and not any(ranking.reference for ranking in campaign.rankings):
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
