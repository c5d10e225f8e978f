"""The figures of a run."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from msgspec import Struct

from report.analysis.late_sends import late_percentiles
from report.analysis.texts import layer_text
from report.base.format import Show, bounds
from report.results.catalog import MEASURED_KINDS
from report.results.generated.records import Schedule
from report.results.model import Measured
from report.results.sums import stated_bounds, sum_over_kind, sums_by_kind
from report.statistics.histograms import Bounds


class Source(Struct, frozen=True):
    kind: str
    """One of `MEMORY_KINDS`. Only figures of one kind are comparable."""
    text: str


#: The kinds of sources. An allocator reports what it handed out, the system what a process holds,
#: and a store what its items take.
MEMORY_KINDS = {"allocator": "Allocator’s", "process": "Process’s", "count": "Store’s own count"}

#: The sources of the memory of a target, of which the first one that it has gives its figure.
SOURCES = {
    "store": Source("allocator", "the store's allocator"),
    "heap": Source("allocator", "heap of the process that decides"),
    "store_items": Source("count", "items that the store counts"),
    "store_resident": Source("process", "resident memory of the store"),
    "service_resident": Source("process", "resident memory of the service"),
}


class Figure(Struct, frozen=True):
    """A figure of a run. Calling it with the figures of a run returns the value, or None if the run
    does not have it."""

    read: Callable[[Measured], float | None]
    higher_is_better: bool = False
    percentile: str = ""
    """Its name if it is a percentile, else empty."""
    in_budget: str = ""
    """Its name in the budget of what intervals do not contain (rule M34), else empty."""
    read_bounds: Callable[[Measured], Bounds | None] = lambda _: None
    """Reads the bounds of a figure that failed or unanswered requests could move (rule M23)."""

    def __call__(self, figures: Measured) -> float | None:
        return self.read(figures)

    def known(self, figures: Measured) -> Bounds | None:
        """The bounds of the figure, which are equal if its value is known. None if the run does not
        have it."""
        value = self.read(figures)
        return self.read_bounds(figures) if value is None else Bounds(value, value)

    @property
    def worst(self) -> float:
        """The value of a run in which the target failed its load (rule M24)."""
        return 0.0 if self.higher_is_better else math.inf

    def is_comparable(self, figures: Measured) -> bool:
        """False for a percentile with too few samples (rule M18), or one that late sends could have
        caused (rule M5)."""
        return self.percentile not in (*figures.unsupported, *late_percentiles(figures))

    def value_to_compare(self, figures: Measured) -> float | None:
        """The value for comparisons, or None for a percentile that is not comparable."""
        return self.at_most(figures) if self.is_comparable(figures) else None

    def at_most(self, figures: Measured) -> float | None:
        """The figure, or its upper bound if it is not identified (rule M23)."""
        return highest(self.known(figures))


def highest(known: Bounds | None) -> float | None:
    """The upper bound, which is infinite if nothing limits the value."""
    if known is None:
        return None
    return math.inf if known.high is None else known.high


def figure_text(figures: Measured, figure: Figure, show: Show) -> str:
    value = figure(figures)
    known = figure.known(figures)
    if value is not None or known is None:
        return show(value)
    return bounds(known.low, known.high, show)


#: Requests per second, or at the limiter layer decisions per second.
throughput = Figure(
    lambda figures: figures.requests_per_second, higher_is_better=True, in_budget="throughput"
)


@cache
def percentile(name: str) -> Figure:
    return Figure(
        lambda figures: figures.percentiles_ms.get(name),
        percentile=name,
        read_bounds=lambda figures: figures.bounds_ms.get(name),
    )


@cache
def latency(name: str) -> Figure:
    """Average, min, max or stddev of the answers."""
    return Figure(
        lambda figures: figures.latency_ms.get(name),
        read_bounds=lambda figures: figures.bounds_ms.get(name),
    )


@cache
def from_send(name: str) -> Figure:
    """A percentile of an open loop from the send, as the result states it."""
    return Figure(
        lambda figures: getattr(figures.record.service_time, name, None),
        read_bounds=lambda figures: stated_bounds(figures.record.service_time).get(name),
    )


def of_schedule(read: Callable[[Schedule], float | None]) -> Figure:
    """A figure of how an open loop sent its requests, which a closed loop does not have."""
    return Figure(
        lambda figures: read(figures.record.schedule) if figures.record.schedule else None
    )


def node_kind(layer: str) -> str:
    """The kind of the Node process that calls the limiter."""
    return "server" if layer_text(layer).has_servers else "generator"


def bytes_per_key(source: str) -> Figure:
    """The memory per key by one of `SOURCES`, in bytes."""

    def read(figures: Measured) -> float | None:
        memory = figures.added_memory
        if memory is None or not memory.keys or memory.failed or memory.lost_keys:
            return None
        return memory.bytes[source] / memory.keys if source in memory.bytes else None

    return Figure(read)


@cache
def sum_of_kind(member: str, kind: str, in_budget: str = "") -> Figure:
    """The sum of a member over all roles of a kind. None if it is not known of one of them."""
    return Figure(
        lambda figures: sum_over_kind(figures.record.resources, member, kind), in_budget=in_budget
    )


def _cores(figures: Measured, kind: str) -> float | None:
    """The CPUs that the roles of a kind kept busy. In a load curve they are the CPU time between
    the drained readings divided by the seconds of the turn, lead-in included."""
    roles = figures.record.resources
    turns = figures.record.turns
    if turns is None or not turns.curve:
        cpu_percent = sum_over_kind(roles, "cpu_percent", kind)
        return None if cpu_percent is None else cpu_percent / 100

    # A percentage is rounded too coarsely for the store at a low rate.
    cpu_us = sum_over_kind(roles, "cpu_us", kind)
    loaded_ms = turns.turns * (turns.lead_in_ms + turns.slice_ms)
    return None if cpu_us is None or not loaded_ms else cpu_us / loaded_ms / 1000


@cache
def cores(kind: str) -> Figure:
    """The CPUs that all roles of a kind together kept busy while they had the load."""
    return Figure(lambda figures: _cores(figures, kind))


#: The CPUs that what calls the limiter kept busy, which is the servers, or at the limiter layer the
#: generator.
consumer_cores = Figure(lambda figures: _cores(figures, node_kind(figures.layer)))

#: CPU of all servers together in µs per request. None at the limiter layer, which has no servers.
server_cpu = sum_of_kind("cpu_us_per_request", "server", "cpu")

#: CPU of what calls the limiter, in µs per request. That is the servers, or at the limiter layer
#: the client, which is the generator.
consumer_cpu = Figure(
    lambda figures: sum_over_kind(
        figures.record.resources, "cpu_us_per_request", node_kind(figures.layer)
    ),
    in_budget="cpu",
)

#: CPU of all store nodes in µs per request.
store_cpu = sum_of_kind("cpu_us_per_request", "store", "store_cpu")

#: CPU of the service in µs per request. None without a service.
service_cpu = sum_of_kind("cpu_us_per_request", "service")

#: Resident memory of all store nodes in bytes. None if that of one node is not known.
store_memory = sum_of_kind("resident_bytes_mean", "store")

#: Memory that the store reports after the last answer, all nodes together, in bytes.
store_used = Figure(lambda figures: figures.store_memory_bytes)

heap = Figure(lambda figures: figures.record.memory_usage)

#: The share of the answers that were limited, from 0 to 1.
limited_share = Figure(lambda figures: figures.limited_share)

#: The number of answers that were limited.
limit_hits = Figure(lambda figures: figures.record.rate_limit_hits)

errors = Figure(lambda figures: figures.record.totalErrors)

calls_per_request = Figure(lambda figures: figures.record.calls_per_request)

descriptors_per_call = Figure(lambda figures: figures.record.descriptors_per_call)

decisions = Figure(lambda figures: figures.decisions)

#: The CPU time of other programs, in % of one CPU.
foreign_cpu = Figure(lambda figures: figures.foreign_cpu_percent)


def decision_cpu_us(figures: Measured) -> Mapping[str, float]:
    """CPU time in µs per decision by kind of role, summed over the roles of a kind. Empty without a
    count of decisions. The generator takes part only if it is the client.

    A decision is an answer, allowed or limited, to a consume of one descriptor. The processes that
    call the limiter count them. The CPU time is the growth of the counters of a role, divided by
    the decisions between the same two readings, which enclose lead-in and window. The Node part is
    that of the servers at the server layer, with HTTP and the work of the endpoint. At the limiter
    layer it is that of the generator, which is the client."""
    if not figures.decisions:
        return {}
    kinds = (node_kind(figures.layer), "service", "store")
    cpu_of = sums_by_kind(figures.record.resources, "cpu_us")
    return {kind: cpu_us / figures.decisions for kind, cpu_us in cpu_of.items() if kind in kinds}


def total_of(kinds: Sequence[str]) -> Figure:
    """The CPU per decision of these kinds together, in µs."""

    def total(figures: Measured) -> float | None:
        cpu_of = decision_cpu_us(figures)
        if not cpu_of or any(kind not in cpu_of for kind in kinds):
            return None
        return sum(cpu_of[kind] for kind in kinds)

    return Figure(total)


#: CPU in µs per decision by kind of role.
PARTS: Mapping[str, Figure] = {kind: total_of((kind,)) for kind in MEASURED_KINDS}

#: CPU in µs per decision of the Node process that calls the limiter.
node_cpu = Figure(lambda figures: decision_cpu_us(figures).get(node_kind(figures.layer)))

mean_latency = latency("average")
p50 = percentile("p50")
p99 = percentile("p99")

#: Figures that documents show with a range, by their names there.
DOCUMENTED_FIGURES: Mapping[str, Figure] = {
    "requests_per_second": throughput,
    "latency_p50_ms": p50,
    "latency_p99_ms": p99,
    "server_cpu_us_per_request": server_cpu,
}

#: Figures besides throughput by which a row can be shown to be better than all others. Lower values
#: are better.
COSTS: Mapping[str, Figure] = {
    "p50": p50,
    "p99": p99,
    "p99_9": percentile("p99_9"),
    "cpu": consumer_cpu,
    "service_cpu": service_cpu,
    "store_cpu": store_cpu,
    "heap": heap,
}
