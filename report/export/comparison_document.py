"""The document of a comparison, as JSON files have it."""

from math import isfinite
from typing import Any

from msgspec.structs import asdict

from report.base.csv_text import picked
from report.statistics.comparison import Comparison


def rounded(value: float | None, digits: int = 3) -> float | None:
    return None if value is None else round(value, digits)


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """The document of a comparison, whose ratios are new ÷ base. Without an upper bound `high` is
    null.

    `ratio_of_medians` exists for readers of the first format. It is null, because a second value
    for one ratio would contradict `ratio`."""
    interval = comparison.known_interval
    ends = asdict(interval) if interval else None
    if interval and ends and not isfinite(interval.high):
        ends["high"] = None

    detectable = comparison.detectable
    return {
        "conclusion": comparison.conclusion,
        "statement": comparison.statement,
        "reason": comparison.reason or None,
        "ratio": comparison.ratio,
        "ratio_of_medians": None,
        "interval": ends,
        "pairs": comparison.pairs,
        "runs_without_partner": comparison.dropped,
        "ratio_when_stopped": comparison.stopped_at,
        **picked(comparison, "p", "p_holm"),
        "comparisons_in_family": comparison.comparisons,
        "systematic_error": {
            "percent": 100 * comparison.systematic.share,
            "not_measured": list(comparison.systematic.unmeasured),
        },
        "runs_needed": comparison.runs_needed,
        "detectable_percent": None if detectable is None else 100 * detectable,
    }
