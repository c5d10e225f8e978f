"""What must hold for every client's configuration, as asked with `--threshold`, and whether it
does."""

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

#: What a threshold can come out as: it held, it was missed, or there is no figure to hold it
#: against.
HELD = "held"
MISSED = "missed"
NO_FIGURE = "no figure"

_COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}

#: Shares come out of divisions: a value on the edge of its tolerance is within it.
_SLACK = 1e-9

#: Any other metric is a percentile.
_METRICS: Mapping[str, tuple[Figure, Show]] = {
    "throughput": (throughput, lambda value: f"{rate(value)}/s"),
    "limited_share": (limited_share, share),
    "cpu": (consumer_cpu, lambda value: f"{microseconds(value)} µs"),
}


#: Those that another load would change.
_METRIC = re.compile(r"cpu|p\d+")


class Judgement(Struct, frozen=True):
    summary: Summary
    threshold: str
    """The text as it was asked, e.g. `p99<10ms`."""
    value: float | None
    """Requests/s, milliseconds, a share of 0 to 1, or CPU µs per request of what calls the
    limiter."""
    status: str
    value_text: str
    """With its unit; where there is no value, why, or its bounds."""


def _error_share(summary: Summary) -> float | None:
    """Failed of all requests that were sent, 0 to 1 (M9), over all measured runs, also the invalid
    ones: a failure in any of them happened."""
    measured = [run.measured for run in summary.runs if run.measured]
    sent = sum(figures.record.counts.sent for figures in measured)
    return sum(figures.record.totalErrors for figures in measured) / sent if sent else None


def _unmet(found: FigureSummary, summary: Summary, show: Show) -> str:
    """Why a threshold without a value is missed all the same: the target typically failed its load,
    or failed requests could move the percentile. Empty where there is no such reason."""
    if found.spoiled:
        return summary.spoiled_text
    return found.text(show) if found.bounds else ""


def _judged(threshold: Mapping[str, Any], summary: Summary) -> Judgement:
    metric = threshold["metric"]
    asked = threshold["value"]
    figure, show = _METRICS.get(
        metric, (percentile(metric), lambda value: f"{milliseconds(value)} ms")
    )
    if metric == "errors":
        value = _error_share(summary)
        show = share
        unmet = ""
    else:
        found = summary.figure_of(figure)
        value = found.value
        unmet = _unmet(found, summary, show)
    if value is None:
        status = MISSED if unmet else NO_FIGURE
    elif threshold["op"] == "=":
        status = HELD if abs(value - asked) <= threshold["tolerance"] + _SLACK else MISSED
    else:
        status = HELD if _COMPARISONS[threshold["op"]](value, asked) else MISSED
    return Judgement(summary, threshold["text"], value, status, unmet or show(value))


def judgements(analysis: Analysis) -> list[Judgement]:
    """Every threshold of the campaign on every configuration of a client; controls, and a reference
    that nobody asked for, are never judged."""
    manifest = analysis.campaign.manifest or {}
    asked = manifest.get("thresholds", [])
    added = bool(asked) and manifest["plan"].get("reference_added", False)
    clients = [
        row for row in analysis.summaries if not (row.identity.control or (added and row.reference))
    ]
    return [_judged(threshold, summary) for summary in clients for threshold in asked]


def threshold_documents(analysis: Analysis) -> list[dict[str, Any]]:
    return [
        {
            "configuration_hash": each.summary.identity.configuration_hash,
            "label": each.summary.identity.label,
            **{
                name: getattr(each, name) for name in ("threshold", "value", "value_text", "status")
            },
        }
        for each in judgements(analysis)
    ]


def _measured_text(judged: Judgement) -> str:
    """`48.0 µs at full load`: a threshold on cost or latency holds for the load of its row."""
    metric = _METRIC.match(judged.threshold)
    summary = judged.summary
    if judged.value is None or summary.identity.open_loop or not metric:
        return judged.value_text
    group = "" if metric[0] == "cpu" else f", {summary.group_text}"
    return f"{judged.value_text} {AT_FULL_LOAD}{group}"


def thresholds(analysis: Analysis) -> Section | None:
    place = {summary.id: index for index, summary in enumerate(analysis.ordered)}
    judged = sorted(
        judgements(analysis), key=lambda each: (each.status == HELD, place[each.summary.id])
    )
    if not judged:
        return None
    rows = []
    for each in judged:
        identity = each.summary.identity
        cells = (
            *named(identity.label, load_text(identity), each.threshold),
            number(_measured_text(each), each.value),
            TableCell(each.status, kind="" if each.status == HELD else "verdict invalid"),
        )
        rows.append(TableRow(each.summary.id, cells))
    missed = sum(each.status != HELD for each in judged)
    count = plural(len(judged), "threshold")
    answer = f"{missed} of {count} not held." if missed else f"All {len(judged)} held."
    columns = (*words("Target", "Load", "Asked"), Column("Measured"), *words("Result"))
    table = table_of("threshold-rows", columns, rows)
    return Section(
        "thresholds", "Thresholds", answer, text=(TEXT,), tables=(table,), open=bool(missed)
    )
