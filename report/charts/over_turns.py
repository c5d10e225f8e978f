"""The chart of the rate over the time since a turn began."""

from collections.abc import Sequence
from typing import Any

from report.base.contract import CONSTANTS
from report.charts import layout
from report.charts.chart_data import ChartData, ChartRow
from report.charts.layout import Chart, by_view, figure
from report.results.model import turns_of

_EDGES_MS: Sequence[int] = CONSTANTS["turn_bin_edges_ms"]

#: Bins in which all turns of a row together spent less time are not drawn, because their rate is
#: mostly chance.
_LEAST_S = 0.05


def _bin_texts() -> list[str]:
    ends = [str(edge_ms) for edge_ms in _EDGES_MS[1:]]
    closed = [f"{edge}–{end}" for edge, end in zip(_EDGES_MS, ends, strict=False)]
    return [*closed, f"from {_EDGES_MS[-1]} on"]


def _relative_rates(row: ChartRow) -> list[float | None]:
    """The rate in each bin divided by that of all bins, over the runs that count, with lead-ins.
    It is that of the long turns of a run that has them, because they alone reach the last bins, and
    the host may have been another one during the short turns. None for a bin in which the turns
    spent too little time."""
    seconds = [0.0] * len(_EDGES_MS)
    answers = [0] * len(_EDGES_MS)
    for run in row.summary.runs:
        turns = turns_of(run) if run.eligible else None
        if turns is None or turns.since_began is None:
            continue
        taken = turns.long or turns.since_began
        for bins in (taken.lead_in, taken.slice):
            seconds = [sum(both) for both in zip(seconds, bins.seconds, strict=True)]
            answers = [sum(both) for both in zip(answers, bins.answers, strict=True)]

    if not sum(answers) or not sum(seconds):
        return []
    mean_rate = sum(answers) / sum(seconds)
    return [
        count / bin_s / mean_rate if bin_s >= _LEAST_S else None
        for count, bin_s in zip(answers, seconds, strict=True)
    ]


def _draw(data: ChartData) -> dict[str, Any] | None:
    lines = [(row, rates) for row in data.rows if any(rates := _relative_rates(row))]
    if not lines:
        return None

    bins = _bin_texts()
    traces = []
    for row, rates in lines:
        drawn = [(text, rate) for text, rate in zip(bins, rates, strict=True) if rate is not None]
        texts = [f"{row.text}, {text} ms: {rate:.2f}× its mean" for text, rate in drawn]
        traces.append(
            layout.scatter(
                row.text,
                [row.id] * len(drawn),
                [text for text, _ in drawn],
                [round(rate, 4) for _, rate in drawn],
                texts,
                "lines+markers",
                **row.style(2, 8),
            )
        )
    x = {
        "title": {"text": "milliseconds since the turn began"},
        "type": "category",
        "categoryorder": "array",
        "categoryarray": bins,
    }
    y = layout.value_axis("rate ÷ mean rate of the row", rangemode="normal")
    return figure(traces, by_view(data.by_cell, [row for row, _ in lines], x, y))


OVER_TURNS = Chart(
    "over-turns",
    "Throughput since a turn began",
    "The rate of each row by the time since its turn began, divided by its mean rate in these turns, over "
    "the runs that count: in the long turns before the window where the rounds have them, and else in the "
    "turns of the window. Two mean latencies at the beginning, in which the pipeline of requests fills, "
    "are left out.",
    _draw,
)
