"""The columns that the tables of configurations and runs share, and those of runs and seconds.

A figure has a column in the tables of configurations and of runs. For a run it is the figure of the
run. For a configuration it is what `Summary.figure_of` makes of the runs (rule M28), with its range
and its bounds in further columns."""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from msgspec import Struct

from report.analysis import column
from report.analysis.column import Column, Read
from report.analysis.figure_list import FIGURE_LIST
from report.analysis.figures import Figure
from report.analysis.host_cpus import caps_of, host_cpus, shares_cpus
from report.analysis.late_sends import late_percentiles
from report.analysis.summary import Summary
from report.analysis.table_entries import RunEntry, SummaryEntry
from report.analysis.texts import caps_text
from report.results.catalog import DIMENSIONS
from report.results.generated.records import Boundary, Sample
from report.results.model import Measured, Run


def identity_value(name: str) -> Read:
    return attrgetter(f"summary.identity.{name}")


def _counted_dimension(key: str) -> Read:
    return lambda entry: entry.summary.identity.counts[key]


def _run_value(read: Callable[[Run], Any]) -> Read:
    return lambda entry: read(entry.run) if entry.run else None


def measured_value(read: Callable[[Measured], Any]) -> Read:
    return lambda entry: read(entry.measured) if entry.measured else None


def _boundary(read: Callable[[Sequence[Boundary]], Any]) -> Read:
    return lambda entry: read(entry.boundaries) if entry.boundaries else None


def _broken_promises(boundaries: Sequence[Boundary]) -> str:
    broken = (
        promise.id for boundary in boundaries for promise in boundary.promises if not promise.holds
    )
    return " ".join(dict.fromkeys(broken))


def _version(part: str) -> Read:
    return lambda entry: next(
        (run.versions[part] for run in entry.versioned_runs if part in run.versions), None
    )


def _runtime(entry: RunEntry | SummaryEntry) -> str | None:
    return next((run.record.runtime.id for run in entry.versioned_runs if run.record.runtime), None)


def _caps(run: Run) -> str | None:
    return caps_text(caps_of(run)) if run.record.runtime else None


def _bound(figure: Figure, end: str) -> Read:
    return lambda entry: getattr(entry.bounds(figure), end, None)


def bound_name(name: str, end: str) -> str:
    """The name of the column with an end of the bounds of a latency, such as
    `latency_p50_low_ms`."""
    return f"{name.removesuffix('_ms')}_{end}_ms"


BOUND_ENDS = ("low", "high")
BOUNDED = tuple(name for name, listed in FIGURE_LIST.items() if listed.has_bounds)
RANGED = tuple(name for name, listed in FIGURE_LIST.items() if listed.range_digits is not None)

#: Parts of a run whose version is on record.
VERSIONED = ("client", "limiter", "store", "fastify", "node", "autocannon", "harness")

#: The columns that the tables of runs and of configurations share.
COMMON_COLUMNS: Mapping[str, Column] = {
    "row": column.text(attrgetter("summary.id")),
    "load": column.text(lambda entry: entry.summary.identity.load_text),
    **{
        name: column.text(identity_value(name))
        for name in (
            "configuration_hash",
            "label",
            "topology",
            "workload",
            "traffic",
            "arrivals",
            "layer",
            "store",
            "store_text",
            "limiter",
            "decided_by",
            "algorithm",
            "module",
            "service",
        )
    },
    "complexity": column.whole(identity_value("complexity")),
    "connections": column.whole(identity_value("connections")),
    "rate_per_second": column.number(identity_value("rate_per_second"), 3, "1/s"),
    "duration_asked_s": column.number(identity_value("duration_s"), None, "s"),
    "requests_asked": column.whole(identity_value("requests")),
    **{dimension.key: column.whole(_counted_dimension(dimension.key)) for dimension in DIMENSIONS},
    **{name: column.figure(listed) for name, listed in FIGURE_LIST.items()},
    **{
        bound_name(name, end): column.number(_bound(FIGURE_LIST[name].figure, end), 3, "ms")
        for name in BOUNDED
        for end in BOUND_ENDS
    },
    "send_wakes_shared": column.truth(
        measured_value(lambda measured: getattr(measured.record.schedule, "shared_wakes", None))
    ),
    **{f"{part}_version": column.text(_version(part)) for part in VERSIONED},
    "runtime": column.text(_runtime),
    "burst_quotas": column.number(
        _boundary(lambda boundaries: max(boundary.burst.factor for boundary in boundaries)), 3
    ),
    "over_admitted": column.whole(
        _boundary(lambda boundaries: max(boundary.over_admission.total for boundary in boundaries))
    ),
    "under_admitted": column.whole(
        _boundary(lambda boundaries: max(boundary.under_admission.total for boundary in boundaries))
    ),
    "promises_broken": column.text(_boundary(_broken_promises)),
    "host_cpus": column.whole(_run_value(host_cpus)),
    "cpus_shared": column.truth(_run_value(shares_cpus)),
    "caps": column.text(_run_value(_caps)),
}

