"""Judges the thresholds that `--threshold` sets for the configurations of all clients."""

import operator
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from report.analysis.campaign_analysis import Analysis
from report.analysis.figures import (
    Figure,
    FigureSummary,
    consumer_cpu,
    limited_share,
    percentile,
    throughput,
)
from report.analysis.summary import Summary
from report.analysis.texts import AT_FULL_LOAD, load_text
from report.base.format import Show, microseconds, milliseconds, plural, rate, share
from report.sections.section import (
    Column,
    Section,
    TableCell,
    TableRow,
    named,
    number,
    table_of,
    words,
)

TEXT = (
    "They are judged by what a row prints, the median over its runs, and errors by all runs together. "
    "Controls are not judged."
)

#: The statuses of a threshold. It has no figure where its metric was not measured.
HELD = "held"
MISSED = "missed"
NO_FIGURE = "no figure"

_COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}

#: Shares are quotients, so a value on the edge of its tolerance needs this slack to count as
#: within.
_SLACK = 1e-9

#: The figure and form of each metric. Any other metric but `errors` is a percentile.
_METRICS: Mapping[str, tuple[Figure, Show]] = {
    "throughput": (throughput, lambda value: f"{rate(value)}/s"),
    "limited_share": (limited_share, share),
    "cpu": (consumer_cpu, lambda value: f"{microseconds(value)} µs"),
}


#: Matches the metrics that another load would change.
_METRIC = re.compile(r"cpu|p\d+")


class Judgement(Struct, frozen=True):
    summary: Summary
    threshold: str
    """The text of the threshold, for example `p99<10ms`."""
    value: float | None
    """Requests/s, milliseconds, a share of 0 to 1, or CPU µs per request of what calls the
    limiter."""
    status: str
    value_text: str
    """The value with its unit. Without a value, it is the reason or the bounds."""


def _error_share(summary: Summary) -> float | None:
    """The share of all sent requests that failed, from 0 to 1 (M9); None where none was sent.

    It covers all measured runs. Invalid runs count too, because their failures happened."""
    measured = [run.measured for run in summary.runs if run.measured]
    sent = sum(figures.record.counts.sent for figures in measured)
    return sum(figures.record.totalErrors for figures in measured) / sent if sent else None


def _unmet(figure_summary: FigureSummary, summary: Summary, show: Show) -> str:
    """Why a threshold without a value is missed all the same; empty where there is no such reason.

    The target typically failed its load, or failed requests could move the percentile."""
    if figure_summary.spoiled:
        return summary.spoiled_text
    return figure_summary.text(show) if figure_summary.bounds else ""


def _judged(threshold: Mapping[str, Any], summary: Summary) -> Judgement:
    metric = threshold["metric"]
    asked_value = threshold["value"]
    figure, show = _METRICS.get(
        metric, (percentile(metric), lambda value: f"{milliseconds(value)} ms")
    )
    if metric == "errors":
        value = _error_share(summary)
        show = share
        unmet = ""
    else:
        figure_summary = summary.figure_of(figure)
        value = figure_summary.value
        unmet = _unmet(figure_summary, summary, show)
    if value is None:
        status = MISSED if unmet else NO_FIGURE
    elif threshold["op"] == "=":
        status = HELD if abs(value - asked_value) <= threshold["tolerance"] + _SLACK else MISSED
    else:
        status = HELD if _COMPARISONS[threshold["op"]](value, asked_value) else MISSED
    return Judgement(summary, threshold["text"], value, status, unmet or show(value))


def judgements(analysis: Analysis) -> list[Judgement]:
    """Judges every threshold of the campaign on every configuration of a client.

    Controls, and a reference that the plan added, are never judged."""
    manifest = analysis.campaign.manifest or {}
    asked_thresholds = manifest.get("thresholds", [])
    is_reference_added = bool(asked_thresholds) and manifest["plan"].get("reference_added", False)
    clients = [
        row
        for row in analysis.summaries
        if not (row.identity.control or (is_reference_added and row.reference))
    ]
    return [_judged(threshold, summary) for summary in clients for threshold in asked_thresholds]


def threshold_documents(analysis: Analysis) -> list[dict[str, Any]]:
    return [
        {
            "configuration_hash": judgement.summary.identity.configuration_hash,
            "label": judgement.summary.identity.label,
            **{
                name: getattr(judgement, name)
                for name in ("threshold", "value", "value_text", "status")
            },
        }
        for judgement in judgements(analysis)
    ]


def _measured_text(judged: Judgement) -> str:
    """The value with its load, such as `48.0 µs at full load`, because a threshold on cost or
    latency holds for the load of its row."""
    metric = _METRIC.match(judged.threshold)
    summary = judged.summary
    if judged.value is None or summary.identity.open_loop or not metric:
        return judged.value_text
    group = "" if metric[0] == "cpu" else f", {summary.group_text}"
    return f"{judged.value_text} {AT_FULL_LOAD}{group}"


def thresholds(analysis: Analysis) -> Section | None:
    place = {summary.id: index for index, summary in enumerate(analysis.ordered)}
    ordered_judgements = sorted(
        judgements(analysis),
        key=lambda judgement: (judgement.status == HELD, place[judgement.summary.id]),
    )
    if not ordered_judgements:
        return None
    rows = []
    for judgement in ordered_judgements:
        identity = judgement.summary.identity
        cells = (
            *named(identity.label, load_text(identity), judgement.threshold),
            number(_measured_text(judgement), judgement.value),
            TableCell(judgement.status, kind="" if judgement.status == HELD else "verdict invalid"),
        )
        rows.append(TableRow(judgement.summary.id, cells))
    missed = sum(judgement.status != HELD for judgement in ordered_judgements)
    count = plural(len(ordered_judgements), "threshold")
    answer = f"{missed} of {count} not held." if missed else f"All {len(ordered_judgements)} held."
    columns = (*words("Target", "Load", "Asked"), Column("Measured"), *words("Result"))
    table = table_of("threshold-rows", columns, rows)
    return Section(
        "thresholds", "Thresholds", answer, text=(TEXT,), tables=(table,), open=bool(missed)
    )
