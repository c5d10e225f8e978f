"""The words of a gate: its headline, its table and its notes, as Markdown, text and JSON."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from report.analysis.figures import throughput
from report.analysis.gate import Gate, GateRow
from report.analysis.texts import interval_text, load_text
from report.base.format import ABSENT, decimals, joined, microseconds, plural, rate
from report.base.markdown import prose, table
from report.compare.promise_changes import PromiseChange
from report.statistics.conclusions import bounds_text
from report.statistics.gate import PromiseChangeKind

_HEADINGS = ("Figure", "Load", "Base", "Head", "Ratio", "Interval", "Head is", "Loss is bounded")

_PROMISE_WORDS: dict[PromiseChangeKind, str] = {
    "broke": "broke",
    "not checked": "could not be checked",
    "was broken before": "broken in base and head",
    "holds now": "holds now",
}


def _percent(share: float) -> str:
    percent = 100 * abs(share)
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.2g} %"


def _speed(rows: Sequence[GateRow]) -> str:
    """How fast the head is, by the row with the lowest ratio of throughputs."""
    known = [row for row in rows if row.figure is throughput and row.comparison.ratio is not None]
    if not known:
        return ""
    comparison = min(known, key=lambda row: row.comparison.ratio or math.inf).comparison
    if comparison.direction is not None and comparison.ratio is not None:
        return f"{_percent(comparison.ratio - 1)} {comparison.direction_word}"
    if comparison.known_interval is None:
        return comparison.conclusion
    return bounds_text(
        comparison.status,
        comparison.known_interval,
        margin=comparison.margin,
        higher_is_better=comparison.higher_is_better,
    )


def _cpu(rows: Sequence[GateRow]) -> str:
    """How much more CPU the head takes, if that was shown."""
    ratios = [
        row.comparison.ratio
        for row in rows
        if row.figure is not throughput and row.comparison.direction == "worse"
    ]
    highest = max((ratio for ratio in ratios if ratio is not None), default=None)
    return "" if highest is None else f"{_percent(highest - 1)} more CPU per request"


def _checks(changes: Sequence[PromiseChange], kind: PromiseChangeKind) -> str:
    return joined([change.check for change in changes if change.kind == kind])


def headline(gate: Gate, changes: Sequence[PromiseChange]) -> str:
    """What the gate found, in a line: `2 % faster, but window-edge broke`."""
    speed = ", ".join(filter(None, (_speed(gate.rows), _cpu(gate.rows)))) or "nothing to compare"
    if broke := _checks(changes, "broke"):
        return f"{speed}, but {broke} broke"
    if unchecked := _checks(changes, "not checked"):
        return f"{speed}, but {unchecked} could not be checked"
    if now := _checks(changes, "holds now"):
        return f"{speed}, and {now} holds now"
    return speed


def _shown_ratio(value: float) -> str:
    return decimals(value, 3 if value < 10 else 1)


def _figure_text(row: GateRow, is_base: bool) -> str:
    summary = row.base if is_base else row.new
    if not summary.has_figures:
        return summary.spoiled_text or ABSENT
    show = rate if row.figure is throughput else microseconds
    unit = "/s" if row.figure is throughput else "µs"
    return f"{summary.figure_of(row.figure).text(show)} {unit}"


def _cells(row: GateRow) -> list[str]:
    comparison = row.comparison
    interval = interval_text(comparison.interval, _shown_ratio) if comparison.interval else ""
    return [
        row.name,
        load_text(row.new.identity),
        _figure_text(row, is_base=True),
        _figure_text(row, is_base=False),
        ABSENT if comparison.ratio is None else f"{_shown_ratio(comparison.ratio)}×",
        interval or ABSENT,
        comparison.statement,
        "yes" if row.gated.bounded else "no",
    ]


def _notes(gate: Gate, changes: Sequence[PromiseChange]) -> Iterator[str]:
    tolerated = _percent(gate.tolerated)
    yield (
        f"it passes where every loss is bounded below {tolerated}, "
        f"and fails where one beyond {_percent(gate.margin)} was shown"
    )
    if gate.look is not None:
        yield f"judged after round {gate.look}{', the last one' if gate.is_last else ''}"
    for name in gate.missing:
        yield f"{name} is not on record, so it does not count"
    for change in changes:
        yield f"{change.check} {_PROMISE_WORDS[change.kind]}: {change.promise} ({change.text})"
    runs = {row.comparison.per_side for row in gate.rows}
    if not runs or min(runs) == 0:
        yield "a side has no run that counts"
    else:
        yield f"{plural(min(runs), 'pair')} of runs"


def gate_markdown(gate: Gate, changes: Sequence[PromiseChange], verdict: str) -> list[str]:
    rows = [[prose(text) for text in _cells(row)] for row in gate.rows]
    return [
        f"**{verdict}**: {prose(headline(gate, changes))}",
        "",
        *table(list(_HEADINGS), rows, 2),
        "",
        *(f"- {prose(text)}" for text in _notes(gate, changes)),
    ]


def gate_lines(gate: Gate, changes: Sequence[PromiseChange], verdict: str) -> list[str]:
    lines = [_HEADINGS, *map(_cells, gate.rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        f"{verdict}: {headline(gate, changes)}",
        "",
        *(
            "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
            for cells in lines
        ),
        "",
        *(f"- {text}" for text in _notes(gate, changes)),
    ]


def gate_document(gate: Gate, changes: Sequence[PromiseChange], verdict: str) -> dict[str, Any]:
    return {
        "verdict": verdict,
        "headline": headline(gate, changes),
        "tolerate_percent": 100 * gate.tolerated,
        "judged_after_round": gate.look,
        "figures": [
            {
                "figure": row.name,
                "load": load_text(row.new.identity),
                "ratio": row.comparison.ratio,
                "interval": (
                    [row.comparison.interval.low, row.comparison.interval.high]
                    if row.comparison.interval
                    else None
                ),
                "conclusion": row.comparison.conclusion,
                "bounded": row.gated.bounded,
            }
            for row in gate.rows
        ],
        "promises": [
            {"check": change.check, "change": change.kind, "text": change.text}
            for change in changes
        ],
    }
