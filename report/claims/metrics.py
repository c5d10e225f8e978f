"""The metrics that a claim may name."""

from collections.abc import Callable, Mapping

from report.analysis import figures
from report.analysis import printed_rows as printed
from report.analysis.figures import Figure
from report.results.generated.records import PrintedResult

#: Maps a metric to the figure of a run, and to that of a run whose figures a load program printed.
METRICS: Mapping[str, tuple[Figure, Callable[[PrintedResult], float | None]]] = {
    "throughput": (figures.throughput, printed.rate),
    "p50": (figures.percentile("p50"), lambda run: run.latency.p50),
    "p99": (figures.percentile("p99"), lambda run: run.latency.p99),
    "cpu": (figures.consumer_cpu, lambda _: None),
    "store_cpu": (figures.store_cpu, printed.store_cpu),
    "service_cpu": (figures.service_cpu, printed.service_cpu),
    "store_memory": (figures.store_memory, lambda _: None),
    "bytes_per_key": (figures.bytes_per_key("store"), printed.bytes_per_key),
}
