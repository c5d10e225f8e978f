"""The metrics by which two sides can be compared."""

from msgspec import Struct

from report.analysis.figures import Figure, consumer_cpu, cores, percentile, throughput
from report.analysis.summary import Summary
from report.base.format import Show, microseconds, milliseconds, rate
from report.base.format import cores as cores_text


class Metric(Struct, frozen=True):
    """A figure by which two sides can be compared."""

    id: str
    text: str
    """What it is, with its unit."""
    read: Figure
    show: Show


METRICS: dict[str, Metric] = {
    "throughput": Metric("throughput", "throughput in requests/s", throughput, rate),
    "p50": Metric("p50", "latency p50 in ms", percentile("p50"), milliseconds),
    "p99": Metric("p99", "latency p99 in ms", percentile("p99"), milliseconds),
    "cpu": Metric("cpu", "CPU time of the server in µs per request", consumer_cpu, microseconds),
    **{
        f"{kind}_cores": Metric(
            f"{kind}_cores", f"CPUs that the {kind} kept busy", cores(kind), cores_text
        )
        for kind in ("server", "store", "service")
    },
}


#: In recordings of saturated servers throughput and CPU per request have a correlation of -0.97.
_ONE_MEASUREMENT = (
    "in a closed loop CPU per request follows from the throughput, so it is no evidence beside it: compare "
    "--metric throughput, or measure CPU at one common rate (--rate)"
)


def not_concluded(summary: Summary, metric: Metric) -> str:
    """Why nothing is concluded from the metric. Empty if it can be evidence."""
    is_cpu = metric.id == "cpu" or metric.id.endswith("_cores")
    return _ONE_MEASUREMENT if is_cpu and not summary.identity.open_loop else ""
