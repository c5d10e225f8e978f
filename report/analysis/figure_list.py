"""The list of figures, each with its unit, decimals and direction, by the name of its column.

Tables, CSV files and the frames of `frames.py` follow this list. A new figure is one entry."""

from collections.abc import Mapping
from operator import attrgetter
from typing import Literal

from msgspec import Struct

from report.analysis.figures import (
    PARTS,
    Figure,
    calls_per_request,
    consumer_cpu,
    cores,
    decisions,
    descriptors_per_call,
    errors,
    foreign_cpu,
    from_send,
    heap,
    latency,
    limited_share,
    of_schedule,
    percentile,
    store_used,
    sum_of_kind,
    throughput,
)
from report.results.catalog import MEASURED_KINDS
from report.statistics.histograms import PERCENTILES

Direction = Literal["higher", "lower", ""]


class NamedFigure(Struct, frozen=True, kw_only=True):
    figure: Figure
    unit: str
    """Empty for a count and for a share from 0 to 1."""
    digits: int
    """Decimals in CSV files."""
    neutral: bool = False
    """Whether neither higher nor lower values are better."""
    range_digits: int | None = None
    """Decimals of its range over the runs. None if tables of configurations show no range of it."""
    has_bounds: bool = False
    """Whether failed or unanswered requests can leave nothing but bounds of it (rule M23)."""

    @property
    def direction(self) -> Direction:
        """Which values are better. Empty if neither higher nor lower ones are."""
        if self.neutral:
            return ""
        return "higher" if self.figure.higher_is_better else "lower"


def _recorded(path: str) -> Figure:
    """A figure that the result contains at this path."""
    return Figure(attrgetter(path))


def _count(figure: Figure, *, neutral: bool = True, has_range: bool = False) -> NamedFigure:
    range_digits = 0 if has_range else None
    return NamedFigure(figure=figure, unit="", digits=0, neutral=neutral, range_digits=range_digits)


def _milliseconds(
    figure: Figure, *, has_range: bool = False, has_bounds: bool = False, neutral: bool = False
) -> NamedFigure:
    range_digits = 3 if has_range else None
    return NamedFigure(
        figure=figure,
        unit="ms",
        digits=3,
        neutral=neutral,
        range_digits=range_digits,
        has_bounds=has_bounds,
    )


def _share(figure: Figure, digits: int, *, has_range: bool = False) -> NamedFigure:
    range_digits = digits if has_range else None
    return NamedFigure(
        figure=figure, unit="", digits=digits, neutral=True, range_digits=range_digits
    )


def _cpu_us(figure: Figure) -> NamedFigure:
    return NamedFigure(figure=figure, unit="us", digits=3, range_digits=3)


def _of_kind(kind: str) -> dict[str, NamedFigure]:
    """The figures of what all roles of a kind used together."""
    return {
        f"{kind}_cpu_us_per_request": _cpu_us(sum_of_kind("cpu_us_per_request", kind)),
        f"{kind}_cpu_percent": NamedFigure(
            figure=sum_of_kind("cpu_percent", kind), unit="%", digits=2, range_digits=3
        ),
        f"{kind}_resident_bytes": NamedFigure(
            figure=sum_of_kind("resident_bytes_mean", kind), unit="bytes", digits=0
        ),
        f"{kind}_run_delay_us": NamedFigure(
            figure=sum_of_kind("run_delay_us", kind), unit="us", digits=0
        ),
    }


#: The gaps between the sends of an open loop: the planned one, then percentiles of the real ones.
SEND_GAPS = ("intended", "p10", "p50", "p90", "p99", "max")

#: The path of each count of failed requests in a run.
FAILED: Mapping[str, str] = {
    "connection_errors": "record.errors",
    "timeouts": "record.timeouts",
    "failed_answers": "record.counts.failed_answers",
}

#: The latencies whose range over the runs tables show.
_RANGED_LATENCIES = ("p50", "p99", "p99_9")


