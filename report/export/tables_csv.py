"""summary.csv, runs.csv and figures.csv: one row per configuration, per run, and per figure."""

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter

from msgspec import Struct

from report.analysis.campaign_analysis import Analysis
from report.analysis.figures import (
    COSTS,
    FIGURES,
    PARTS,
    Figure,
    calls_per_request,
    decisions,
    descriptors_per_call,
    errors,
    foreign_cpu,
    from_send,
    heap,
    late_percentiles,
    latency,
    limited_share,
    of_schedule,
    percentile,
    store_used,
    sum_of_kind,
    throughput,
)
from report.analysis.host_cpus import caps_of, host_cpus, shares_cpus
from report.analysis.summary import Summary
from report.analysis.texts import caps_text, load_name
from report.base.csv_text import Cell, csv_number, csv_text, picked, records_csv
from report.results.model import DIMENSIONS, MEASURED_KINDS, Measured, Run
from report.results.records import Boundary
from report.sections.boundary import boundaries_of
from report.statistics.histograms import PERCENTILES, Bounds
from report.statistics.runs import MIN_FIGURES, median_interval


class _Row(Struct, frozen=True):
    """A configuration with the medians over its runs, or one of its runs."""

    summary: Summary
    number: int
    """Of the run, from 1; 0 for a configuration."""
    run: Run | None
    """The run; of a configuration the selected one."""
    measured: Measured | None
    told_by: Sequence[Run]
    """The first that knows them tells versions and runtime."""
    boundaries: Sequence[Boundary]

    def value(self, figure: Figure) -> float | None:
        if self.number == 0:
            return self.summary.figure_of(figure).value
        return figure(self.measured) if self.measured else None

    def bounds(self, figure: Figure) -> Bounds | None:
        """What is known of a figure without a value."""
        if self.number == 0:
            return self.summary.figure_of(figure).bounds
        return figure.read_bounds(self.measured) if self.measured else None

    def percentiles(self, of_run: Callable[[Measured], Sequence[str]], of_row: str) -> Cell:
        """Names of the percentiles that a run lists, or of which a member of the configuration's is true."""
        if self.number > 0:
            return " ".join(of_run(self.measured)) if self.measured else None
        found = {name: self.summary.figure_of(percentile(name)) for name in PERCENTILES}
        known = [name for name, each in found.items() if each.value is not None or each.bounds]
        return " ".join(name for name in known if getattr(found[name], of_row)) if known else None


Read = Callable[[_Row], Cell]


def _names(text: str) -> list[str]:
    return text.split()


def _figure(figure: Figure | str, digits: int = 0) -> Read:
    """Of a run; of a configuration the median over its runs."""
    of = Figure(attrgetter(figure)) if isinstance(figure, str) else figure
    return lambda row: csv_number(row.value(of), digits)


def _bound(figure: Figure, end: str) -> Read:
    return lambda row: csv_number(getattr(row.bounds(figure), end, None), 3)


def _measured(read: Callable[[Measured], Cell]) -> Read:
    """Of a run; of a configuration that of its selected run."""
    return lambda row: read(row.measured) if row.measured else None


def _selected(figure: Figure | str, digits: int = 0) -> Read:
    of = Figure(attrgetter(figure)) if isinstance(figure, str) else figure
    return _measured(lambda measured: csv_number(of(measured), digits))


def _of_run(read: Callable[[Run], Cell]) -> Read:
    return lambda row: read(row.run) if row.run else None


def _latency(name: str) -> Figure:
    return percentile(name) if name in PERCENTILES else latency(name)


def _gap(name: str) -> Read:
    return _figure(of_schedule(lambda schedule: getattr(schedule.gaps_ms, name, None)), 3)


def _boundary(read: Callable[[Sequence[Boundary]], Cell]) -> Read:
    return lambda row: read(row.boundaries) if row.boundaries else None


def _version(part: str) -> Read:
    return lambda row: next((run.versions[part] for run in row.told_by if part in run.versions), None)


def _count(key: str) -> Read:
    return lambda row: row.summary.identity.counts[key]


