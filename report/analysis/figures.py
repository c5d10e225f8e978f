"""The figures of a run that are compared."""

from collections.abc import Callable, Mapping

from report.results.model import Measured
from report.results.roles import cpu_us_per_request

Figure = Callable[[Measured], float | None]


def throughput(figures: Measured) -> float | None:
    """Requests per second; at the limiter layer decisions."""
    return figures.requests_per_second


def percentile(name: str) -> Figure:
    """A percentile in ms, by its name, e.g. `p99`."""
    return lambda figures: figures.percentiles_ms.get(name)


def supported_percentile(name: str) -> Figure:
    """The same; None where too few samples stand behind it (rule M18)."""
    return lambda figures: None if name in figures.unsupported else figures.percentiles_ms.get(name)


def server_cpu(figures: Measured) -> float | None:
    """CPU of all servers together in µs per request; None at the limiter layer, which has none."""
    return cpu_us_per_request(figures.roles).get("server")


def consumer_cpu(figures: Measured) -> float | None:
    """CPU of what calls the limiter, in µs per request: of the servers, or at the limiter layer of the
    client, which is the load generator."""
    kind = "generator" if figures.layer == "limiter" else "server"
    return cpu_us_per_request(figures.roles).get(kind)


def store_cpu(figures: Measured) -> float | None:
    """CPU of all store nodes in µs per request."""
    return cpu_us_per_request(figures.roles).get("store")


p50 = percentile("p50")
p99 = supported_percentile("p99")

#: Figures that have a range beside them, by the names that documents give them.
FIGURES: Mapping[str, Figure] = {
    "requests_per_second": throughput,
    "latency_p50_ms": p50,
    "latency_p99_ms": percentile("p99"),
    "server_cpu_us_per_request": server_cpu,
}

#: Figures besides throughput by which a row can be shown to be better than all others. Less is better.
COSTS: Mapping[str, Figure] = {
    "p50": p50,
    "p99": p99,
    "p99_9": supported_percentile("p99_9"),
    "cpu": consumer_cpu,
    "store_cpu": store_cpu,
    "heap": lambda figures: figures.heap_bytes,
}
