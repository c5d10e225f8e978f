"""The figures of a run that are compared."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from statistics import median

from msgspec import Struct, structs

from report.analysis.texts import layer_text
from report.base.format import ABSENT, Show, bounds
from report.results.generated.records import Schedule
from report.results.model import (
    MEASURED_KINDS,
    Measured,
    cpu_us_per_request,
    stated_bounds,
    sums_by_kind,
)
from report.statistics.histograms import Bounds


class Source(Struct, frozen=True):
    kind: str
    """Of `MEMORY_KINDS`: only figures of one kind are like each other."""
    text: str


#: Who tells: an allocator what it handed out, the system what a process holds, a store what its
#: items take.
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
    """Called with the figures of a run, it gives one of them; None where the run does not have
    it."""

    read: Callable[[Measured], float | None]
    higher_is_better: bool = False
    percentile: str = ""
    """Its name, where it is a percentile."""
    read_bounds: Callable[[Measured], Bounds | None] = lambda _: None
    """What is known of it where failed or unanswered requests could move it (rule M23)."""

    def __call__(self, figures: Measured) -> float | None:
        return self.read(figures)

    def known(self, figures: Measured) -> Bounds | None:
        """The figure as bounds that are equal, or its bounds; None where the run does not have
        it."""
        value = self.read(figures)
        return self.read_bounds(figures) if value is None else Bounds(value, value)

    @property
    def worst(self) -> float:
        """What stands for a run in which the target failed its load (rule M24)."""
        return 0.0 if self.higher_is_better else math.inf

    def is_comparable(self, figures: Measured) -> bool:
        """False for a percentile with too few samples behind it (rule M18), or that late sends made
        (M5)."""
        return self.percentile not in (*figures.unsupported, *late_percentiles(figures))

    def compared(self, figures: Measured) -> float | None:
        """As it enters comparisons: None for a percentile that is not comparable."""
        return self.at_most(figures) if self.is_comparable(figures) else None

    def at_most(self, figures: Measured) -> float | None:
        """The figure; a percentile that is not identified at its upper bound (rule M23)."""
        return _high(self.known(figures))


def _high(known: Bounds | None) -> float | None:
    if known is None:
        return None
    return math.inf if known.high is None else known.high


def figure_text(figures: Measured, figure: Figure, show: Show) -> str:
    value = figure(figures)
    known = figure.known(figures)
    if value is not None or known is None:
        return show(value)
    return bounds(known.low, known.high, show)


class FigureSummary(Struct, frozen=True, kw_only=True):
    """A figure of a configuration over its runs that count (rule M28)."""

    value: float | None = None
    """The median; None where no run has the figure, the median is not identified, or it is the rank
    of a run in which the target failed its load."""
    bounds: Bounds | None = None
    """Of a median that is not identified (rule M23)."""
    low: float | None = None
    """The lowest of the runs that served their load. None, as `high`, below two runs, and where one
    of them knows no more than bounds."""
    high: float | None = None
    runs: int = 0
    """How many runs served their load and have the figure."""
    spoiled: bool = False
    """The median is the rank of a run in which the target failed its load (rule M24)."""
    merged: bool = False
    """The runs' merged histogram has enough samples for the percentile, where single runs have too
    few."""
    few_samples: bool = False
    """A percentile with too few samples, in the merged histogram of the runs too (rule M18)."""
    late: bool = False
    """Late sends of the load generator are more than a tenth of it in half of the runs (rule
    M5)."""

    @property
    def range(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def at_most(self) -> float | None:
        """The value, or the upper bound of one that is not identified."""
        return _high(self.bounds) if self.value is None else self.value

    def text(self, show: Show) -> str:
        """The value, its bounds, or a dash."""
        if self.value is None and self.bounds is not None:
            return bounds(self.bounds.low, self.bounds.high, show)
        return ABSENT if self.value is None else show(self.value)

    def range_text(self, show: Show) -> str:
        """`8.10–14.00`; empty where there is no median or no range."""
        if self.value is None or self.low is None or self.high is None:
            return ""
        return f"{show(self.low)}–{show(self.high)}"


def over_runs(
    figure: Figure, served: Sequence[Measured], spoiled_runs: int, merged: Mapping[str, Bounds]
) -> FigureSummary:
    """The median of a figure over the runs that count, of an even number the mean of the middle
    two.

    A run in which the target failed its load has the worst rank, as in comparisons (rule M24).
    Where one of the middle runs is such a run there is no value, whatever the others had. Of runs
    that know no more than bounds the median of all lower and that of all upper bounds enclose the
    median (rule M23).

    Args:
        served: the runs that served their load.
        spoiled_runs: in so many others the target failed it.
        merged: the percentiles that come from the merged histogram of the runs."""
    known = [bounds for figures in served if (bounds := figure.known(figures))]
    count = len(known) + spoiled_runs
    if not count or (served and not known):
        return FigureSummary()

    values = [bounds.low for bounds in known if bounds.low == bounds.high]
    several = len(values) == len(known) > 1
    late_runs = sum(figure.percentile in late_percentiles(figures) for figures in served)
    few = any(figure.percentile in figures.unsupported for figures in served)
    spread = FigureSummary(
        low=min(values) if several else None,
        high=max(values) if several else None,
        runs=len(known),
        few_samples=few and figure.percentile not in merged,
        late=len(served) > 0 and 2 * late_runs >= len(served),
    )
    if (count - 1) // 2 < spoiled_runs:
        return structs.replace(spread, spoiled=True)

    worst = [figure.worst] * spoiled_runs
    low = median([*(bounds.low for bounds in known), *worst])
    high = median([*(math.inf if bounds.high is None else bounds.high for bounds in known), *worst])
    median_of_runs = Bounds(low, None if math.isinf(high) else high)
    stated = merged.get(figure.percentile, median_of_runs)
    return structs.replace(
        spread,
        value=stated.figure,
        bounds=stated if stated.figure is None else None,
        merged=figure.percentile in merged,
    )


def late_percentiles(figures: Measured) -> Sequence[str]:
    """Those of which late sends of the load generator are more than a tenth."""
    return figures.record.schedule.late_percentiles if figures.record.schedule else ()


#: Requests per second; at the limiter layer decisions.
throughput = Figure(lambda figures: figures.requests_per_second, higher_is_better=True)


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
    """A figure of how an open loop sent; a closed one has none."""
    return Figure(
        lambda figures: read(figures.record.schedule) if figures.record.schedule else None
    )


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

#: CPU of what calls the limiter, in µs per request: of the servers, or at the limiter layer of the
#: client, which is the load generator.
consumer_cpu = Figure(
    lambda figures: cpu_us_per_request(figures.record.resources).get(node_kind(figures.layer))
)

#: CPU of all store nodes in µs per request.
store_cpu = Figure(lambda figures: cpu_us_per_request(figures.record.resources).get("store"))

#: CPU of the service in µs per request; None where there is none.
service_cpu = Figure(lambda figures: cpu_us_per_request(figures.record.resources).get("service"))

#: Resident memory of all store nodes in bytes; None where one is not known.
store_memory = Figure(
    lambda figures: sums_by_kind(figures.record.resources, "resident_bytes_mean").get("store")
)

#: Memory that the store reports after the last answer, all nodes together, in bytes.
store_used = Figure(lambda figures: figures.store_memory_bytes)

heap = Figure(lambda figures: figures.record.memory_usage)

#: Of all answers those that were limited, 0 to 1.
limited_share = Figure(lambda figures: figures.limited_share)

#: Answers that were limited.
limit_hits = Figure(lambda figures: figures.record.rate_limit_hits)

errors = Figure(lambda figures: figures.record.totalErrors)

calls_per_request = Figure(lambda figures: figures.record.calls_per_request)

descriptors_per_call = Figure(lambda figures: figures.record.descriptors_per_call)

decisions = Figure(lambda figures: figures.decisions)

#: What other programs used, in % of one CPU.
foreign_cpu = Figure(lambda figures: figures.foreign_cpu_percent)


@cache
def sum_of_kind(member: str, kind: str) -> Figure:
    """A member of the roles of a kind, all of them together; None where it is not known of one."""
    return Figure(lambda figures: sums_by_kind(figures.record.resources, member).get(kind))


def decision_cpu_us(figures: Measured) -> Mapping[str, float]:
    """CPU time in µs per decision by kind of role, all roles of a kind together; empty without a
    count of decisions. The load generator takes part only where it is the client.

    A decision is an answer, allowed or limited, to a consume of one descriptor, as the processes
    counted it that call the limiter. Its CPU time is what the counters of a role grew by, divided
    by the decisions between the same two readings: lead-in and window. At the server layer the Node
    part is the servers', with HTTP and the endpoint's work; at the limiter layer it is the load
    generator's, which is the client."""
    if not figures.decisions:
        return {}
    kinds = (node_kind(figures.layer), "service", "store")
    cpu_of = sums_by_kind(figures.record.resources, "cpu_us")
    return {kind: cpu_us / figures.decisions for kind, cpu_us in cpu_of.items() if kind in kinds}