def _truth(value: bool | None) -> Cell:
    return None if value is None else str(value).lower()


def _broken(found: Sequence[Boundary]) -> Cell:
    broken = (promise.id for each in found for promise in each.promises if not promise.holds)
    return " ".join(dict.fromkeys(broken))


_BOUNDED = ("p50", "p75", "p90", "p95", "p97_5", "p99", "p99_9", "average", "max")
_GAPS = ("intended", "p10", "p50", "p90", "p99", "max")
_ENDS = [(name, end) for name in _BOUNDED for end in ("low", "high")]
_BOUNDS = [f"latency_{name}_{end}_ms" for name, end in _ENDS]
#: Of roles by kind: the column, the member of a role, and decimals.
_ROLES = (
    ("cpu_us_per_request", "cpu_us_per_request", 3),
    ("cpu_percent", "cpu_percent", 2),
    ("resident_bytes", "resident_bytes_mean", 0),
    ("run_delay_us", "run_delay_us", 0),
)
_OF_KINDS = [(kind, *role) for kind in MEASURED_KINDS for role in _ROLES]
_VERSIONED = ("client", "limiter", "store", "fastify", "node", "autocannon", "harness")
#: Failed requests: the column, and the figure of a record.
_FAILED = {
    "connection_errors": "record.errors",
    "timeouts": "record.timeouts",
    "failed_answers": "record.counts.failed_answers",
}
#: Kinds of roles, and numbers by which configurations differ, that came after the others: their columns stand
#: at the end, because some readers take columns by their place.
_LATER_KINDS = [kind for kind in MEASURED_KINDS if kind not in ("server", "store", "generator")]
LATER_DIMENSIONS = tuple(dimension.key for dimension in DIMENSIONS if dimension.key != "servers")

_OF_IDENTITY = _names(
    "configuration_hash label topology workload complexity traffic connections arrivals layer store limiter "
    "decided_by algorithm module service"
)
#: How the columns are read that both files have.
_BOTH: dict[str, Read] = {
    **{name: attrgetter(f"summary.identity.{name}") for name in _OF_IDENTITY},
    "requests_total": _figure("record.requests.total"),
    "rate_limit_hits": _figure("record.rate_limit_hits"),
    "store_memory_bytes": _figure(store_used),
    **{name: _figure(path) for name, path in _FAILED.items()},
    "errors_total": _figure(errors),
    "decisions": _figure(decisions),
    "requests_followed": _figure("record.counts.followed"),
    "rate_per_second": lambda row: csv_number(row.summary.identity.rate_per_second, 3),
    **{f"latency_{name}_ms": _figure(_latency(name), 3) for name in (*_BOUNDED, "min", "stddev")},
    **{f"latency_{name}_{end}_ms": _bound(_latency(name), end) for name, end in _ENDS},
    "latency_unsupported": lambda row: row.percentiles(attrgetter("unsupported"), "few_samples"),
    **{
        f"{kind}_{name}": _figure(sum_of_kind(member, kind), digits)
        for kind, name, member, digits in _OF_KINDS
    },
    **{f"cpu_us_per_decision_{kind}": _figure(read, 3) for kind, read in PARTS.items()},
    "limited_by": _measured(lambda measured: measured.limiting_resource),
    **{f"{part}_version": _version(part) for part in _VERSIONED},
    "runtime": lambda row: next((run.record.runtime.id for run in row.told_by if run.record.runtime), None),
    **{dimension.key: _count(dimension.key) for dimension in DIMENSIONS},
    "calls_per_request": _figure(calls_per_request, 3),
    "descriptors_per_call": _figure(descriptors_per_call, 3),
    **{f"send_gap_{name}_ms": _gap(name) for name in _GAPS},
    "send_wakes_shared": _measured(
        lambda measured: _truth(getattr(measured.record.schedule, "shared_wakes", None))
    ),
    "latency_late": lambda row: row.percentiles(late_percentiles, "late"),
    "requests_per_second": _figure(throughput, 3),
    "server_heap_bytes": _figure(heap),
    "burst_quotas": _boundary(lambda found: csv_number(max(each.burst.factor for each in found), 3)),
    "over_admitted": _boundary(lambda found: max(each.over_admission.total for each in found)),
    "under_admitted": _boundary(lambda found: max(each.under_admission.total for each in found)),
    "promises_broken": _boundary(_broken),
    "host_cpus": _of_run(host_cpus),
    "cpus_shared": _of_run(lambda run: _truth(shares_cpus(run))),
    "caps": _of_run(lambda run: caps_text(caps_of(run)) if run.record.runtime else None),
}


