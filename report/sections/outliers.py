"""Runs whose throughput lies far from that of their siblings."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import quantiles

from report.analysis.layer_text import layer_text
from report.analysis.summary import MIN_RUNS_FOR_QUARTILES, Summary
from report.base.format import percent, rate
from report.results.model import Run

#: Nearer to the fence's middle than this share it is no finding, however alike the others are.
MIN_DISTANCE = 0.05


@dataclass(frozen=True, slots=True)
class Outlier:
    summary: Summary
    run: Run
    text: str


def fences(values: Sequence[float]) -> tuple[float, float]:
    """Tukey's: 1.5 interquartile ranges beyond the quartiles (Exploratory Data Analysis, 1977)."""
    low, _, high = quantiles(values, n=4, method="inclusive")
    return low - 1.5 * (high - low), high + 1.5 * (high - low)


def outliers(summaries: Sequence[Summary]) -> tuple[Outlier, ...]:
    """Runs that count and lie beyond the fences of their configuration and 5 % from its median run."""
    found = []
    for summary in summaries:
        figures = summary.figures
        runs = [(run, run.requests_per_second) for run in summary.runs if run.eligible]
        values = [value for _, value in runs if value is not None]
        if figures is None or len(values) < MIN_RUNS_FOR_QUARTILES:
            continue
        low, high = fences(values)
        middle = figures.requests_per_second
        for run, value in runs:
            if value is None or low <= value <= high or abs(value - middle) <= MIN_DISTANCE * middle:
                continue
            unit = layer_text(summary.identity.layer).rate_unit
            side = "below" if value < low else "above"
            text = (
                f"{rate(value)} {unit}, {percent(100 * abs(value / middle - 1))} {side} the median run; "
                f"the fences of its {len(values)} runs are {rate(max(0, low))} and {rate(high)}"
            )
            found.append(Outlier(summary, run, text))
    return tuple(found)
