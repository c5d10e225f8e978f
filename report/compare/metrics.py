"""The figures that can be compared, each of a run."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from report.analysis.figures import Figure, consumer_cpu, percentile, throughput
from report.analysis.summary import Summary
from report.base.format import microseconds, milliseconds, plural, rate


@dataclass(frozen=True, slots=True)
class Metric:
    id: str
    text: str
    """What it is, with its unit."""
    read: Figure
    show: Callable[[float | None], str]
    higher_is_better: bool


METRICS: dict[str, Metric] = {
    "throughput": Metric("throughput", "throughput in requests/s", throughput, rate, True),
    "p50": Metric("p50", "latency p50 in ms", percentile("p50"), milliseconds, False),
    "p99": Metric("p99", "latency p99 in ms", percentile("p99"), milliseconds, False),
    "cpu": Metric("cpu", "CPU time of the server in µs per request", consumer_cpu, microseconds, False),
}


#: In our recordings of saturated servers the two have a correlation of -0.97.
_ONE_MEASUREMENT = (
    "in a closed loop CPU per request follows from the throughput, so it is no evidence beside it: compare "
    "--metric throughput, or measure CPU at one common rate (--rate)"
)


def not_concluded(summary: Summary, metric: Metric) -> str:
    return _ONE_MEASUREMENT if metric.id == "cpu" and not summary.identity.open_loop else ""


def meaning_of(summary: Summary, metric: Metric) -> Iterator[str]:
    open_loop = summary.identity.open_loop
    if summary.identity.layer == "limiter":
        yield "at the limiter layer a request is a decision, and CPU time is that of the client"
    if metric.id == "throughput" and open_loop:
        yield "in an open loop throughput is what was offered: compare latencies there"
    if metric.id in ("p50", "p99") and not open_loop:
        yield "latencies at capacity follow from the throughput (M4)"


def notes_on(summary: Summary, metric: Metric) -> Iterator[str]:
    counted = [run.measured for run in summary.runs if run.eligible and run.measured]
    runs = plural(len(counted), "run")
    if summary.spoiled_runs:
        which = "they rank" if summary.spoiled_runs > 1 else "it ranks"
        yield f"{summary.spoiled_text}: {which} below all others (M24)"
    if bounded := sum(metric.read.percentile in run.bounds_ms for run in counted):
        yield f"{metric.id} is known only within bounds in {bounded} of {runs}: the upper one counts (M23)"
    if absent := sum(metric.read.at_most(run) is None for run in counted):
        yield f"{absent} of {len(counted)} runs have no such figure on record"
    if unsupported := sum(not metric.read.is_comparable(run) for run in counted):
        few = f"{metric.id} is unsupported in {unsupported} of {runs}"
        yield f"{few}, by too few samples or late sends: not compared"
