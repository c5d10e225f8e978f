"""The charts of the page. A new one is a file in this folder and a line here."""

from report.charts import (
    ceiling,
    cpu,
    curve,
    decision_cpu,
    latency,
    latency_at_rate,
    limited,
    memory,
    memory_per_key,
    percentiles,
    scaling,
    series,
    throughput,
    tradeoff,
    trend,
)
from report.charts.layout import Chart

#: What a decision needs: the page shows it at once.
OPEN_CHARTS: tuple[Chart, ...] = (
    throughput.CHART,
    latency.CHART,
    latency_at_rate.CHART,
    curve.CHART,
    cpu.CHART,
    trend.CHART,
    scaling.CHART,
    memory_per_key.CHART,
)

#: What the reader unfolds.
FOLDED_CHARTS: tuple[Chart, ...] = (
    decision_cpu.CHART,
    percentiles.CHART,
    tradeoff.CHART,
    ceiling.CHART,
    memory.CHART,
    limited.CHART,
    series.CHART,
)

CHARTS: tuple[Chart, ...] = (*OPEN_CHARTS, *FOLDED_CHARTS)


def arranged(deciders_differ: bool) -> tuple[tuple[Chart, ...], tuple[Chart, ...]]:
    """Open and folded charts: where deciders differ, the CPU time of all roles says more than that of one."""
    if not deciders_differ:
        return OPEN_CHARTS, FOLDED_CHARTS
    swap = {cpu.CHART: decision_cpu.CHART, decision_cpu.CHART: cpu.CHART}
    opened, folded = (
        tuple(swap.get(each, each) for each in charts) for charts in (OPEN_CHARTS, FOLDED_CHARTS)
    )
    return opened, folded