def _asked_s(row: _Row) -> Cell:
    asked = row.summary.identity.duration_s
    return None if asked is None else f"{asked:g}"


#: New ones come last: what reads columns by their place goes on working.
RUNS_HEADER = (
    *_names(
        "configuration_hash label topology workload complexity traffic connections rate_per_second arrivals "
        "duration_asked_s requests_asked run median status verdict failure verdict_reasons limited_by notes "
        "started_at duration_s requests_per_second requests_total latency_p50_ms latency_p75_ms "
        "latency_p90_ms latency_p95_ms latency_p97_5_ms latency_p99_ms latency_p99_9_ms latency_average_ms "
        "latency_min_ms latency_max_ms latency_stddev_ms latency_unsupported rate_limit_hits limited_share"
    ),
    *(f"{kind}_{name}" for kind in ("server", "store", "generator") for name, _, _ in _ROLES),
    *_names(
        "foreign_cpu_percent server_heap_bytes store_memory_bytes connection_errors timeouts failed_answers "
        "errors_total client_version limiter_version store_version fastify_version node_version "
        "autocannon_version harness_version runtime file layer servers calls_per_request "
        "descriptors_per_call outcome outcome_text warmup_s warmup_requests warmup_steady requests_followed"
    ),
    *_BOUNDS,
    *(f"send_gap_{name}_ms" for name in _GAPS),
    *_names("send_wakes_shared latency_late"),
    *(f"{kind}_{name}" for kind in _LATER_KINDS for name, _, _ in _ROLES),
    "decisions",
    *(f"cpu_us_per_decision_{kind}" for kind in PARTS),
    *_names("round group set_aside burst_quotas over_admitted under_admitted promises_broken"),
    *LATER_DIMENSIONS,
    *_names("machines placement host_cpus cpus_shared caps"),
)

_OF_RUNS: dict[str, Read] = {
    "duration_asked_s": _asked_s,
    "requests_asked": lambda row: row.summary.identity.requests,
    "run": lambda row: row.number,
    "median": lambda row: _truth(row.run is not None and row.run is row.summary.selected),
    "status": lambda row: row.run.record.status if row.run else "missing",
    **{
        name: _of_run(attrgetter(name))
        for name in _names("verdict failure file outcome outcome_text set_aside")
    },
    "verdict_reasons": _of_run(lambda run: "; ".join(f"{each.rule} {each.text}" for each in run.reasons)),
    "notes": _of_run(lambda run: "; ".join(run.record.notes)),
    "started_at": _of_run(lambda run: run.record.started_at),
    "duration_s": _figure("record.duration", 6),
    "limited_share": _figure(limited_share, 6),
    "foreign_cpu_percent": _figure(foreign_cpu, 1),
    "warmup_s": _figure("record.warmup.took_s", 3),
    "warmup_requests": _figure("record.warmup.requests"),
    "warmup_steady": _measured(lambda measured: _truth(measured.record.warmup.steady)),
    "round": _of_run(lambda run: run.place[0] if run.place else None),
    "group": _of_run(lambda run: run.place[1] if run.place else None),
    "machines": _of_run(lambda run: len(set(run.placement.values())) or None),
    "placement": _of_run(lambda run: " ".join(map("=".join, sorted(run.placement.items())))),
}


def _runs(summary: Summary) -> Iterator[_Row]:
    for run in (*summary.set_aside, *summary.runs):
        boundary = run.measured.record.boundary if run.measured else None
        yield _Row(summary, run.run, run, run.measured, (run,), (boundary,) if boundary else ())
    for number in summary.missing:
        yield _Row(summary, number, None, None, (), ())


