"""The texts that hovering over a latency shows."""

from report.analysis.figures import Figure, mean_latency, p50, p99
from report.analysis.texts import AT_FULL_LOAD, LayerText
from report.charts.chart_data import ChartRow


def latency_text(row: ChartRow, text: LayerText) -> str:
    """Mean, p50 and p99 with their ranges and the load under which they hold."""
    latencies = ", ".join(
        [
            latency_with_range(row, "mean", mean_latency, text),
            latency_with_range(row, "p50", p50, text),
            latency_with_range(row, "p99", p99, text),
        ]
    )
    load = f", {AT_FULL_LOAD}, {row.summary.group_text}"
    return f"{latencies}{few_samples_text(row)}{'' if row.summary.identity.open_loop else load}"


def latency_with_range(row: ChartRow, name: str, figure: Figure, text: LayerText) -> str:
    """A latency with its range: `p99 12.2 ms (8.10–14.0)`."""
    latency = row.summary.figure_of(figure)
    range_text = latency.range_text(text.latency)
    words = f"{name} {latency.text(text.latency)} {text.latency_unit}"
    return f"{words} ({range_text})" if range_text else words


def has_few_samples(row: ChartRow) -> bool:
    """Whether there are too few samples for the p99."""
    return row.summary.figure_of(p99).few_samples


def few_samples_text(row: ChartRow) -> str:
    return ", too few samples" if has_few_samples(row) else ""
