"""Shows a comparison on the console, as Markdown and as JSON. Both tables have the same columns."""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from msgspec import Struct

from report.analysis import column
from report.analysis.column import Column
from report.analysis.figures import throughput
from report.analysis.frames import table as frame_of
from report.analysis.shared_limits import shared_limits
from report.analysis.summary import Summary
from report.analysis.texts import LoadField, interval_text, load_text, runs_text, varying_fields
from report.base.format import ABSENT, decimals, plural
from report.base.markdown import prose, table
from report.compare.comparability import together_text
from report.compare.compare_sides import Outcome
from report.compare.comparison_metrics import Metric
from report.compare.gate_text import gate_document, gate_lines, gate_markdown
from report.compare.matched_rows import RowComparison
from report.export.comparison_document import comparison_document
from report.sections.ranking_text import although_suspect, limited_throughput


class _Line(Struct, frozen=True):
    """Two compared rows, which are one line of the table."""

    row_comparison: RowComparison
    fields: tuple[LoadField, ...]
    """The fields in which the loads of the table's lines differ."""


def _figure_text(metric: Metric, row: Summary, runs: int) -> str:
    if not row.has_figures:
        return row.spoiled_text or ABSENT
    figure = row.figure_of(metric.read)
    range_and_runs = filter(None, (figure.range_text(metric.show), plural(runs, "run")))
    return f"{figure.text(metric.show)} ({', '.join(range_and_runs)})"


def _base_median(line: _Line) -> str:
    pair = line.row_comparison.matched
    return _figure_text(pair.metric, pair.base, len(pair.values(pair.base)))


def _new_median(line: _Line) -> str:
    pair = line.row_comparison.matched
    return _figure_text(pair.metric, pair.new, len(pair.values(pair.new)))


def _shown_ratio(value: float) -> str:
    """The ratio with three decimals, or fewer where it is large and they would mean nothing."""
    if value < 10:
        return decimals(value, 3)
    return decimals(value, 1 if value < 1000 else 0)


def _ratio(line: _Line) -> str:
    ratio = line.row_comparison.comparison.ratio
    return ABSENT if ratio is None else f"{_shown_ratio(ratio)}×"


def _interval(line: _Line) -> str:
    interval = line.row_comparison.comparison.interval
    return (interval_text(interval, _shown_ratio) if interval else "") or ABSENT


def _corrected_p(line: _Line) -> str:
    corrected = line.row_comparison.comparison.p_holm
    if corrected is None:
        return ABSENT
    return "<0.0001" if corrected < 0.0001 else f"{corrected:.4f}"


_TEXTS: Mapping[str, Column] = {
    "base": column.text(lambda line: line.row_comparison.matched.base.identity.label),
    "new": column.text(lambda line: line.row_comparison.matched.new.identity.label),
    "load": column.text(
        # Lines of one load name it whole.
        lambda line: load_text(line.row_comparison.matched.new.identity, line.fields or None)
    ),
}
_FIGURES: Mapping[str, Column] = {
    "base median": column.text(_base_median),
    "new median": column.text(_new_median),
    "ratio": column.text(_ratio),
    "95 % interval": column.text(_interval),
    "p (Holm)": column.text(_corrected_p),
}
_COLUMNS: Mapping[str, Column] = {
    **_TEXTS,
    **_FIGURES,
    "new is": column.text(lambda line: line.row_comparison.comparison.statement),
}


def _lines(outcome: Outcome) -> pd.DataFrame:
    fields = varying_fields(
        [row_comparison.matched.new for row_comparison in outcome.row_comparisons]
    )
    return frame_of(
        _COLUMNS, [_Line(row_comparison, fields) for row_comparison in outcome.row_comparisons]
    )


def _percent_text(share: float) -> str:
    """A share in percent and never with an exponent: `2 %`, `0.51 %`, `more than 100 %`."""
    if share > 1:
        return "more than 100 %"
    percent = 100 * share
    return f"{percent:.3g} %" if percent >= 0.001 else "0 %"


def _remarks(row_comparison: RowComparison) -> Iterator[str]:
    """Says why a pair is not decided and what would decide it, which difference the runs could
    find, and what to keep in mind with a conclusion or a throughput."""
    pair = row_comparison.matched
    comparison = row_comparison.comparison
    conclusion = comparison.conclusion
    detectable = comparison.detectable
    closed_throughput = pair.metric.read is throughput and not pair.new.identity.open_loop
    is_paired = comparison.pairs is not None
    if closed_throughput and (resources := shared_limits(pair.new, pair.base, is_paired)):
        yield limited_throughput(resources)
    if comparison.concluded and (although := although_suspect(pair.rows)):
        yield f"{conclusion}{although}"

    unsteady = detectable is not None and detectable > 1
    if not pair.concludes:
        yield f"{conclusion}: {comparison.reason}"
    elif not comparison.concluded and unsteady:
        yield (
            f"{conclusion}: these runs are too unsteady to compare, even a figure twice as high could "
            "be missed; stop other work on this machine and measure again"
        )
    elif not comparison.concluded:
        is_final = comparison.blocked or comparison.status == "not comparable"
        yield f"{conclusion}: {comparison.reason}{'' if is_final else f'; {runs_text(comparison)}'}"

    if detectable is not None and not unsteady and not comparison.shown:
        share = _percent_text(detectable)
        yield f"with so many runs, four of five comparisons find a difference of {share} or more"


