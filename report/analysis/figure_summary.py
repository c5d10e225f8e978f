"""How the figures of runs are summarized over the runs of a configuration."""

import math
from collections.abc import Mapping, Sequence
from statistics import median

from msgspec import Struct, structs

from report.analysis.figures import Figure, highest
from report.analysis.late_sends import late_percentiles, may_be_lateness
from report.base.format import ABSENT, Show, bounds
from report.results.model import Measured
from report.statistics.histograms import Bounds


class FigureSummary(Struct, frozen=True, kw_only=True):
    """A figure of a configuration over its runs that count (rule M28)."""

    value: float | None = None
    """The median. None if no run has the figure, if the median is not identified, or if it is the
    rank of a run in which the target failed its load."""
    bounds: Bounds | None = None
    """The bounds of a median that is not identified (rule M23)."""
    low: float | None = None
    """The lowest value of the runs that served their load. Like `high`, it is None below two runs,
    and if one of them has nothing but bounds."""
    high: float | None = None
    runs: int = 0
    """How many runs served their load and have the figure."""
    spoiled: bool = False
    """Whether the median is the rank of a run in which the target failed its load (rule M24)."""
    merged: bool = False
    """Whether the percentile comes from the merged histogram of the runs, because single runs have
    too few samples."""
    few_samples: bool = False
    """Whether even the merged histogram of the runs has too few samples for the percentile (rule
    M18)."""
    late: bool = False
    """Whether late sends of the generator are more than a tenth of the percentile in half of the
    runs (rule M5). In a load curve the percentile has no value where they are more than half."""

    @property
    def range(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def at_most(self) -> float | None:
        """The value, or the upper bound of one that is not identified."""
        return highest(self.bounds) if self.value is None else self.value

    def text(self, show: Show) -> str:
        """The value, its bounds, or a dash."""
        if self.value is None and self.bounds is not None:
            return bounds(self.bounds.low, self.bounds.high, show)
        return ABSENT if self.value is None else show(self.value)

    def range_text(self, show: Show) -> str:
        """A text such as `8.10–14.00`. Empty without a median or a range."""
        if self.value is None or self.low is None or self.high is None:
            return ""
        return f"{show(self.low)}–{show(self.high)}"


def over_runs(
    figure: Figure, served: Sequence[Measured], spoiled_runs: int, merged: Mapping[str, Bounds]
) -> FigureSummary:
    """The median of a figure over the runs that count. It is the mean of the middle two of an even
    number of runs.

    A run in which the target failed its load has the worst rank, as in comparisons (rule M24). If
    one of the middle runs is such a run, the median has no value. If runs have nothing but bounds,
    the median of their lower bounds and that of their upper bounds enclose the median (rule M23).

    Args:
        served: the runs that served their load.
        spoiled_runs: the number of the other runs, in which the target failed its load.
        merged: the percentiles that come from the merged histogram of the runs."""
    if figure.percentile and _is_hidden_by_late_sends(figure, served):
        return FigureSummary(late=True)
    known = [bounds for figures in served if (bounds := figure.known(figures))]
    count = len(known) + spoiled_runs
    if not count or (served and not known):
        return FigureSummary()

    values = [bounds.low for bounds in known if bounds.low == bounds.high]
    has_range = len(values) == len(known) > 1
    spread = FigureSummary(
        low=min(values) if has_range else None,
        high=max(values) if has_range else None,
        runs=len(known),
        few_samples=_has_few_samples(figure, served, merged),
        late=_is_late(figure, served),
    )
    if (count - 1) // 2 < spoiled_runs:
        return structs.replace(spread, spoiled=True)

    worst = [figure.worst] * spoiled_runs
    lows = [bounds.low for bounds in known]
    highs = [math.inf if bounds.high is None else bounds.high for bounds in known]
    low = median(lows + worst)
    high = median(highs + worst)
    median_of_runs = Bounds(low, None if math.isinf(high) else high)
    summary_bounds = merged.get(figure.percentile, median_of_runs)
    return structs.replace(
        spread,
        value=summary_bounds.figure,
        bounds=summary_bounds if summary_bounds.figure is None else None,
        merged=figure.percentile in merged,
    )


def _has_few_samples(
    figure: Figure, served: Sequence[Measured], merged: Mapping[str, Bounds]
) -> bool:
    if not figure.percentile or figure.percentile in merged:
        return False
    return any(figure.percentile in figures.unsupported for figures in served)


def _is_late(figure: Figure, served: Sequence[Measured]) -> bool:
    if not figure.percentile or not served:
        return False
    late_runs = sum(figure.percentile in late_percentiles(figures) for figures in served)
    return 2 * late_runs >= len(served)


def _is_hidden_by_late_sends(figure: Figure, served: Sequence[Measured]) -> bool:
    """Whether late sends may explain a percentile in half of the runs at a rate of a load curve.
    There they spoil latency alone (rule M5)."""
    hidden_runs = sum(
        figures.record.turns is not None
        and figures.record.turns.curve is True
        and may_be_lateness(figure.percentile, figure.known(figures), figures)
        for figures in served
    )
    return hidden_runs > 0 and 2 * hidden_runs >= len(served)