def _written(header: Sequence[str], columns: dict[str, Read], rows: Iterator[_Row]) -> str:
    reads = [columns[name] for name in header]
    return csv_text(header, ([read(row) for read in reads] for row in rows))


def runs_csv(summaries: Sequence[Summary]) -> str:
    """With runs that failed and those that are missing."""
    rows = (row for each in summaries for row in sorted(_runs(each), key=lambda row: row.number))
    return _written(RUNS_HEADER, _BOTH | _OF_RUNS, rows)


def _own(read: Callable[[Summary], Cell]) -> Read:
    return lambda row: read(row.summary)


def _spread(name: str) -> Read:
    return _own(lambda summary: csv_number(getattr(summary.spread, name, None), 2))


def _interval(end: str, digits: int = 2) -> Read:
    """Of the median over the runs that count; empty where they are too few for one, and where it is that of a
    run in which the target failed its load."""

    def read(row: _Row) -> Cell:
        found = row.summary.throughputs
        value = getattr(median_interval(found), end) if len(found) >= MIN_FIGURES else None
        return csv_number(value, digits) if value else None

    return read


def _range_end(figure: Figure, end: str, digits: int) -> Read:
    return _own(lambda summary: csv_number(getattr(summary.figure_of(figure), end), digits))


def _over_all_runs(path: str) -> Read:

    def total(row: _Row) -> Cell:
        found = [attrgetter(path)(run.measured) for run in row.summary.runs if run.measured]
        return sum(found) if found else None

    return total


def _limit(index: int) -> Read:
    return _own(lambda summary: summary.identity.limits[index] if summary.identity.limits else None)


def _store_external(row: _Row) -> Cell:
    """Whether the store is one that the user already ran; empty where there is none, or none is known."""
    identity = row.summary.identity
    return None if identity.store is None or identity.ceiling else _truth(identity.external_store)


def _reasons(summary: Summary) -> Cell:
    texts = [f"run {run.run}: {reason.rule} {reason.text}" for run in summary.runs for reason in run.reasons]
    failures = [f"run {run.run}: {run.failure}" for run in summary.runs if run.failure]
    outcomes = [f"run {run.run}: {run.outcome_text}" for run in summary.runs if run.outcome_text]
    return "; ".join([*failures, *outcomes, *texts])


_BOUNDED_FIGURES = [name for name in FIGURES if name != "requests_per_second"]

#: Medians besides those of `FIGURES` whose range the page prints too, with their decimals.
_RANGED: dict[str, tuple[Figure, int]] = {
    "latency_p99_9_ms": (percentile("p99_9"), 3),
    "server_heap_bytes": (heap, 0),
    **{
        f"{kind}_{name}": (sum_of_kind(name, kind), 3)
        for name in ("cpu_us_per_request", "cpu_percent")
        for kind in MEASURED_KINDS
        if (kind, name) != ("server", "cpu_us_per_request")
    },
    "limited_share_seen": (limited_share, 4),
    "errors_total": (errors, 0),
    "decisions": (decisions, 0),
    **{f"cpu_us_per_decision_{kind}": (figure, 3) for kind, figure in PARTS.items()},
    **{f"service_{name}_ms": (from_send(name), 3) for name in ("p50", "p99")},
    "sends_per_second": (of_schedule(lambda schedule: schedule.achieved_per_second), 3),
    "sends_late": (of_schedule(lambda schedule: schedule.late), 0),
    "sends_dropped": (of_schedule(lambda schedule: schedule.dropped + schedule.unsent), 0),
    "send_gap_intended_ms": (of_schedule(lambda schedule: getattr(schedule.gaps_ms, "intended", None)), 3),
}
_ALL_RANGED = {name: (FIGURES[name], 3) for name in _BOUNDED_FIGURES} | _RANGED
_ENDS_OF_RANGE = (("min", "low"), ("max", "high"))

