"""Rows and comparisons in words that charts, sections and exports share."""

from report.analysis.summary import Summary
from report.base.format import plural
from report.statistics.decision import Comparison


def name(summary: Summary) -> str:
    return summary.identity.short_label


def interval_of(comparison: Comparison) -> str:
    """`0.91×, 0.89–0.93×`: the ratio with its interval; empty without a ratio."""
    if comparison.ratio is None:
        return ""
    interval = comparison.interval
    return f"{comparison.ratio:.2f}×" + (f", {interval.low:.2f}–{interval.high:.2f}×" if interval else "")


def runs_text(comparison: Comparison) -> str:
    """`about 14 runs per side would decide`, for a comparison that is not decided."""
    if comparison.runs_needed is None:
        return "no affordable number of runs would decide"
    return f"about {plural(comparison.runs_needed, 'run')} per side would decide"


def outlook_text(comparison: Comparison) -> str:
    """What more runs would do; empty where they are not what is missing."""
    return "" if comparison.blocked or comparison.ratio is None else runs_text(comparison)
