"""summary.csv for spreadsheets and existing tooling: one row per configuration."""

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter

from report.analysis.decision_cpu import PARTS
from report.analysis.figures import FIGURES, Figure
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
from report.results.model import Measured, stated_bounds
from report.results.records import Boundary, Schedule
from report.sections.boundary import boundaries_of
from report.statistics.median import MIN_FIGURES, median_interval

Column = tuple[str, Callable[[Summary], Cell]]


def _figure(read: Callable[[Measured], float | None], digits: int = 0) -> Callable[[Summary], Cell]:
    return lambda summary: csv_number(read(summary.figures), digits) if summary.figures else None


def _percentile(name: str) -> Callable[[Summary], Cell]:
    return _figure(lambda figures: figures.percentiles_ms.get(name), 3)


def _latency(name: str) -> Callable[[Summary], Cell]:
    return _figure(lambda figures: figures.latency_ms.get(name), 3)


def _spread(name: str, digits: int = 2) -> Callable[[Summary], Cell]:
    return lambda summary: csv_number(getattr(summary.spread, name, None), digits)


def _service_bound(name: str, end: str) -> Callable[[Summary], Cell]:
    def read(figures: Measured) -> float | None:
        known = stated_bounds(figures.record.service_time).get(name)
        return getattr(known, end) if known else None

    return _figure(read, 3)


def _end(read: Figure, index: int) -> Callable[[Summary], Cell]:

    def end(summary: Summary) -> Cell:
        ends = summary.range_of(read)
        return csv_number(ends[index], 3) if ends else None

    return end


def _untypical(summary: Summary) -> Cell:
    return " ".join(name for name, read in FIGURES.items() if summary.is_untypical(read)) or None


def _of_kinds(name: str, kinds: Sequence[str] = FIRST_KINDS) -> Iterable[Column]:
    member, digits = OF_KINDS[name]
    return ((f"{kind}_{name}", _figure(of_kind(kind, member), digits)) for kind in kinds)


def _interval(end: str, digits: int = 2) -> Callable[[Summary], Cell]:
    """Of the median over the runs that count; empty where they are too few for one, and where it is that of a
    run in which the target failed its load."""

    def read(summary: Summary) -> Cell:
        found = summary.throughputs
        value = getattr(median_interval(found), end) if len(found) >= MIN_FIGURES else None
        return csv_number(value, digits) if value else None

    return read


def _over_all_runs(read: Callable[[Measured], int]) -> Callable[[Summary], Cell]:

    def total(summary: Summary) -> Cell:
        found = [read(run.measured) for run in summary.runs if run.measured]
        return sum(found) if found else None

    return total


def _boundary(read: Callable[[Sequence[Boundary]], Cell]) -> Callable[[Summary], Cell]:
    return lambda summary: read(found) if (found := boundaries_of(summary)) else None


def _by_code(summary: Summary) -> Cell:
    found = summary.figures.failed_by_code if summary.figures else {}
    return " ".join(f"{code}:{count}" for code, count in found.items()) or None


def _schedule(read: Callable[[Schedule], float | None], digits: int = 0) -> Callable[[Summary], Cell]:
    """Of the median run's open loop; empty in a closed one."""
    return _figure(lambda figures: read(figures.record.schedule) if figures.record.schedule else None, digits)


def _version(part: str) -> Callable[[Summary], Cell]:
    return lambda summary: next((r.versions[part] for r in summary.median_first if part in r.versions), None)


def _runtime(fact: str) -> Callable[[Summary], Cell]:
    def read(summary: Summary) -> Cell:
        found = (run.record.runtime for run in summary.median_first)
        return next((str(getattr(runtime, fact)) for runtime in found if runtime), None)

    return read


def _duration(summary: Summary) -> Cell:
    asked = summary.identity.duration_s
    return f"{asked:g}" if asked is not None else _figure(lambda figures: figures.record.duration, 3)(summary)


def _limit(index: int) -> Callable[[Summary], Cell]:
    return lambda summary: summary.identity.limits[index] if summary.identity.limits else None


def _share(seen: bool) -> Callable[[Summary], Cell]:
    def read(figures: Measured) -> float | None:
        if seen:
            return figures.limited_share
        return figures.record.prediction.limited_share if figures.record.prediction else None

    return _figure(read, 4)


