"""What late sends of the generator do to percentiles (rule M5)."""

from collections.abc import Mapping, Sequence

from report.base.contract import CONSTANTS
from report.results.model import Measured
from report.statistics.histograms import Bounds

#: Lateness beyond this time in ms, and beyond this share of a percentile, may explain it (rule M5).
_LATENESS: Mapping[str, float] = CONSTANTS["send_lateness"]


def late_percentiles(figures: Measured) -> Sequence[str]:
    """The percentiles of which late sends of the generator are more than a tenth."""
    return figures.record.schedule.late_percentiles if figures.record.schedule else ()


def may_be_lateness(percentile: str, known: Bounds | None, figures: Measured) -> bool:
    """Whether late sends may explain a percentile, of which `known` are the bounds in ms."""
    schedule = figures.record.schedule
    late_ms: float | None = getattr(schedule.lateness_ms, percentile, None) if schedule else None
    if late_ms is None or known is None:
        return False
    return late_ms > max(_LATENESS["ms"], _LATENESS["invalid_share"] * known.low)
