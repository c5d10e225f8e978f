"""What must hold for every client's configuration, as asked with `--threshold`, and whether it does."""

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from report.analysis.figures import consumer_cpu
from report.analysis.summary import Summary
from report.base import format as text
from report.results.model import Campaign

#: What a threshold can come out as: it held, it was missed, or there is no figure to hold it against.
HELD, MISSED, NO_FIGURE = "held", "missed", "no figure"

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

#: Shares come out of divisions: a value on the edge of its tolerance is within it.
_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Judgement:
    summary: Summary
    threshold: str
    """The text as it was asked, e.g. `p99<10ms`."""
    metric: str
    value: float | None
    """Requests/s, milliseconds, a share of 0 to 1, or CPU µs per request of what calls the limiter."""
    status: str
    value_text: str
    """With its unit; where there is no value, why, or its bounds."""


def _text(metric: str, value: float | None) -> str:
    match metric:
        case "throughput":
            return f"{text.rate(value)}/s"
        case "errors" | "limited_share":
            return text.share(value)
        case "cpu":
            return f"{text.microseconds(value)} µs"
        case _:
            return f"{text.milliseconds(value)} ms"


def error_share(summary: Summary) -> float | None:
    """Failed of all requests that were sent, 0 to 1 (M9), over all measured runs, also the invalid ones."""
    measured = [run.measured for run in summary.runs if run.measured]
    failed = sum(figures.record.totalErrors for figures in measured)
    sent = sum(figures.record.counts.sent for figures in measured)
    return failed / sent if sent else None


def _value(metric: str, summary: Summary) -> float | None:
    """The median run's value; errors of all runs, because a failure in any other run happened too."""
    figures = summary.figures
    if metric == "errors":
        return error_share(summary)
    if figures is None:
        return None
    match metric:
        case "throughput":
            return figures.requests_per_second
        case "limited_share":
            return figures.limited_share
        case "cpu":
            return consumer_cpu(figures)
        case _:
            return figures.percentiles_ms.get(metric)


def _unmet(metric: str, summary: Summary) -> str:
    """Why a threshold without a value is missed all the same: the target failed its load in the median run,
    or failed requests could move the percentile. Empty where there is no such reason."""
    figures = summary.figures
    if figures is None:
        return summary.spoiled_text if summary.median else ""
    known = figures.bounds_ms.get(metric)
    return f"{text.bounds(known.low, known.high, text.milliseconds)} ms" if known else ""


def _judged(threshold: Mapping[str, Any], summary: Summary) -> Judgement:
    metric = threshold["metric"]
    value = _value(metric, summary)
    unmet = _unmet(metric, summary) if value is None else ""
    if value is None:
        status = MISSED if unmet else NO_FIGURE
    elif threshold["op"] == "=":
        deviation = abs(value - threshold["value"])
        status = HELD if deviation <= threshold["tolerance"] + _SLACK else MISSED
    else:
        status = HELD if _COMPARISONS[threshold["op"]](value, threshold["value"]) else MISSED
    return Judgement(summary, threshold["text"], metric, value, status, unmet or _text(metric, value))


def judgements(campaign: Campaign, summaries: Iterable[Summary]) -> tuple[Judgement, ...]:
    """Every threshold of the campaign on every configuration of a client; controls, and a reference that
    nobody asked for, are never judged."""
    manifest = campaign.manifest or {}
    asked = manifest.get("thresholds", [])
    added = bool(asked) and manifest["plan"].get("reference_added", False)
    clients = [row for row in summaries if not (row.identity.control or (added and row.reference))]
    return tuple(_judged(threshold, summary) for summary in clients for threshold in asked)


def documents(judged: Iterable[Judgement]) -> list[dict[str, Any]]:
    return [
        {
            "configuration_hash": each.summary.identity.configuration_hash,
            "label": each.summary.identity.label,
            "threshold": each.threshold,
            "value": each.value,
            "value_text": each.value_text,
            "status": each.status,
        }
        for each in judged
    ]
