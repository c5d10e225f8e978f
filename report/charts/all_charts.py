"""The charts of a page in their order, without the strips of faults, which have a section of their
own."""

from report.charts.ceiling import CEILING
from report.charts.cores_over_rate import CORES_OVER_RATE
from report.charts.cpu_bars import CPU_AT_FULL_LOAD, CPU_AT_RATE
from report.charts.latency_bars import LATENCY_AT_FULL_LOAD, LATENCY_AT_RATE
from report.charts.latency_over_connections import LATENCY_OVER_CONNECTIONS
from report.charts.latency_over_rate import LATENCY_OVER_RATE
from report.charts.limited_share import LIMITED_SHARE
from report.charts.memory_bars import MEMORY_BARS
from report.charts.memory_over_keys import MEMORY_OVER_KEYS
from report.charts.over_time import OVER_TIME
from report.charts.over_turns import OVER_TURNS
from report.charts.percentile_curves import PERCENTILE_CURVES
from report.charts.throughput_bars import THROUGHPUT_BARS
from report.charts.throughput_over_connections import THROUGHPUT_OVER_CONNECTIONS
from report.charts.throughput_over_servers import THROUGHPUT_OVER_SERVERS
from report.charts.tradeoff import TRADEOFF

CHARTS = (
    THROUGHPUT_BARS,
    *CORES_OVER_RATE,
    LATENCY_AT_FULL_LOAD,
    LATENCY_AT_RATE,
    LATENCY_OVER_RATE,
    CPU_AT_FULL_LOAD,
    CPU_AT_RATE,
    THROUGHPUT_OVER_CONNECTIONS,
    LATENCY_OVER_CONNECTIONS,
    THROUGHPUT_OVER_SERVERS,
    MEMORY_OVER_KEYS,
    PERCENTILE_CURVES,
    TRADEOFF,
    CEILING,
    MEMORY_BARS,
    LIMITED_SHARE,
    *OVER_TIME,
    OVER_TURNS,
)