def _store_external(summary: Summary) -> Cell:
    """Whether the store is one that the user already ran; empty where there is none, or none is known."""
    identity = summary.identity
    return None if identity.store is None or identity.ceiling else str(identity.external_store).lower()


def _decides_locally(summary: Summary) -> Cell:
    known = summary.identity.decided_by is not None
    return str(summary.identity.decides_locally).lower() if known else None


def _reasons(summary: Summary) -> Cell:
    texts = [f"run {run.run}: {reason.rule} {reason.text}" for run in summary.runs for reason in run.reasons]
    failures = [f"run {run.run}: {run.failure}" for run in summary.runs if run.failure]
    outcomes = [f"run {run.run}: {run.outcome_text}" for run in summary.runs if run.outcome_text]
    return "; ".join([*failures, *outcomes, *texts]) or None


def _own(*names: str) -> Iterable[Column]:
    return ((name, attrgetter(name)) for name in names)


def _identity(*names: str) -> Iterable[Column]:
    return ((name, attrgetter(f"identity.{name}")) for name in names)


def _counts(key: str) -> Column:
    return (key, lambda summary: summary.identity.counts[key])


#: The columns that existing tooling reads come first, under their old names; the others carry units in
#: theirs.
COLUMNS: tuple[Column, ...] = (
    ("Client", lambda summary: summary.identity.short_label),
    ("Mode", lambda summary: summary.identity.topology),
    ("RequestType", lambda summary: summary.identity.workload),
    ("Concurrency", lambda summary: summary.identity.connections),
    ("Duration", _duration),
    ("ReqPerSec", _figure(lambda figures: figures.requests_per_second, 2)),
    ("Latency_Avg", _latency("average")),
    ("Latency_P50", _percentile("p50")),
    ("Latency_P99", _percentile("p99")),
    ("RateLimitHits", _figure(lambda figures: figures.record.rate_limit_hits)),
    ("CPUUsage", _figure(lambda figures: figures.record.cpu_usage, 2)),
    ("MemoryUsage", _figure(lambda figures: figures.record.memory_usage)),
    ("store", lambda summary: summary.identity.store),
    ("store_external", _store_external),
    ("limiter", lambda summary: summary.identity.limiter),
    ("limiter_script_kind", lambda summary: " ".join(script.kind for script in summary.scripts) or None),
    ("limiter_script", lambda summary: " ".join(script.name_or_sha1 for script in summary.scripts) or None),
    ("options", lambda summary: " ".join(summary.identity.options) or None),
    ("traffic", lambda summary: summary.identity.traffic),
    ("load_model", lambda summary: "open" if summary.identity.open_loop else "closed"),
    ("rate_per_second", lambda summary: csv_number(summary.identity.rate_per_second, 3)),
    ("arrivals", lambda summary: summary.identity.arrivals),
    ("complexity", lambda summary: summary.identity.complexity),
    *((f"limit_{name}", _limit(i)) for i, name in enumerate(("points", "window_s", "block_s", "cost"))),
    ("control", lambda summary: str(summary.identity.control).lower()),
    ("runs", lambda summary: len(summary.runs)),
    *_own("valid_runs", "suspect_runs", "invalid_runs", "failed_runs"),
    ("missing_runs", lambda summary: len(summary.missing)),
    ("median_run", lambda summary: summary.median.run if summary.median else None),
    *((f"requests_per_second_{name}", _spread(name)) for name in ("min", "max", "stdev", "cv_percent")),
    ("requests_per_second_interval_low", _interval("low")),
    ("requests_per_second_interval_high", _interval("high")),
    ("requests_per_second_interval_coverage", _interval("coverage", 4)),
    ("requests_total", _figure(lambda figures: figures.record.requests.total)),
    *((f"latency_{name}_ms", _percentile(name)) for name in ("p75", "p90", "p95", "p97_5", "p99_9")),
    ("service_p50_ms", _figure(lambda figures: getattr(figures.record.service_time, "p50", None), 3)),
    ("service_p99_ms", _figure(lambda figures: getattr(figures.record.service_time, "p99", None), 3)),
    ("sends_per_second", _schedule(lambda schedule: schedule.achieved_per_second, 3)),
    ("sends_late", _schedule(lambda schedule: schedule.late)),
    ("sends_dropped", _schedule(lambda schedule: schedule.dropped + schedule.unsent)),
    ("send_lateness_p99_ms", _schedule(lambda each: each.lateness_ms.p99 if each.lateness_ms else None, 3)),
    ("latency_min_ms", _latency("min")),
    ("latency_max_ms", _latency("max")),
    ("latency_stddev_ms", _latency("stddev")),
    (
        "latency_unsupported",
        lambda summary: " ".join(summary.figures.unsupported) if summary.figures else None,
    ),
    ("limited_share_predicted", _share(seen=False)),
    ("limited_share_seen", _share(seen=True)),
    *_of_kinds("cpu_us_per_request"),
    *_of_kinds("cpu_percent"),
    *(
        # As the servers report it themselves.
        (name, _figure(attrgetter("record.memory_resident")) if name == "server_resident_bytes" else read)
        for name, read in _of_kinds("resident_bytes")
    ),
    ("store_memory_bytes", _figure(lambda figures: figures.store_memory_bytes)),
    *((name, _figure(attrgetter(f"record.{path}"))) for name, path in FAILED[:3]),
    ("failed_by_status", _by_code),
    ("errors_total", _figure(lambda figures: figures.record.totalErrors)),
    *((f"{name}_all_runs", _over_all_runs(attrgetter(f"record.{path}"))) for name, path in FAILED[:3]),
    ("verdict", lambda summary: summary.verdict),
    ("verdict_reasons", _reasons),
    ("limited_by", lambda summary: summary.figures.limiting_resource if summary.figures else None),
    *((f"{part}_version", _version(part)) for part in VERSIONED),
    ("runtime", _runtime("id")),
    ("configuration_hash", lambda summary: summary.identity.configuration_hash),
    *(
        (f"{name}_{end}", _end(read, index))
        for name, read in FIGURES.items()
        if name != "requests_per_second"
        for index, end in enumerate(("min", "max"))
    ),
    ("untypical", _untypical),
    ("layer", lambda summary: summary.identity.layer),
    *(_counts(key) for key in FIRST_DIMENSIONS),
    ("calls_per_request", _figure(lambda figures: figures.record.calls_per_request, 3)),
    ("descriptors_per_call", _figure(lambda figures: figures.record.descriptors_per_call, 3)),
    *_own("served_runs", "spoiled_runs"),
    *(
        (f"latency_{name}_{end}_ms", _figure(bound_of(name, end), 3))
        for name in ("p50", "p75", "p90", "p95", "p97_5", "p99", "p99_9", "average", "max")
        for end in ("low", "high")
    ),
    *(
        (f"service_{name}_{end}_ms", _service_bound(name, end))
        for name in ("p50", "p99")
        for end in ("low", "high")
    ),
    *((name, _figure(read, digits)) for name, read, digits in SCHEDULE_FIGURES),
    ("send_wakes_shared", lambda summary: wakes_shared(summary.figures) if summary.figures else None),
    ("latency_late", lambda summary: late_percentiles(summary.figures) if summary.figures else None),
    *_of_kinds("cpu_us_per_request", LATER_KINDS),
    *_of_kinds("cpu_percent", LATER_KINDS),
    *_of_kinds("resident_bytes", LATER_KINDS),
    *_identity("decided_by", "algorithm", "module", "service"),
    ("decides_locally", _decides_locally),
    ("decisions", _figure(lambda figures: figures.decisions)),
    *((f"cpu_us_per_decision_{kind}", _figure(read, 3)) for kind, read in PARTS.items()),
    ("reference", lambda summary: str(summary.reference).lower()),
    ("copy_of", lambda summary: summary.identity.copied_label if summary.identity.copy else None),
    ("runs_set_aside", lambda summary: len(summary.set_aside)),
    *((name, _boundary(read)) for name, read in BOUNDARY_FIGURES),
    *(_counts(key) for key in LATER_DIMENSIONS),
)


def summary_csv(summaries: Sequence[Summary]) -> str:
    header = [name for name, _ in COLUMNS]
    return csv_text(header, ([read(summary) for _, read in COLUMNS] for summary in summaries))
