"""runs.csv: one row per run, with those that failed and those that are missing."""

from collections.abc import Callable, Iterable, Sequence

from report.analysis.decision_cpu import PARTS
from report.analysis.summary import Summary
from report.base.csv_text import Cell, csv_number, csv_text
from report.export.csv_figures import (
    BOUNDARY_FIGURES,
    FIRST_DIMENSIONS,
    FIRST_KINDS,
    LATER_DIMENSIONS,
    LATER_KINDS,
    SCHEDULE_FIGURES,
    bound_of,
    late_percentiles,
    wakes_shared,
)
from report.results.model import Boundary, HostSpeed, Identity, Measured, Run
from report.results.roles import cpu_percent, cpu_us_per_request, resident_bytes, run_delay_us

Column = tuple[str, Callable[[Run], Cell]]


def _figure(read: Callable[[Measured], float | None], digits: int = 0) -> Callable[[Run], Cell]:
    return lambda run: csv_number(read(run.measured), digits) if run.measured else None


def _percentile(name: str) -> Callable[[Run], Cell]:
    return _figure(lambda measured: measured.percentiles_ms.get(name), 3)


def _latency(name: str) -> Callable[[Run], Cell]:
    return _figure(lambda measured: measured.latency_ms.get(name), 3)


def _by_kind(kinds: Sequence[str]) -> Iterable[Column]:
    for kind in kinds:
        for name, read, digits in (
            ("cpu_us_per_request", cpu_us_per_request, 3),
            ("cpu_percent", cpu_percent, 2),
            ("resident_bytes", resident_bytes, 0),
            ("run_delay_us", run_delay_us, 0),
        ):
            # Bound now: the loop goes on before the column is read.
            def figure(measured: Measured, read=read, kind=kind) -> float | None:  # type: ignore[no-untyped-def]
                value: float | None = read(measured.roles).get(kind)
                return value

            yield f"{kind}_{name}", _figure(figure, digits)


def _reasons(run: Run) -> Cell:
    return "; ".join(f"{reason.rule} {reason.text}" for reason in run.reasons) or None


def _warm_up_steady(run: Run) -> Cell:
    steady = run.measured.warm_up.steady if run.measured else None
    return None if steady is None else str(steady).lower()


def _wakes_shared(run: Run) -> Cell:
    return wakes_shared(run.measured) if run.measured else None


def _late(measured: Measured | None) -> Cell:
    return late_percentiles(measured) if measured else None


def _boundary(read: Callable[[Sequence[Boundary]], Cell]) -> Callable[[Run], Cell]:
    """Empty with other traffic than boundary."""
    return lambda run: read([run.measured.boundary]) if run.measured and run.measured.boundary else None


def _host(read: Callable[[HostSpeed], float | None], digits: int, after: bool) -> Callable[[Run], Cell]:
    """Of the measurement before or after the run; empty where it is not known."""

    def figure(run: Run) -> Cell:
        found = run.host_speed
        return csv_number(read(found.after if after else found.before), digits) if found else None

    return figure


_HOST_FIGURES: tuple[tuple[str, Callable[[HostSpeed], float | None], int], ...] = (
    ("host_integer", lambda speed: speed.integer_us, 1),
    ("host_chase", lambda speed: speed.chase_us, 1),
    ("host_ping_pong", lambda speed: speed.ping_pong_us, 3),
)

_PERCENTILES = ("p50", "p75", "p90", "p95", "p97_5", "p99", "p99_9")

_COLUMNS: tuple[Column, ...] = (
    ("status", lambda run: run.status),
    ("verdict", lambda run: run.verdict),
    ("failure", lambda run: run.failure),
    ("verdict_reasons", _reasons),
    ("limited_by", lambda run: run.measured.limiting_resource if run.measured else None),
    ("notes", lambda run: "; ".join(run.notes) or None),
    ("started_at", lambda run: run.started_at),
    ("duration_s", _figure(lambda measured: measured.duration_s, 6)),
    ("requests_per_second", _figure(lambda measured: measured.requests_per_second, 3)),
    ("requests_total", _figure(lambda measured: measured.requests_total)),
    *((f"latency_{name}_ms", _percentile(name)) for name in _PERCENTILES),
    *((f"latency_{name}_ms", _latency(name)) for name in ("average", "min", "max", "stddev")),
    ("latency_unsupported", lambda run: " ".join(run.measured.unsupported) if run.measured else None),
    ("rate_limit_hits", _figure(lambda measured: measured.rate_limit_hits)),
    ("limited_share", _figure(lambda measured: measured.limited_share, 6)),
    *_by_kind(FIRST_KINDS),
    ("foreign_cpu_percent", _figure(lambda measured: measured.foreign_cpu_percent, 1)),
    ("server_heap_bytes", _figure(lambda measured: measured.heap_bytes)),
    ("store_memory_bytes", _figure(lambda measured: measured.store_memory_bytes)),
    ("connection_errors", _figure(lambda measured: measured.connection_errors)),
    ("timeouts", _figure(lambda measured: measured.timeouts)),
    ("failed_answers", _figure(lambda measured: measured.failed_answers)),
    ("errors_total", _figure(lambda measured: measured.errors_total)),
    *(
        (f"{part}_version", lambda run, part=part: run.versions.get(part))
        for part in ("client", "limiter", "store", "fastify", "node", "autocannon", "harness")
    ),
    ("runtime", lambda run: run.runtime["id"] if run.runtime else None),
    ("file", lambda run: run.file),
)