def total_of(kinds: Sequence[str]) -> Figure:
    def total(figures: Measured) -> float | None:
        cpu_of = decision_cpu_us(figures)
        if not cpu_of or any(kind not in cpu_of for kind in kinds):
            return None
        return sum(cpu_of[kind] for kind in kinds)

    return Figure(total)


#: CPU per decision by kind of role.
PARTS: Mapping[str, Figure] = {kind: total_of((kind,)) for kind in MEASURED_KINDS}

#: The CPU per decision of the Node process that asks.
node_cpu = Figure(lambda figures: decision_cpu_us(figures).get(node_kind(figures.layer)))

mean_latency = latency("average")
p50 = percentile("p50")
p99 = percentile("p99")

#: Figures that have a range beside them, by the names that documents give them.
FIGURES: Mapping[str, Figure] = {
    "requests_per_second": throughput,
    "latency_p50_ms": p50,
    "latency_p99_ms": p99,
    "server_cpu_us_per_request": server_cpu,
}

#: Figures besides throughput by which a row can be shown to be better than all others. Less is
#: better.
COSTS: Mapping[str, Figure] = {
    "p50": p50,
    "p99": p99,
    "p99_9": percentile("p99_9"),
    "cpu": consumer_cpu,
    "service_cpu": service_cpu,
    "store_cpu": store_cpu,
    "heap": heap,
}
