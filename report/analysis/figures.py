"""The figures of a run that are compared."""

import math
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from report.analysis.texts import layer_text
from report.base.format import Show, bounds
from report.results.model import MEASURED_KINDS, Measured, cpu_us_per_request, sums_by_kind


class Source(Struct, frozen=True):
    kind: str
    """Of `MEMORY_KINDS`: only figures of one kind are like each other."""
    text: str


#: Who tells: an allocator what it handed out, the system what a process holds, a store what its items take.
MEMORY_KINDS = {"allocator": "Allocator’s", "process": "Process’s", "count": "Store’s own count"}

#: The first one that a target has is its figure.
SOURCES = {
    "store": Source("allocator", "the store's allocator"),
    "heap": Source("allocator", "heap of the process that decides"),
    "store_items": Source("count", "items that the store counts"),
    "store_resident": Source("process", "resident memory of the store"),
    "service_resident": Source("process", "resident memory of the service"),
}


class Figure(Struct, frozen=True):
    """Called with the figures of a run, it gives one of them; None where the run does not have it."""

    read: Callable[[Measured], float | None]
    higher_is_better: bool = False
    percentile: str = ""
    """Its name, where it is a percentile."""

    def __call__(self, figures: Measured) -> float | None:
        return self.read(figures)

    @property
    def worst(self) -> float:
        """What stands for a run in which the target failed its load (rule M24)."""
        return 0.0 if self.higher_is_better else math.inf

    def is_comparable(self, figures: Measured) -> bool:
        """False for a percentile with too few samples behind it (rule M18), or that late sends made (M5)."""
        late = figures.record.schedule.late_percentiles if figures.record.schedule else ()
        return self.percentile not in (*figures.unsupported, *late)

    def compared(self, figures: Measured) -> float | None:
        """As it enters comparisons: None for a percentile that is not comparable."""
        return self.at_most(figures) if self.is_comparable(figures) else None

    def at_most(self, figures: Measured) -> float | None:
        """The figure; a percentile that is not identified at its upper bound (rule M23)."""
        value, bounds = self.read(figures), figures.bounds_ms.get(self.percentile)
        if value is not None or bounds is None:
            return value
        return math.inf if bounds.high is None else bounds.high


def figure_text(figures: Measured, figure: Figure, show: Show) -> str:
    value, known = figure(figures), figures.bounds_ms.get(figure.percentile)
    return show(value) if value is not None or known is None else bounds(known.low, known.high, show)


#: Requests per second; at the limiter layer decisions.
throughput = Figure(lambda figures: figures.requests_per_second, higher_is_better=True)


def percentile(name: str) -> Figure:
    return Figure(lambda figures: figures.percentiles_ms.get(name), percentile=name)


def node_kind(layer: str) -> str:
    """Of the Node process that asks."""
    return "server" if layer_text(layer).has_servers else "generator"


def bytes_per_key(source: str) -> Figure:
    def read(figures: Measured) -> float | None:
        memory = figures.added_memory
        if memory is None or not memory.keys or memory.failed or memory.lost_keys:
            return None
        return memory.bytes[source] / memory.keys if source in memory.bytes else None

    return Figure(read)


#: CPU of all servers together in µs per request; None at the limiter layer, which has none.
server_cpu = Figure(lambda figures: cpu_us_per_request(figures.record.resources).get("server"))

#: CPU of what calls the limiter, in µs per request: of the servers, or at the limiter layer of the client,
#: which is the load generator.
consumer_cpu = Figure(lambda found: cpu_us_per_request(found.record.resources).get(node_kind(found.layer)))

#: CPU of all store nodes in µs per request.
store_cpu = Figure(lambda figures: cpu_us_per_request(figures.record.resources).get("store"))

#: CPU of the service in µs per request; None where there is none.
service_cpu = Figure(lambda figures: cpu_us_per_request(figures.record.resources).get("service"))

#: Resident memory of all store nodes in bytes; None where one is not known.
store_memory = Figure(lambda found: sums_by_kind(found.record.resources, "resident_bytes_mean").get("store"))

heap = Figure(lambda figures: figures.record.memory_usage)


def decision_cpu_us(figures: Measured) -> Mapping[str, float]:
    """CPU time in µs per decision by kind of role, all roles of a kind together; empty without a count of
    decisions. The load generator takes part only where it is the client.

    A decision is an answer, allowed or limited, to a consume of one descriptor, as the processes counted it
    that call the limiter. Its CPU time is what the counters of a role grew by, divided by the decisions
    between the same two readings: lead-in and window. At the server layer the Node part is the servers', with
    HTTP and the endpoint's work; at the limiter layer it is the load generator's, which is the client."""
    if not figures.decisions:
        return {}
    kinds = (node_kind(figures.layer), "service", "store")
    found = sums_by_kind(figures.record.resources, "cpu_us")
    return {kind: cpu_us / figures.decisions for kind, cpu_us in found.items() if kind in kinds}


def total_of(kinds: Sequence[str]) -> Figure:
    def total(figures: Measured) -> float | None:
        found = decision_cpu_us(figures)
        return sum(found[kind] for kind in kinds) if found and all(kind in found for kind in kinds) else None

    return Figure(total)


#: CPU per decision by kind of role.
PARTS: Mapping[str, Figure] = {kind: total_of((kind,)) for kind in MEASURED_KINDS}

#: The CPU per decision of the Node process that asks.
node_cpu = Figure(lambda figures: decision_cpu_us(figures).get(node_kind(figures.layer)))

p50 = percentile("p50")
p99 = percentile("p99")

#: Figures that have a range beside them, by the names that documents give them.
FIGURES: Mapping[str, Figure] = {
    "requests_per_second": throughput,
    "latency_p50_ms": p50,
    "latency_p99_ms": p99,
    "server_cpu_us_per_request": server_cpu,
}

#: Figures besides throughput by which a row can be shown to be better than all others. Less is better.
COSTS: Mapping[str, Figure] = {
    "p50": p50,
    "p99": p99,
    "p99_9": percentile("p99_9"),
    "cpu": consumer_cpu,
    "service_cpu": service_cpu,
    "store_cpu": store_cpu,
    "heap": heap,
}
