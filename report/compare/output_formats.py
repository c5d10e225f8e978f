"""A comparison as a table for terminals, as Markdown, and as JSON."""

import json
import math
from collections.abc import Sequence
from typing import Any

from report.analysis.comparison_text import interval_text, runs_text
from report.analysis.figures import figure_text
from report.analysis.load_text import load_text, varying_fields
from report.analysis.summary import Summary
from report.base.format import ABSENT, decimals, plural
from report.compare.comparability import together_text
from report.compare.matching import Compared, Outcome
from report.export.conclusions import comparison_document
from report.statistics.decision import Comparison

SCHEMA = "ratelimit-bench/comparison"
SCHEMA_VERSION = 2

_HEADINGS = (
    "base",
    "new",
    "load",
    "base median run",
    "new median run",
    "ratio",
    "95 % interval",
    "p (Holm)",
    "new is",
)
_NUMBERS = range(3, 8)


def _figure(outcome: Outcome, summary: Summary) -> float | None:
    return outcome.metric.read(summary.figures) if summary.figures else None


def _figure_text(outcome: Outcome, summary: Summary, runs: int) -> str:
    figures = summary.figures
    text = (
        figure_text(figures, outcome.metric.read, outcome.metric.show)
        if figures
        else summary.spoiled_text or ABSENT
    )
    return f"{text} ({plural(runs, 'run')})" if figures else text


def _ratio_text(value: float) -> str:
    """Three decimals, fewer where the ratio is large: no digits that mean nothing."""
    return decimals(value, 3 if value < 10 else 1 if value < 1000 else 0)


def _p_text(comparison: Comparison) -> str:
    if comparison.p_holm is None:
        return ABSENT
    return "< 0.0001" if comparison.p_holm < 0.0001 else f"{comparison.p_holm:.4f}"


def _cells(outcome: Outcome, row: Compared, load: str) -> tuple[str, ...]:
    comparison = row.comparison
    interval = comparison.interval
    return (
        row.base.identity.label,
        row.new.identity.label,
        load,
        _figure_text(outcome, row.base, len(row.base_values)),
        _figure_text(outcome, row.new, len(row.new_values)),
        ABSENT if comparison.ratio is None else f"{_ratio_text(comparison.ratio)}×",
        (interval_text(interval, _ratio_text) if interval else "") or ABSENT,
        _p_text(comparison),
        comparison.status,
    )


def percent_text(share: float) -> str:
    """`2 %`, `0.51 %`, `more than 100 %`: never with an exponent."""
    if share > 1:
        return "more than 100 %"
    percent = 100 * share
    return f"{percent:.3g} %" if percent >= 0.001 else "0 %"


def _rows(outcome: Outcome) -> list[tuple[str, ...]]:
    fields = varying_fields([row.new for row in outcome.rows])
    return [_cells(outcome, row, load_text(row.new.identity, fields)) for row in outcome.rows]


def _undecided(row: Compared) -> str:
    comparison = row.comparison
    if not row.concludes:
        return f"{comparison.status}: {comparison.reason}"
    if comparison.decided:
        return ""
    if _misses_twice_as_much(row):
        return (
            f"{comparison.status}: these runs are too unsteady to compare, even a figure twice as high could "
            "be missed; stop other work on this machine and measure again"
        )
    more = not (comparison.blocked or comparison.status == "not comparable")
    takes = f"; {runs_text(comparison)}" if more else ""
    return f"{comparison.status}: {comparison.reason}{takes}"


def _misses_twice_as_much(row: Compared) -> bool:
    return row.comparison.detectable is not None and row.comparison.detectable > 1


def _found_by_so_many_runs(row: Compared) -> str:
    detectable = row.comparison.detectable
    if detectable is None or _misses_twice_as_much(row) or row.comparison.status in ("better", "worse"):
        return ""
    return (
        f"with so many runs, four of five comparisons find a difference of {percent_text(detectable)} or more"
    )