def _count(key: str) -> tuple[str, Callable[[Identity], Cell]]:
    return (key, lambda identity: identity.counts[key])


#: Known of a run that left no file too, but at the end: what reads columns by their place goes on working.
_LAST_COLUMNS: tuple[tuple[str, Callable[[Identity], Cell]], ...] = (
    ("layer", lambda identity: identity.layer),
    *map(_count, FIRST_DIMENSIONS),
)
_LAST_FIGURES: tuple[Column, ...] = (
    ("calls_per_request", _figure(lambda measured: measured.calls_per_request, 3)),
    ("descriptors_per_call", _figure(lambda measured: measured.descriptors_per_call, 3)),
    ("outcome", lambda run: run.outcome),
    ("outcome_text", lambda run: run.outcome_text),
    ("warmup_s", _figure(lambda measured: measured.warm_up.took_s, 3)),
    ("warmup_requests", _figure(lambda measured: measured.warm_up.requests)),
    ("warmup_steady", _warm_up_steady),
    ("requests_followed", _figure(lambda measured: measured.requests_followed)),
    *(
        (f"latency_{name}_{end}_ms", _figure(bound_of(name, end), 3))
        for name in (*_PERCENTILES, "average", "max")
        for end in ("low", "high")
    ),
    *((name, _figure(read, digits)) for name, read, digits in SCHEDULE_FIGURES),
    ("send_wakes_shared", _wakes_shared),
    ("latency_late", lambda run: _late(run.measured)),
    *_by_kind(LATER_KINDS),
    ("decisions", _figure(lambda measured: measured.decisions)),
    *((f"cpu_us_per_decision_{kind}", _figure(read, 3)) for kind, read in PARTS.items()),
    ("round", lambda run: run.place[0] if run.place else None),
    ("group", lambda run: run.place[1] if run.place else None),
    ("set_aside", lambda run: run.set_aside or None),
    ("host_speed", lambda run: csv_number(run.host_index, 4)),
    *(
        (f"{name}_{moment}_us", _host(read, digits, moment == "after"))
        for name, read, digits in _HOST_FIGURES
        for moment in ("before", "after")
    ),
    *((name, _boundary(read)) for name, read in BOUNDARY_FIGURES),
)
#: Like `_LAST_COLUMNS`, and later than the figures.
_LATER_COLUMNS: tuple[tuple[str, Callable[[Identity], Cell]], ...] = tuple(map(_count, LATER_DIMENSIONS))


def _placement(run: Run) -> Cell:
    """`generator-1=a server-1=b store-1=b`; empty on one machine."""
    return " ".join(f"{role}={name}" for role, name in sorted(run.placement.items())) or None


def _machine_speed(run: Run) -> Cell:
    """`a=1.0021 b=0.9874`, as `host_speed`; empty on one machine."""
    return " ".join(f"{name}={index:.4f}" for name, index in sorted(run.machine_index.items())) or None


#: Later still.
_MACHINE_COLUMNS: tuple[Column, ...] = (
    ("machines", lambda run: len(set(run.placement.values())) or None),
    ("placement", _placement),
    ("machine_speed", _machine_speed),
)

HEADER = (
    "configuration_hash",
    "label",
    "topology",
    "workload",
    "complexity",
    "traffic",
    "connections",
    "rate_per_second",
    "arrivals",
    "duration_asked_s",
    "requests_asked",
    "run",
    "median",
    *(name for name, _ in _COLUMNS),
    *(name for name, _ in _LAST_COLUMNS),
    *(name for name, _ in _LAST_FIGURES),
    *(name for name, _ in _LATER_COLUMNS),
    *(name for name, _ in _MACHINE_COLUMNS),
)


def _first(summary: Summary, number: int, median: bool) -> list[Cell]:
    identity = summary.identity
    return [
        identity.configuration_hash,
        identity.label,
        identity.topology,
        identity.workload,
        identity.complexity,
        identity.traffic,
        identity.connections,
        csv_number(identity.rate_per_second, 3),
        identity.arrivals,
        None if identity.duration_s is None else f"{identity.duration_s:g}",
        identity.requests,
        number,
        str(median).lower(),
    ]


def _rows(summaries: Iterable[Summary]) -> Iterable[list[Cell]]:
    absent: list[Cell] = [None] * (len(_COLUMNS) - 1)
    for summary in summaries:
        recorded = [(run.run, run) for run in (*summary.set_aside, *summary.runs)]
        missing = [(number, None) for number in summary.missing]
        for number, run in sorted([*recorded, *missing], key=lambda entry: entry[0]):
            first = _first(summary, number, run is not None and run is summary.median)
            middle = [read(run) for _, read in _COLUMNS] if run else ["missing", *absent]
            last = [read(summary.identity) for _, read in _LAST_COLUMNS]
            figures = [read(run) if run else None for _, read in _LAST_FIGURES]
            later = [read(summary.identity) for _, read in _LATER_COLUMNS]
            machines = [read(run) if run else None for _, read in _MACHINE_COLUMNS]
            yield [*first, *middle, *last, *figures, *later, *machines]


def runs_csv(summaries: Sequence[Summary]) -> str:
    """Every run that was recorded or planned, by row and number. What is absent is an empty cell, never 0."""
    return csv_text(HEADER, _rows(summaries))