def _send_gap(name: str) -> NamedFigure:
    figure = of_schedule(lambda schedule: getattr(schedule.gaps_ms, name, None))
    return _milliseconds(figure, has_range=name == "intended", neutral=True)


def _latency(name: str) -> NamedFigure:
    figure = percentile(name) if name in PERCENTILES else latency(name)
    return _milliseconds(
        figure, has_range=name in _RANGED_LATENCIES, has_bounds=name not in ("min", "stddev")
    )


FIGURE_LIST: Mapping[str, NamedFigure] = {
    "duration_s": NamedFigure(
        figure=_recorded("record.duration"), unit="s", digits=6, neutral=True
    ),
    "requests_per_second": NamedFigure(figure=throughput, unit="1/s", digits=3),
    "requests_total": _count(_recorded("record.requests.total")),
    **{
        f"latency_{name}_ms": _latency(name)
        for name in (
            "p50",
            "p75",
            "p90",
            "p95",
            "p97_5",
            "p99",
            "p99_9",
            "average",
            "min",
            "max",
            "stddev",
        )
    },
    **{
        f"service_{name}_ms": _milliseconds(from_send(name), has_range=True, has_bounds=True)
        for name in ("p50", "p99")
    },
    "rate_limit_hits": _count(_recorded("record.rate_limit_hits")),
    "limited_share": _share(limited_share, 6),
    "limited_share_seen": _share(limited_share, 4, has_range=True),
    "limited_share_predicted": _share(
        Figure(lambda figures: getattr(figures.record.prediction, "limited_share", None)), 4
    ),
    # The CPU of the servers, or at the limiter layer that of the generator, which is the client
    # there.
    "cpu_us_per_request": _cpu_us(consumer_cpu),
    **{name: listed for kind in MEASURED_KINDS for name, listed in _of_kind(kind).items()},
    "foreign_cpu_percent": NamedFigure(figure=foreign_cpu, unit="%", digits=1),
    "server_heap_bytes": NamedFigure(figure=heap, unit="bytes", digits=0, range_digits=0),
    "store_memory_bytes": NamedFigure(figure=store_used, unit="bytes", digits=0),
    **{name: _count(_recorded(path), neutral=False) for name, path in FAILED.items()},
    "errors_total": _count(errors, neutral=False, has_range=True),
    "calls_per_request": NamedFigure(figure=calls_per_request, unit="", digits=3, neutral=True),
    "descriptors_per_call": NamedFigure(
        figure=descriptors_per_call, unit="", digits=3, neutral=True
    ),
    "warmup_s": NamedFigure(
        figure=_recorded("record.warmup.took_s"), unit="s", digits=3, neutral=True
    ),
    "warmup_requests": _count(_recorded("record.warmup.requests")),
    "requests_followed": _count(_recorded("record.counts.followed")),
    "decisions": _count(decisions, has_range=True),
    **{f"cpu_us_per_decision_{kind}": _cpu_us(figure) for kind, figure in PARTS.items()},
    "sends_per_second": NamedFigure(
        figure=of_schedule(lambda schedule: schedule.achieved_per_second),
        unit="1/s",
        digits=3,
        neutral=True,
        range_digits=3,
    ),
    "sends_late": _count(
        of_schedule(lambda schedule: schedule.late), neutral=False, has_range=True
    ),
    "sends_dropped": _count(
        of_schedule(lambda schedule: schedule.dropped + schedule.unsent),
        neutral=False,
        has_range=True,
    ),
    "send_lateness_p99_ms": _milliseconds(
        of_schedule(lambda schedule: getattr(schedule.lateness_ms, "p99", None))
    ),
    **{f"send_gap_{name}_ms": _send_gap(name) for name in SEND_GAPS},
    **{
        f"{kind}_cores": NamedFigure(figure=cores(kind), unit="cores", digits=6, range_digits=6)
        for kind in MEASURED_KINDS
    },
}
