"""runs.csv: one row per run, with those that failed and those that are missing."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from report.analysis.decision_cpu import PARTS
from report.analysis.summary import Summary
from report.base.csv_text import Cell, csv_number, csv_text
from report.export.csv_figures import (
    BOUNDARY_FIGURES,
    FAILED,
    FIRST_DIMENSIONS,
    FIRST_KINDS,
    LATER_DIMENSIONS,
    LATER_KINDS,
    OF_KINDS,
    SCHEDULE_FIGURES,
    VERSIONED,
    bound_of,
    late_percentiles,
    of_kind,
    wakes_shared,
)
from report.results.model import Measured, Run
from report.results.records import Boundary


@dataclass(frozen=True, slots=True)
class _Row:
    summary: Summary
    number: int
    run: Run | None

    @property
    def measured(self) -> Measured | None:
        return self.run.measured if self.run else None


Column = tuple[str, Callable[[_Row], Cell]]


def _of_run(read: Callable[[Run], Cell]) -> Callable[[_Row], Cell]:
    return lambda row: read(row.run) if row.run else None


def _of_measured(read: Callable[[Measured], Cell]) -> Callable[[_Row], Cell]:
    return lambda row: read(row.measured) if row.measured else None


def _figure(read: Callable[[Measured], float | None], digits: int = 0) -> Callable[[_Row], Cell]:
    return _of_measured(lambda measured: csv_number(read(measured), digits))


def _identity(*names: str) -> Iterable[Column]:
    return ((name, attrgetter(f"summary.identity.{name}")) for name in names)


def _percentile(name: str) -> Callable[[_Row], Cell]:
    return _figure(lambda measured: measured.percentiles_ms.get(name), 3)


def _latency(name: str) -> Callable[[_Row], Cell]:
    return _figure(lambda measured: measured.latency_ms.get(name), 3)


def _by_kind(kinds: Sequence[str]) -> Iterable[Column]:
    return (
        (f"{kind}_{name}", _figure(of_kind(kind, member), digits))
        for kind in kinds
        for name, (member, digits) in OF_KINDS.items()
    )


def _reasons(run: Run) -> Cell:
    return "; ".join(f"{reason.rule} {reason.text}" for reason in run.reasons) or None


def _warm_up_steady(measured: Measured) -> Cell:
    steady = measured.record.warmup.steady
    return None if steady is None else str(steady).lower()


def _boundary(read: Callable[[Sequence[Boundary]], Cell]) -> Callable[[_Row], Cell]:
    return _of_measured(lambda each: read([each.record.boundary]) if each.record.boundary else None)


def _count(key: str) -> Column:
    return (key, lambda row: row.summary.identity.counts[key])


def _asked_s(row: _Row) -> Cell:
    asked = row.summary.identity.duration_s
    return None if asked is None else f"{asked:g}"


def _placement(run: Run) -> Cell:
    return " ".join(f"{role}={name}" for role, name in sorted(run.placement.items())) or None


_PERCENTILES = ("p50", "p75", "p90", "p95", "p97_5", "p99", "p99_9")

#: New ones come last: what reads columns by their place goes on working.
_COLUMNS: tuple[Column, ...] = (
    *_identity("configuration_hash", "label", "topology", "workload", "complexity", "traffic", "connections"),
    ("rate_per_second", lambda row: csv_number(row.summary.identity.rate_per_second, 3)),
    ("arrivals", lambda row: row.summary.identity.arrivals),
    ("duration_asked_s", _asked_s),
    ("requests_asked", lambda row: row.summary.identity.requests),
    ("run", lambda row: row.number),
    ("median", lambda row: str(row.run is not None and row.run is row.summary.median).lower()),
    ("status", lambda row: row.run.record.status if row.run else "missing"),
    ("verdict", _of_run(lambda run: run.verdict)),
    ("failure", _of_run(lambda run: run.failure)),
    ("verdict_reasons", _of_run(_reasons)),
    ("limited_by", _of_measured(lambda measured: measured.limiting_resource)),
    ("notes", _of_run(lambda run: "; ".join(run.record.notes) or None)),
    ("started_at", _of_run(lambda run: run.record.started_at)),
    ("duration_s", _figure(lambda measured: measured.record.duration, 6)),
    ("requests_per_second", _figure(lambda measured: measured.requests_per_second, 3)),
    ("requests_total", _figure(lambda measured: measured.record.requests.total)),
    *((f"latency_{name}_ms", _percentile(name)) for name in _PERCENTILES),
    *((f"latency_{name}_ms", _latency(name)) for name in ("average", "min", "max", "stddev")),
    ("latency_unsupported", _of_measured(lambda measured: " ".join(measured.unsupported))),
    ("rate_limit_hits", _figure(lambda measured: measured.record.rate_limit_hits)),
    ("limited_share", _figure(lambda measured: measured.limited_share, 6)),
    *_by_kind(FIRST_KINDS),
    ("foreign_cpu_percent", _figure(lambda measured: measured.foreign_cpu_percent, 1)),
    ("server_heap_bytes", _figure(lambda measured: measured.record.memory_usage)),
    ("store_memory_bytes", _figure(lambda measured: measured.store_memory_bytes)),
    *((name, _figure(attrgetter(f"record.{path}"))) for name, path in FAILED),
    *(
        (f"{part}_version", _of_run(lambda run, part=part: run.versions.get(part)))  # type: ignore[misc]
        for part in VERSIONED
    ),
    ("runtime", _of_run(lambda run: run.record.runtime.id if run.record.runtime else None)),
    ("file", _of_run(lambda run: run.file)),
    ("layer", lambda row: row.summary.identity.layer),
    *map(_count, FIRST_DIMENSIONS),
    ("calls_per_request", _figure(lambda measured: measured.record.calls_per_request, 3)),
    ("descriptors_per_call", _figure(lambda measured: measured.record.descriptors_per_call, 3)),
    ("outcome", _of_run(lambda run: run.outcome)),
    ("outcome_text", _of_run(lambda run: run.outcome_text)),
    ("warmup_s", _figure(lambda measured: measured.record.warmup.took_s, 3)),
    ("warmup_requests", _figure(lambda measured: measured.record.warmup.requests)),
    ("warmup_steady", _of_measured(_warm_up_steady)),
    ("requests_followed", _figure(lambda measured: measured.record.counts.followed)),
    *(
        (f"latency_{name}_{end}_ms", _figure(bound_of(name, end), 3))
        for name in (*_PERCENTILES, "average", "max")
        for end in ("low", "high")
    ),
    *((name, _figure(read, digits)) for name, read, digits in SCHEDULE_FIGURES),
    ("send_wakes_shared", _of_measured(wakes_shared)),
    ("latency_late", _of_measured(late_percentiles)),
    *_by_kind(LATER_KINDS),
    ("decisions", _figure(lambda measured: measured.decisions)),
    *((f"cpu_us_per_decision_{kind}", _figure(read, 3)) for kind, read in PARTS.items()),
    ("round", _of_run(lambda run: run.place[0] if run.place else None)),
    ("group", _of_run(lambda run: run.place[1] if run.place else None)),
    ("set_aside", _of_run(lambda run: run.set_aside or None)),
    *((name, _boundary(read)) for name, read in BOUNDARY_FIGURES),
    *map(_count, LATER_DIMENSIONS),
    ("machines", _of_run(lambda run: len(set(run.placement.values())) or None)),
    ("placement", _of_run(_placement)),
)

HEADER = tuple(name for name, _ in _COLUMNS)


def _rows(summaries: Iterable[Summary]) -> Iterable[_Row]:
    for summary in summaries:
        recorded = [_Row(summary, run.run, run) for run in (*summary.set_aside, *summary.runs)]
        missing = [_Row(summary, number, None) for number in summary.missing]
        yield from sorted([*recorded, *missing], key=lambda row: row.number)


def runs_csv(summaries: Sequence[Summary]) -> str:
    return csv_text(HEADER, ([read(row) for _, read in _COLUMNS] for row in _rows(summaries)))