RUN_COLUMNS: Mapping[str, Column] = {
    **COMMON_COLUMNS,
    "run": column.whole(attrgetter("number")),
    "median": column.truth(
        lambda entry: entry.run is not None and entry.run is entry.summary.selected
    ),
    "status": column.text(lambda entry: entry.run.record.status if entry.run else "missing"),
    **{
        name: column.text(_run_value(attrgetter(name)))
        for name in ("verdict", "failure", "file", "outcome", "outcome_text", "set_aside")
    },
    "verdict_reasons": column.text(
        _run_value(lambda run: "; ".join(f"{reason.rule} {reason.text}" for reason in run.reasons))
    ),
    "limited_by": column.text(measured_value(lambda measured: measured.limiting_resource)),
    "notes": column.text(_run_value(lambda run: "; ".join(run.record.notes))),
    "started_at": column.text(_run_value(lambda run: run.record.started_at)),
    "latency_unsupported": column.text(
        measured_value(lambda measured: " ".join(measured.unsupported))
    ),
    "latency_late": column.text(
        measured_value(lambda measured: " ".join(late_percentiles(measured)))
    ),
    "warmup_steady": column.truth(measured_value(lambda measured: measured.record.warmup.steady)),
    "round": column.whole(_run_value(lambda run: run.place[0] if run.place else None)),
    "group": column.whole(_run_value(lambda run: run.place[1] if run.place else None)),
    "machines": column.whole(_run_value(lambda run: len(set(run.placement.values())) or None)),
    "placement": column.text(
        _run_value(lambda run: " ".join(map("=".join, sorted(run.placement.items()))))
    ),
}


class SecondEntry(Struct, frozen=True):
    """A second of the selected run of a configuration."""

    summary: Summary
    run: Run
    sample: Sample


def _sampled(name: str) -> Read:
    return attrgetter(f"sample.{name}")


SECOND_COLUMNS: Mapping[str, Column] = {
    "row": column.text(attrgetter("summary.id")),
    "configuration_hash": column.text(identity_value("configuration_hash")),
    "label": column.text(identity_value("label")),
    "run": column.whole(attrgetter("run.run")),
    "t_s": column.number(_sampled("t_s"), 3, "s"),
    "interval_s": column.number(_sampled("interval_s"), 3, "s"),
    **{name: column.whole(_sampled(name)) for name in ("allowed", "limited", "failed")},
    **{name: column.number(_sampled(name), 3, "ms") for name in ("p50_ms", "p99_ms")},
    "server_cpu_percent": column.number(_sampled("server_cpu_percent"), 2, "%"),
    "server_heap_used_bytes": column.number(_sampled("server_heap_used_bytes"), 0, "bytes"),
    "server_resident_bytes": column.number(_sampled("server_resident_bytes"), 0, "bytes"),
    "server_event_loop_utilisation": column.number(_sampled("server_event_loop_utilisation"), 4),
    "generator_event_loop_utilisation": column.number(
        _sampled("generator_event_loop_utilisation"), 4
    ),
}