#: The columns that existing tooling reads come first, under their old names, and hold figures of the selected
#: run, as they always did; the others carry units in their names and hold medians over the runs.
_SUMMARY_HEADER = (
    *_names(
        "Client Mode RequestType Concurrency Duration ReqPerSec Latency_Avg Latency_P50 Latency_P99 "
        "RateLimitHits CPUUsage MemoryUsage store store_external limiter limiter_script_kind "
        "limiter_script options traffic load_model rate_per_second arrivals complexity limit_points "
        "limit_window_s limit_block_s limit_cost control runs valid_runs suspect_runs invalid_runs "
        "failed_runs missing_runs median_run requests_per_second_min requests_per_second_max "
        "requests_per_second_stdev requests_per_second_cv_percent requests_per_second_interval_low "
        "requests_per_second_interval_high requests_per_second_interval_coverage requests_total "
        "latency_p75_ms latency_p90_ms latency_p95_ms latency_p97_5_ms latency_p99_9_ms service_p50_ms "
        "service_p99_ms sends_per_second sends_late sends_dropped send_lateness_p99_ms latency_min_ms "
        "latency_max_ms latency_stddev_ms latency_unsupported limited_share_predicted limited_share_seen"
    ),
    *(f"{kind}_{name}" for name, _, _ in _ROLES[:3] for kind in ("server", "store", "generator")),
    *_names(
        "store_memory_bytes connection_errors timeouts failed_answers failed_by_status errors_total "
        "connection_errors_all_runs timeouts_all_runs failed_answers_all_runs verdict verdict_reasons "
        "limited_by client_version limiter_version store_version fastify_version node_version "
        "autocannon_version harness_version runtime configuration_hash"
    ),
    *(f"{name}_{end}" for name in _BOUNDED_FIGURES for end in ("min", "max")),
    *_names("layer servers calls_per_request descriptors_per_call served_runs spoiled_runs"),
    *_BOUNDS,
    *_names("service_p50_low_ms service_p50_high_ms service_p99_low_ms service_p99_high_ms"),
    *(f"send_gap_{name}_ms" for name in _GAPS),
    *_names("send_wakes_shared latency_late"),
    *(f"{kind}_{name}" for name, _, _ in _ROLES[:3] for kind in _LATER_KINDS),
    *_names("decided_by algorithm module service decides_locally decisions"),
    *(f"cpu_us_per_decision_{kind}" for kind in PARTS),
    *_names("reference copy_of runs_set_aside burst_quotas over_admitted under_admitted promises_broken"),
    *LATER_DIMENSIONS,
    *_names("host_cpus cpus_shared caps limited_by_runs"),
    *_names("requests_per_second latency_average_ms latency_p50_ms latency_p99_ms rate_limit_hits"),
    *_names("server_heap_bytes latency_merged"),
    *(f"{name}_{end}" for name in _RANGED for end, _ in _ENDS_OF_RANGE),
)