def explained(rows: Sequence[Compared]) -> list[str]:
    texts = [text for row in rows for text in row.differs]
    if any({"client", "script"} <= set(row.parts) for row in rows):
        texts.append("to compare the clients alone, measure both with +same-script")
    by_text: dict[str, list[str]] = {}
    for row in rows:
        for text in filter(None, (_undecided(row), _found_by_so_many_runs(row))):
            by_text.setdefault(text, []).append(row.new.identity.label)
    texts += [f"{', '.join(dict.fromkeys(labels))}: {text}" for text, labels in by_text.items()]
    return list(dict.fromkeys(texts))


def _head(outcome: Outcome) -> list[str]:
    direction = "higher" if outcome.metric.higher_is_better else "lower"
    return [
        f"{outcome.new.text} against {outcome.base.text}: {outcome.metric.text}, {direction} is better",
        f"a difference counts only beyond ±{percent_text(outcome.floor)}",
    ]


def _notes(outcome: Outcome) -> list[str]:
    return [*explained(outcome.rows), *outcome.notes]


def as_table(outcome: Outcome) -> str:
    rows = [_HEADINGS, *_rows(outcome)]
    columns = [
        index for index in range(len(_HEADINGS)) if any(row[index] not in ("", ABSENT) for row in rows[1:])
    ]
    widths = {index: max(len(row[index]) for row in rows) for index in columns}
    lines = [
        "  ".join(
            row[index].rjust(widths[index]) if index in _NUMBERS else row[index].ljust(widths[index])
            for index in columns
        ).rstrip()
        for row in rows
    ]
    notes = [f"- {text}" for text in _notes(outcome)]
    return "\n".join([*_head(outcome), "", *lines, *(["", *notes] if notes else []), "", outcome.verdict])


def _markdown(text: str) -> str:
    for character in "\\`*_{}[]<>#|~":
        text = text.replace(character, f"\\{character}")
    return text


def as_markdown(outcome: Outcome) -> str:
    title, floor = _head(outcome)
    rules = ["---:" if index in _NUMBERS else "---" for index in range(len(_HEADINGS))]
    table = [
        f"| {' | '.join(cells)} |"
        for cells in (
            _HEADINGS,
            tuple(rules),
            *(tuple(_markdown(cell) for cell in row) for row in _rows(outcome)),
        )
    ]
    notes = [f"- {_markdown(text)}" for text in _notes(outcome)]
    return "\n".join(
        [f"**{outcome.verdict}**: {_markdown(title)}; {_markdown(floor)}", "", *table]
        + (["", *notes] if notes else [])
    )


def _side(summary_values: Sequence[float], label: str, unit_median: float | None) -> dict[str, Any]:
    return {
        "label": label,
        "runs": len(summary_values),
        "median": unit_median,
        "values": [value if 0 < value < math.inf else None for value in summary_values],
    }


def document(outcome: Outcome) -> dict[str, Any]:
    """The comparison as plain data; ratios are new ÷ base, values in the metric's unit in order of
    time, null for a run that failed its load, or that has no upper bound."""
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "verdict": outcome.verdict,
        "metric": outcome.metric.id,
        "metric_text": outcome.metric.text,
        "higher_is_better": outcome.metric.higher_is_better,
        "floor_percent": 100 * outcome.floor,
        "base": {"campaign": outcome.base.campaign.name, "label": outcome.base.label},
        "new": {"campaign": outcome.new.campaign.name, "label": outcome.new.label},
        "comparisons": [
            {
                "load": load_text(row.new.identity),
                "topology": row.new.identity.topology,
                "base": _side(row.base_values, row.base.identity.label, _figure(outcome, row.base)),
                "new": _side(row.new_values, row.new.identity.label, _figure(outcome, row.new)),
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
    return json.dumps(document(outcome), ensure_ascii=False, indent=2)
