"""The charts of the page. A new one is a file in this folder and a line in `CHARTS`."""

from . import cpu, curve, latency, limited, memory, series, throughput
from .base import Chart

CHARTS: tuple[Chart, ...] = (
    throughput.CHART,
    latency.CHART,
    latency.AT_RATE,
    curve.CHART,
    cpu.CHART,
    memory.CHART,
    limited.CHART,
    series.CHART,
)