def _notes(outcome: Outcome) -> list[str]:
    texts = [text for row_comparison in outcome.row_comparisons for text in row_comparison.differs]
    if any(
        {"client", "script"} <= set(row_comparison.matched.parts)
        for row_comparison in outcome.row_comparisons
    ):
        texts.append("to compare the clients alone, measure both with +same-script")
    labels_by_remark: dict[str, list[str]] = {}
    for row_comparison in outcome.row_comparisons:
        for text in _remarks(row_comparison):
            labels_by_remark.setdefault(text, []).append(row_comparison.matched.new.identity.label)
    texts += [
        f"{', '.join(dict.fromkeys(labels))}: {text}" for text, labels in labels_by_remark.items()
    ]
    return [*dict.fromkeys(texts), *outcome.notes]


#: The parts of a target that may be packages of their own.
_VERSIONED_PARTS = ("client", "limiter")


def _version_notes(outcome: Outcome) -> Iterator[str]:
    """The versions of client and limiter of each compared row: `ioredis-base@valkey: client
    5.6.1`."""
    pairs = [row_comparison.matched for row_comparison in outcome.row_comparisons]
    versions: dict[tuple[str, str], set[str]] = {}
    for row in (row for pair in pairs for row in (pair.base, pair.new)):
        for run in row.runs:
            for part in _VERSIONED_PARTS:
                if part in run.versions:
                    versions.setdefault((row.identity.label, part), set()).add(run.versions[part])
    for (label, part), versions_of_part in versions.items():
        yield f"{label}: {part} {', '.join(sorted(versions_of_part))}"


def _head(outcome: Outcome) -> tuple[str, str]:
    direction = "higher" if outcome.metric.read.higher_is_better else "lower"
    return (
        f"{_sides(outcome)}: {outcome.metric.text}, {direction} is better",
        f"margin ±{_percent_text(outcome.margin)}: less does not matter",
    )


def _padded(name: str, cells: Sequence[str]) -> list[str]:
    """The heading and the cells of a column, padded to one width. Figures are right-aligned."""
    texts = [name, *cells]
    width = max(map(len, texts))
    return [text.rjust(width) if name in _FIGURES else text.ljust(width) for text in texts]


def _sides(outcome: Outcome) -> str:
    return f"{outcome.new.text} against {outcome.base.text}"


def as_table(outcome: Outcome) -> str:
    """The comparison for the console, without columns that are empty in every line. A gate has a
    table of its own."""
    if outcome.gate:
        gate = gate_lines(outcome.gate, outcome.promises, outcome.verdict)
        return "\n".join([*gate, *(f"- {text}" for text in outcome.notes), "", _sides(outcome)])

    lines = _lines(outcome)
    empty = lines.isin(["", ABSENT]).all()
    columns = [_padded(str(name), list(lines[name])) for name in lines.columns[~empty]]
    notes = [f"- {text}" for text in _notes(outcome)]
    return "\n".join(
        [
            *_head(outcome),
            "",
            *("  ".join(cells).rstrip() for cells in zip(*columns, strict=True)),
            *(["", *notes] if notes else []),
            "",
            outcome.verdict,
        ]
    )


def as_markdown(outcome: Outcome) -> str:
    versions = [f"- {prose(text)}" for text in _version_notes(outcome)]
    if outcome.gate:
        gate = gate_markdown(outcome.gate, outcome.promises, outcome.verdict)
        notes = [f"- {prose(text)}" for text in outcome.notes]
        return "\n".join([*gate, *versions, *notes, "", prose(_sides(outcome))])

    title, margin = map(prose, _head(outcome))
    rows = [[prose(text) for text in cells] for cells in _lines(outcome).itertuples(index=False)]
    notes = [*versions, *(f"- {prose(text)}" for text in _notes(outcome))]
    return "\n".join(
        [
            f"**{outcome.verdict}**: {title}; {margin}",
            "",
            *table(list(_COLUMNS), rows, len(_TEXTS)),
            *(["", *notes] if notes else []),
        ]
    )


def _side(metric: Metric, row: Summary, values: Sequence[float]) -> dict[str, Any]:
    figure = row.figure_of(metric.read)
    return {
        "label": row.identity.label,
        "runs": len(values),
        "median": figure.value,
        "min": figure.low,
        "max": figure.high,
        "values": [value if 0 < value < math.inf else None for value in values],
    }


def _comparison(row_comparison: RowComparison) -> dict[str, Any]:
    pair = row_comparison.matched
    return {
        "load": load_text(pair.new.identity),
        "topology": pair.new.identity.topology,
        "base": _side(pair.metric, pair.base, pair.values(pair.base)),
        "new": _side(pair.metric, pair.new, pair.values(pair.new)),
        **comparison_document(row_comparison.comparison),
        "differs": list(row_comparison.differs),
        "compared": together_text(pair.parts),
        "compared_parts": list(pair.parts),
        "reference": pair.reference,
    }


def as_json(outcome: Outcome) -> str:
    """The comparison as JSON. Ratios are new ÷ base. Values are in the unit of the metric and in
    order of time, with null for a run that failed its load or has no upper bound."""
    document = {
        "schema": "ratelimit-bench/comparison",
        "schema_version": 4,
        "verdict": outcome.verdict,
        "metric": outcome.metric.id,
        "metric_text": outcome.metric.text,
        "higher_is_better": outcome.metric.read.higher_is_better,
        "margin_percent": 100 * outcome.margin,
        "base": {"campaign": outcome.base.campaign.name, "label": outcome.base.label},
        "new": {"campaign": outcome.new.campaign.name, "label": outcome.new.label},
        "comparisons": [_comparison(row_comparison) for row_comparison in outcome.row_comparisons],
        "notes": list(outcome.notes),
    }
    if outcome.gate:
        document["gate"] = gate_document(outcome.gate, outcome.promises, outcome.verdict)
    return json.dumps(document, ensure_ascii=False, indent=2)


FORMATS: Mapping[str, Callable[[Outcome], str]] = {
    "table": as_table,
    "md": as_markdown,
    "json": as_json,
}
