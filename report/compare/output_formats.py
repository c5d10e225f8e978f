"""A comparison as a table for terminals, as Markdown, and as JSON."""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from report.analysis.figures import figure_text
from report.analysis.summary import Summary
from report.analysis.texts import interval_text, load_text, runs_text, varying_fields
from report.base.format import ABSENT, decimals, plural
from report.compare.comparability import together_text
from report.compare.matching import Compared, Metric, Outcome
from report.export.conclusions import comparison_document

SCHEMA = "ratelimit-bench/comparison"
SCHEMA_VERSION = 2

_HEADINGS = (
    *("base", "new", "load", "base median run", "new median run"),
    *("ratio", "95 % interval", "p (Holm)", "new is"),
)
_NUMBERS = range(3, 8)


def _figure_text(metric: Metric, row: Summary, runs: int) -> str:
    if row.figures is None:
        return row.spoiled_text or ABSENT
    return f"{figure_text(row.figures, metric.read, metric.show)} ({plural(runs, 'run')})"


def _ratio_text(value: float) -> str:
    """Three decimals, fewer where the ratio is large: no digits that mean nothing."""
    return decimals(value, 3 if value < 10 else 1 if value < 1000 else 0)


def _p_text(p: float | None) -> str:
    return ABSENT if p is None else "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def _rows(outcome: Outcome) -> list[tuple[str, ...]]:
    fields = varying_fields([row.new for row in outcome.rows])
    return [
        (
            row.base.identity.label,
            row.new.identity.label,
            load_text(row.new.identity, fields),
            _figure_text(outcome.metric, row.base, len(row.base_values)),
            _figure_text(outcome.metric, row.new, len(row.new_values)),
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
    """Why it is not decided and what that would take; what the runs could find."""
    found, detectable = row.comparison, row.comparison.detectable
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
    columns = [
        (index, column)
        for index, column in enumerate(zip(_HEADINGS, *_rows(outcome), strict=True))
        if not set(column[1:]) <= {"", ABSENT}
    ]
    padded = []
    for index, column in columns:
        width = max(map(len, column))
        padded.append([text.rjust(width) if index in _NUMBERS else text.ljust(width) for text in column])
    lines = ["  ".join(cells).rstrip() for cells in zip(*padded, strict=True)]
    notes = [f"- {text}" for text in _notes(outcome)]
    return "\n".join([*_head(outcome), "", *lines, *(["", *notes] if notes else []), "", outcome.verdict])


def _markdown(text: str) -> str:
    for character in "\\`*_{}[]<>#|~":
        text = text.replace(character, f"\\{character}")
    return text


def as_markdown(outcome: Outcome) -> str:
    title, floor = map(_markdown, _head(outcome))
    rules = ["---:" if index in _NUMBERS else "---" for index in range(len(_HEADINGS))]
    rows = [_HEADINGS, rules, *(map(_markdown, row) for row in _rows(outcome))]
    notes = [f"- {_markdown(text)}" for text in _notes(outcome)]
    table = [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join(
        [f"**{outcome.verdict}**: {title}; {floor}", "", *table, *(["", *notes] if notes else [])]
    )


def _side(metric: Metric, row: Summary, values: Sequence[float]) -> dict[str, Any]:
    return {
        "label": row.identity.label,
        "runs": len(values),
        "median": metric.read(row.figures) if row.figures else None,
        "values": [value if 0 < value < math.inf else None for value in values],
    }


def _document(outcome: Outcome) -> dict[str, Any]:
    """The comparison as plain data; ratios are new ÷ base, values in the metric's unit in order of
    time, null for a run that failed its load, or that has no upper bound."""
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
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
                "base": _side(outcome.metric, row.base, row.base_values),
                "new": _side(outcome.metric, row.new, row.new_values),
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


def as_json(outcome: Outcome) -> str:
    return json.dumps(_document(outcome), ensure_ascii=False, indent=2)
