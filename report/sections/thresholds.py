"""Judges the thresholds that `--threshold` sets for the configurations of all clients."""

import operator
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from report.analysis.campaign_analysis import Analysis
from report.analysis.figure_summary import FigureSummary
from report.analysis.figures import (
    Figure,
    consumer_cpu,
    cores,
    limited_share,
    percentile,
    throughput,
)
from report.analysis.load_curve import AtRate, Part, TargetCurve, targets_over_rates
from report.analysis.summary import Summary
from report.analysis.texts import AT_FULL_LOAD, load_text
from report.base.format import Show, microseconds, milliseconds, plural, rate, share
from report.base.format import cores as cores_text
from report.sections.load_curve_text import rate_text
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

AT_RATE_TEXT = (
    "One with a rate (@) is judged once for each target, by its load curve: between two measured rates by "
    "interpolation in cores, and beyond them not at all."
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
    **{
        f"{kind}_cores": (cores(kind), lambda value: f"{cores_text(value)} cores")
        for kind in ("server", "store", "service")
    },
}


#: Matches the metrics that another load would change.
_METRIC = re.compile(r"cpu|p\d+|[a-z]+_cores")


class Judgement(Struct, frozen=True):
    summary: Summary
    threshold: str
    """The text of the threshold, for example `p99<10ms`."""
    value: float | None
    """Requests/s, milliseconds, a share of 0 to 1, CPU µs per request of what calls the limiter, or
    CPUs that are kept busy."""
    status: str
    value_text: str
    """The value with its unit. Without a value, it is the reason or the bounds."""
    at_per_second: float | None = None
    """The rate at which it must hold. None if it must hold under the load of the row."""


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
    status = _status(threshold, value, is_unmet=bool(unmet))
    return Judgement(summary, threshold["text"], value, status, unmet or show(value))


def _status(threshold: Mapping[str, Any], value: float | None, *, is_unmet: bool) -> str:
    """`is_unmet` tells whether it is missed although there is no value."""
    asked_value = threshold["value"]
    if value is None:
        return MISSED if is_unmet else NO_FIGURE
    if threshold["op"] == "=":
        return HELD if abs(value - asked_value) <= threshold["tolerance"] + _SLACK else MISSED
    return HELD if _COMPARISONS[threshold["op"]](value, asked_value) else MISSED


def _judged_at_rate(threshold: Mapping[str, Any], target: TargetCurve) -> Judgement:
    """Judges a target at a rate, by its points or between two of them (rule M35)."""
    metric = threshold["metric"]
    rate_per_second = threshold["at_per_second"]
    kind = metric.removesuffix("_cores")
    at_rate = target.at(Part(kind, kind), rate_per_second)
    value = at_rate.estimate.value if at_rate.estimate else None
    _, show = _METRICS[metric]
    return Judgement(
        target.rows[0],
        threshold["text"],
        value,
        _status(threshold, value, is_unmet=at_rate.spoiled),
        _at_rate_text(at_rate, show(value)),
        rate_per_second,
    )


def _at_rate_text(at_rate: AtRate, value_text: str) -> str:
    """The value, with the rates between which it was interpolated, or why there is none."""
    if at_rate.estimate is None:
        return at_rate.reason
    if at_rate.between is None:
        return value_text
    low, high = map(rate_text, at_rate.between)
    return f"{value_text}, interpolated between {low} and {high}"


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
    targets = targets_over_rates(clients)
    under_loads = [entry for entry in asked_thresholds if "at_per_second" not in entry]
    at_rates = [entry for entry in asked_thresholds if "at_per_second" in entry]
    return [
        *(_judged(threshold, summary) for summary in clients for threshold in under_loads),
        *(_judged_at_rate(threshold, target) for target in targets for threshold in at_rates),
    ]


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
    has_rate = summary.identity.open_loop or judged.at_per_second is not None
    if judged.value is None or has_rate or not metric:
        return judged.value_text
    group = f", {summary.group_text}" if metric[0].startswith("p") else ""
    return f"{judged.value_text} {AT_FULL_LOAD}{group}"


def judged_load(judged: Judgement) -> str:
    """The load under which it was judged, such as `open loop 1,000/s`."""
    if judged.at_per_second is None:
        return load_text(judged.summary.identity)
    return f"at {rate_text(judged.at_per_second)}"


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
            *named(identity.label, judged_load(judgement), judgement.threshold),
            number(_measured_text(judgement), judgement.value),
            TableCell(judgement.status, kind="" if judgement.status == HELD else "verdict invalid"),
        )
        rows.append(TableRow(judgement.summary.id, cells))
    missed = sum(judgement.status != HELD for judgement in ordered_judgements)
    count = plural(len(ordered_judgements), "threshold")
    answer = f"{missed} of {count} not held." if missed else f"All {len(ordered_judgements)} held."
    columns = (*words("Target", "Load", "Asked"), Column("Measured"), *words("Result"))
    table = table_of("threshold-rows", columns, rows)
    at_rates = any(judgement.at_per_second is not None for judgement in ordered_judgements)
    text = (TEXT, AT_RATE_TEXT) if at_rates else (TEXT,)
    return Section(
        "thresholds", "Thresholds", answer, text=text, tables=(table,), open=bool(missed)
    )
