"""Rows and comparisons in words that charts, sections and exports share."""

import math
from collections.abc import Callable

from report.analysis.summary import Summary
from report.base.format import plural, ratio
from report.statistics.decision import Comparison
from report.statistics.ratio import RatioInterval


def name(summary: Summary) -> str:
    return summary.identity.short_label


#: The typical run of one side failed its load.
NO_RATIO = "no ratio"


def interval_of(comparison: Comparison) -> str:
    """`0.91×, 0.89–0.93×`: the ratio with its interval; `no ratio, at most 0.93×` where the typical run of
    one side failed its load; empty without a comparison."""
    interval = comparison.interval
    if comparison.ratio is None and (interval is None or not comparison.worst_ranks):
        return ""
    ratio = NO_RATIO if comparison.ratio is None else f"{comparison.ratio:.2f}×"
    return ", ".join(filter(None, [ratio, interval_text(interval) if interval else ""]))


def interval_text(interval: RatioInterval, show: Callable[[float], str] = "{:.2f}".format) -> str:
    """`0.89–0.93×`; `at most 0.93×` where one end is a run that failed its load; empty where both are."""
    low, high = (0 < end < math.inf for end in (interval.low, interval.high))
    if low and high:
        return f"{show(interval.low)}–{show(interval.high)}×"
    if low:
        return f"at least {show(interval.low)}×"
    return f"at most {show(interval.high)}×" if high else ""


def ratio_text(estimate: float | None, interval: RatioInterval | None) -> str:
    texts = [ratio(estimate) if estimate else "", interval_text(interval) if interval else ""]
    return ", ".join(filter(None, texts))


def runs_text(comparison: Comparison) -> str:
    """`about 14 runs per side would decide`, for a comparison that is not decided."""
    if comparison.worst_ranks:
        return (
            "how many runs would decide is not known, as some failed their load, or have a figure without an "
            "upper bound"
        )
    if comparison.runs_needed is None:
        return "no affordable number of runs would decide"
    return f"about {plural(comparison.runs_needed, 'run')} per side would decide"


def outlook_text(comparison: Comparison) -> str:
    unknown = comparison.ratio is None and not comparison.worst_ranks
    return "" if comparison.blocked or unknown else runs_text(comparison)