_OF_SUMMARIES: dict[str, Read] = {
    "Client": _own(lambda summary: summary.identity.short_label),
    "Mode": _BOTH["topology"],
    "RequestType": _BOTH["workload"],
    "Concurrency": _BOTH["connections"],
    "Duration": lambda row: _asked_s(row) or _selected("record.duration", 3)(row),
    "ReqPerSec": _selected(throughput, 2),
    "Latency_Avg": _selected(latency("average"), 3),
    "Latency_P50": _selected(percentile("p50"), 3),
    "Latency_P99": _selected(percentile("p99"), 3),
    "RateLimitHits": _selected("record.rate_limit_hits"),
    "CPUUsage": _selected("record.cpu_usage", 2),
    "MemoryUsage": _selected(heap),
    "store_external": _store_external,
    "limiter_script_kind": _own(lambda each: " ".join(script.kind for script in each.scripts)),
    "limiter_script": _own(lambda each: " ".join(script.name_or_sha1 for script in each.scripts)),
    "options": _own(lambda summary: " ".join(summary.identity.options)),
    "load_model": _own(lambda summary: "open" if summary.identity.open_loop else "closed"),
    **{f"limit_{name}": _limit(i) for i, name in enumerate(("points", "window_s", "block_s", "cost"))},
    "control": _own(lambda summary: _truth(summary.identity.control)),
    "runs": _own(lambda summary: len(summary.runs)),
    **{
        f"{name}_runs": attrgetter(f"summary.{name}_runs")
        for name in ("valid", "suspect", "invalid", "failed", "served", "spoiled")
    },
    "missing_runs": _own(lambda summary: len(summary.missing)),
    "median_run": _own(lambda summary: summary.selected.run if summary.selected else None),
    **{f"requests_per_second_{name}": _spread(name) for name in ("min", "max", "stdev", "cv_percent")},
    "requests_per_second_interval_low": _interval("low"),
    "requests_per_second_interval_high": _interval("high"),
    "requests_per_second_interval_coverage": _interval("coverage", 4),
    **{name: _figure(*_RANGED[name]) for name in ("sends_per_second", "sends_late", "sends_dropped")},
    "send_lateness_p99_ms": _figure(
        of_schedule(lambda schedule: getattr(schedule.lateness_ms, "p99", None)), 3
    ),
    "limited_share_predicted": _figure(
        Figure(lambda figures: getattr(figures.record.prediction, "limited_share", None)), 4
    ),
    "limited_share_seen": _figure(*_RANGED["limited_share_seen"]),
    # As the servers report it themselves.
    "server_resident_bytes": _figure("record.memory_resident"),
    "failed_by_status": _measured(
        lambda measured: " ".join(f"{code}:{count}" for code, count in measured.failed_by_code.items())
    ),
    **{f"{name}_all_runs": _over_all_runs(path) for name, path in _FAILED.items()},
    "verdict": _own(lambda summary: summary.verdict),
    "verdict_reasons": _own(_reasons),
    "limited_by": _own(lambda summary: summary.limit.resource if summary.limit else None),
    "limited_by_runs": _own(lambda summary: summary.limit.runs if summary.limit else None),
    **{
        f"{name}_{end}": _range_end(figure, member, digits)
        for name, (figure, digits) in _ALL_RANGED.items()
        for end, member in _ENDS_OF_RANGE
    },
    "latency_merged": lambda row: row.percentiles(lambda _: (), "merged"),
    **{f"service_{name}_ms": _figure(from_send(name), 3) for name in ("p50", "p99")},
    **{
        f"service_{name}_{end}_ms": _bound(from_send(name), end)
        for name in ("p50", "p99")
        for end in ("low", "high")
    },
    "decides_locally": _own(lambda row: row.identity.decided_by and _truth(row.identity.decides_locally)),
    "reference": _own(lambda summary: _truth(summary.reference)),
    "copy_of": _own(lambda summary: summary.identity.copied_label if summary.identity.copy else None),
    "runs_set_aside": _own(lambda summary: len(summary.set_aside)),
}


def summary_csv(summaries: Sequence[Summary]) -> str:
    rows = (
        _Row(row, 0, row.selected, row.selected_figures, row.selected_first, boundaries_of(row))
        for row in summaries
    )
    return _written(_SUMMARY_HEADER, _BOTH | _OF_SUMMARIES, rows)


#: By the name of a figure, its unit.
_UNITS = {"requests_per_second": "1/s", "p50": "ms", "p99": "ms", "p99_9": "ms", "heap": "bytes"}


def _records(summary: Summary) -> Iterator[dict[str, Cell]]:
    identity = summary.identity
    for name, figure in {"requests_per_second": throughput, **COSTS}.items():
        found = summary.figure_of(figure)
        if found.value is None:
            continue
        yield {
            "configuration_hash": identity.configuration_hash,
            "target": identity.label,
            "store": identity.store_text,
            **picked(identity, "topology", "workload", "traffic"),
            "load": load_name(identity),
            "metric": name if name in _UNITS else f"{name}_per_request",
            "unit": _UNITS.get(name, "us"),
            "value": csv_number(found.value, 3),
            "low": csv_number(found.low, 3),
            "high": csv_number(found.high, 3),
        }


def figures_long_csv(analysis: Analysis) -> str:
    """Medians over the runs, with their range; a figure that is not known has no line."""
    return records_csv(record for summary in analysis.ordered for record in _records(summary))
