"""The columns of the tables of configurations, runs, comparisons and seconds, by name.

A figure has a column in the tables of configurations and of runs. For a run it is the figure of the
run. For a configuration it is what `Summary.figure_of` makes of the runs (rule M28), with its range
and its bounds in further columns."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from msgspec import Struct

from report.analysis import column
from report.analysis.column import Column, Read
from report.analysis.figure_list import FAILED, FIGURE_LIST, NamedFigure
from report.analysis.figures import (
    Figure,
    consumer_cpu,
    late_percentiles,
    percentile,
    throughput,
)
from report.analysis.host_cpus import caps_of, host_cpus, shares_cpus
from report.analysis.rankings import Pair, Ranking
from report.analysis.summary import Summary
from report.analysis.texts import caps_text
from report.results.generated.records import Boundary, Sample
from report.results.model import DIMENSIONS, Measured, Run
from report.statistics.decision import Comparison
from report.statistics.histograms import PERCENTILES, Bounds
from report.statistics.run_samples import MIN_FIGURES, median_interval


class RunEntry(Struct, frozen=True, kw_only=True):
    """A run of a configuration. `run` is None if its file is missing."""

    summary: Summary
    number: int
    run: Run | None

    @property
    def measured(self) -> Measured | None:
        return self.run.measured if self.run else None

    @property
    def versioned_runs(self) -> Sequence[Run]:
        """The runs to ask for a version or the runtime, of which the first that knows it is
        right."""
        return (self.run,) if self.run else ()

    @property
    def boundaries(self) -> Sequence[Boundary]:
        boundary = self.measured.record.boundary if self.measured else None
        return (boundary,) if boundary else ()

    def value(self, figure: Figure) -> float | None:
        measured = self.measured
        return figure(measured) if measured else None

    def bounds(self, figure: Figure) -> Bounds | None:
        """The bounds of a figure whose value is not known."""
        return figure.read_bounds(self.measured) if self.measured else None


class SummaryEntry(Struct, frozen=True, kw_only=True):
    """A configuration. Values that only a single run has are those of its selected run."""

    summary: Summary
    ranking: Ranking | None
    """The ranking that the row, or the reference whose copy it is, belongs to."""

    @property
    def run(self) -> Run | None:
        return self.summary.selected

    @property
    def measured(self) -> Measured | None:
        return self.summary.selected_figures

    @property
    def versioned_runs(self) -> Sequence[Run]:
        return self.summary.selected_first

    @property
    def boundaries(self) -> Sequence[Boundary]:
        return self.summary.boundaries

    @property
    def ratio(self) -> Comparison | None:
        return self.ranking.ratio_of(self.summary) if self.ranking else None

    def value(self, figure: Figure) -> float | None:
        return self.summary.figure_of(figure).value

    def bounds(self, figure: Figure) -> Bounds | None:
        return self.summary.figure_of(figure).bounds


def _identity(name: str) -> Read:
    return attrgetter(f"summary.identity.{name}")


def _counted_dimension(key: str) -> Read:
    return lambda entry: entry.summary.identity.counts[key]


def _run_value(read: Callable[[Run], Any]) -> Read:
    return lambda entry: read(entry.run) if entry.run else None


def _measured_value(read: Callable[[Measured], Any]) -> Read:
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
_COMMON: Mapping[str, Column] = {
    "row": column.text(attrgetter("summary.id")),
    "load": column.text(lambda entry: entry.summary.identity.load_text),
    **{
        name: column.text(_identity(name))
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
    "complexity": column.whole(_identity("complexity")),
    "connections": column.whole(_identity("connections")),
    "rate_per_second": column.number(_identity("rate_per_second"), 3, "1/s"),
    "duration_asked_s": column.number(_identity("duration_s"), None, "s"),
    "requests_asked": column.whole(_identity("requests")),
    **{dimension.key: column.whole(_counted_dimension(dimension.key)) for dimension in DIMENSIONS},
    **{name: column.figure(listed) for name, listed in FIGURE_LIST.items()},
    **{
        bound_name(name, end): column.number(_bound(FIGURE_LIST[name].figure, end), 3, "ms")
        for name in BOUNDED
        for end in BOUND_ENDS
    },
    "send_wakes_shared": column.truth(
        _measured_value(lambda measured: getattr(measured.record.schedule, "shared_wakes", None))
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
    **_COMMON,
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
    "limited_by": column.text(_measured_value(lambda measured: measured.limiting_resource)),
    "notes": column.text(_run_value(lambda run: "; ".join(run.record.notes))),
    "started_at": column.text(_run_value(lambda run: run.record.started_at)),
    "latency_unsupported": column.text(
        _measured_value(lambda measured: " ".join(measured.unsupported))
    ),
    "latency_late": column.text(
        _measured_value(lambda measured: " ".join(late_percentiles(measured)))
    ),
    "warmup_steady": column.truth(_measured_value(lambda measured: measured.record.warmup.steady)),
    "round": column.whole(_run_value(lambda run: run.place[0] if run.place else None)),
    "group": column.whole(_run_value(lambda run: run.place[1] if run.place else None)),
    "machines": column.whole(_run_value(lambda run: len(set(run.placement.values())) or None)),
    "placement": column.text(
        _run_value(lambda run: " ".join(map("=".join, sorted(run.placement.items()))))
    ),
}


def _summary_value(read: Callable[[Summary], Any]) -> Read:
    return lambda entry: read(entry.summary)


def _limit(index: int) -> Read:
    return _summary_value(
        lambda summary: summary.identity.limits[index] if summary.identity.limits else None
    )


def _store_external(summary: Summary) -> bool | None:
    """Whether the store is an external store. None without a store, or if it is not known."""
    identity = summary.identity
    return None if identity.store is None or identity.ceiling else identity.external_store


def _reasons(summary: Summary) -> str:
    failures = [f"run {run.run}: {run.failure}" for run in summary.runs if run.failure]
    outcomes = [f"run {run.run}: {run.outcome_text}" for run in summary.runs if run.outcome_text]
    texts = [
        f"run {run.run}: {reason.rule} {reason.text}"
        for run in summary.runs
        for reason in run.reasons
    ]
    return "; ".join([*failures, *outcomes, *texts])


def _throughput_interval(end: str) -> Read:
    """An end of the interval of the median over the runs that count. It is None if there are too
    few of them, and if the end is a run in which the target failed its load."""

    def read(entry: SummaryEntry) -> float | None:
        values = entry.summary.throughputs
        value: float = getattr(median_interval(values), end) if len(values) >= MIN_FIGURES else 0
        return value or None

    return read


def _spread(member: str) -> Read:
    return _summary_value(lambda summary: getattr(summary.spread, member, None))


def _over_all_runs(path: str) -> Read:
    read = attrgetter(path)

    def total(entry: SummaryEntry) -> int | None:
        values = [read(run.measured) for run in entry.summary.runs if run.measured]
        return sum(values) if values else None

    return total


def _percentiles(member: str) -> Read:
    """The names of the percentiles for which a member of `FigureSummary` is true."""

    def read(entry: SummaryEntry) -> str | None:
        figures = {name: entry.summary.figure_of(percentile(name)) for name in PERCENTILES}
        known = [
            name for name, figure in figures.items() if figure.value is not None or figure.bounds
        ]
        return " ".join(name for name in known if getattr(figures[name], member)) if known else None

    return read


def _range_end(figure: Figure, end: str) -> Read:
    return _summary_value(lambda summary: getattr(summary.figure_of(figure), end))


def _range_columns(name: str) -> Iterator[tuple[str, Column]]:
    listed = FIGURE_LIST[name]
    for ending, end in RANGE_ENDS:
        read = _range_end(listed.figure, end)
        yield f"{name}_{ending}", column.number(read, listed.range_digits, listed.unit)


#: The ends of a range, each as the end of the name of its column and the member of `FigureSummary`.
RANGE_ENDS = (("min", "low"), ("max", "high"))


def interval_end(comparison: Comparison | None, end: str) -> float | None:
    """An end of the interval of a ratio. None if the comparison has no such end."""
    value: float | None = getattr(comparison.known_interval, end, None) if comparison else None
    return None if value is None or math.isinf(value) else value


def _base_label(entry: SummaryEntry) -> str | None:
    return entry.ranking.base.identity.label if entry.ranking and entry.ratio else None


def _conclusion(entry: SummaryEntry) -> str | None:
    return entry.ranking.conclusion_of(entry.summary) if entry.ranking else None


def _statement(entry: SummaryEntry) -> str | None:
    return entry.ranking.statement_of(entry.summary) if entry.ranking else None


def _settled(figure: Figure) -> Read:
    """Whether the ratio to the reference is settled, in words (rule M33)."""

    def read(entry: SummaryEntry) -> str | None:
        settling = entry.ranking.settling_of(entry.summary, figure) if entry.ranking else None
        return settling.text if settling else None

    return read


_SUMMARY_ONLY: Mapping[str, Column] = {
    "store_external": column.truth(_summary_value(_store_external)),
    "limiter_script_kind": column.text(
        _summary_value(lambda row: " ".join(script.kind for script in row.scripts))
    ),
    "limiter_script": column.text(
        _summary_value(lambda row: " ".join(script.name_or_sha1 for script in row.scripts))
    ),
    "options": column.text(_summary_value(lambda row: " ".join(row.identity.options))),
    "load_model": column.text(
        _summary_value(lambda row: "open" if row.identity.open_loop else "closed")
    ),
    **{
        f"limit_{name}": column.whole(_limit(index), unit)
        for index, (name, unit) in enumerate(
            (("points", ""), ("window_s", "s"), ("block_s", "s"), ("cost", ""))
        )
    },
    "control": column.truth(_identity("control")),
    "runs": column.whole(_summary_value(lambda row: len(row.runs))),
    **{
        f"{name}_runs": column.whole(attrgetter(f"summary.{name}_runs"))
        for name in ("valid", "suspect", "invalid", "failed", "served", "spoiled")
    },
    "missing_runs": column.whole(_summary_value(lambda row: len(row.missing))),
    "median_run": column.whole(
        _summary_value(lambda row: row.selected.run if row.selected else None)
    ),
    **{
        f"requests_per_second_{name}": column.number(_spread(name), 2, unit)
        for name, unit in (("min", "1/s"), ("max", "1/s"), ("stdev", "1/s"), ("cv_percent", "%"))
    },
    "requests_per_second_interval_low": column.number(_throughput_interval("low"), 2, "1/s"),
    "requests_per_second_interval_high": column.number(_throughput_interval("high"), 2, "1/s"),
    "requests_per_second_interval_coverage": column.number(_throughput_interval("coverage"), 4),
    **dict(name_and_column for name in RANGED for name_and_column in _range_columns(name)),
    # The servers report this figure themselves, unlike the one of the role.
    "server_resident_bytes": column.figure(
        NamedFigure(figure=Figure(attrgetter("record.memory_resident")), unit="bytes", digits=0)
    ),
    "failed_by_status": column.text(
        _measured_value(
            lambda run: " ".join(f"{code}:{count}" for code, count in run.failed_by_code.items())
        )
    ),
    **{f"{name}_all_runs": column.whole(_over_all_runs(path)) for name, path in FAILED.items()},
    "latency_unsupported": column.text(_percentiles("few_samples")),
    "latency_late": column.text(_percentiles("late")),
    "latency_merged": column.text(_percentiles("merged")),
    "verdict": column.text(_summary_value(lambda row: row.verdict)),
    "verdict_reasons": column.text(_summary_value(_reasons)),
    "limited_by": column.text(
        _summary_value(lambda row: row.limit.resource if row.limit else None)
    ),
    "limited_by_runs": column.whole(
        _summary_value(lambda row: row.limit.runs if row.limit else None)
    ),
    "decides_locally": column.truth(
        _summary_value(
            lambda row: row.identity.decides_locally if row.identity.decided_by else None
        )
    ),
    "reference": column.truth(_summary_value(lambda row: row.reference)),
    "copy_of": column.text(_summary_value(lambda row: row.identity.copy_of)),
    "runs_set_aside": column.whole(_summary_value(lambda row: len(row.set_aside))),
    "ratio": column.number(lambda entry: entry.ratio.ratio if entry.ratio else None, 4),
    "ratio_interval_low": column.number(lambda entry: interval_end(entry.ratio, "low"), 4),
    "ratio_interval_high": column.number(lambda entry: interval_end(entry.ratio, "high"), 4),
    "ratio_to": column.text(_base_label),
    "conclusion": column.text(_conclusion),
    "statement": column.text(_statement),
    "settled": column.text(_settled(throughput)),
    "cpu_settled": column.text(_settled(consumer_cpu)),
}


def _duration_text(entry: SummaryEntry) -> str | None:
    """The planned seconds. For a planned number of requests it is the time of the selected run."""
    planned_s = entry.summary.identity.duration_s
    if planned_s is not None:
        return f"{planned_s:g}"
    return f"{entry.measured.record.duration:.3f}" if entry.measured else None


def _selected(name: str, digits: int) -> Column:
    """A figure of the selected run, with this number of decimals."""
    listed = FIGURE_LIST[name]
    return column.number(_measured_value(listed.figure), digits, listed.unit)


#: The columns of the original project, which hold figures of the selected run as they always did.
_ORIGINAL: Mapping[str, Column] = {
    "Client": column.text(_identity("short_label")),
    "Mode": column.text(_identity("topology")),
    "RequestType": column.text(_identity("workload")),
    "Concurrency": column.whole(_identity("connections")),
    "Duration": column.text(_duration_text),
    "ReqPerSec": _selected("requests_per_second", 2),
    "Latency_Avg": _selected("latency_average_ms", 3),
    "Latency_P50": _selected("latency_p50_ms", 3),
    "Latency_P99": _selected("latency_p99_ms", 3),
    "RateLimitHits": _selected("rate_limit_hits", 0),
    "CPUUsage": column.number(_measured_value(attrgetter("record.cpu_usage")), 2, "%"),
    "MemoryUsage": _selected("server_heap_bytes", 0),
}

SUMMARY_COLUMNS: Mapping[str, Column] = {**_ORIGINAL, **_COMMON, **_SUMMARY_ONLY}


class ComparisonEntry(Struct, frozen=True):
    """Two rows of a ranking that were compared."""

    ranking_id: str
    family: str
    """`ranking` is a comparison with the reference by the figure of the ranking, and `order` one of
    two other rows. `cpu` is one by the CPU per request, and `copy` that of the reference with its
    copy (rule M31). `curve` is one by the CPU of store or service in a load curve."""
    figure: str
    """The column of the figure that is compared."""
    pair: Pair


def _compared(member: str) -> Read:
    return attrgetter(f"pair.comparison.{member}")


COMPARISON_COLUMNS: Mapping[str, Column] = {
    "ranking": column.text(attrgetter("ranking_id")),
    "family": column.text(attrgetter("family")),
    "figure": column.text(attrgetter("figure")),
    "base_row": column.text(attrgetter("pair.base.id")),
    "base": column.text(attrgetter("pair.base.identity.label")),
    "new_row": column.text(attrgetter("pair.new.id")),
    "new": column.text(attrgetter("pair.new.identity.label")),
    "load": column.text(lambda entry: entry.pair.new.identity.load_text),
    "ratio": column.number(_compared("ratio"), 4),
    "interval_low": column.number(lambda entry: interval_end(entry.pair.comparison, "low"), 4),
    "interval_high": column.number(lambda entry: interval_end(entry.pair.comparison, "high"), 4),
    "conclusion": column.text(_compared("conclusion")),
    "statement": column.text(_compared("statement")),
    "reason": column.text(_compared("reason")),
    "p": column.number(_compared("p"), None),
    "p_holm": column.number(_compared("p_holm"), None),
    "comparisons_in_family": column.whole(_compared("comparisons")),
    "pairs": column.whole(_compared("pairs")),
    "base_runs": column.whole(_compared("base_runs")),
    "new_runs": column.whole(_compared("new_runs")),
    "runs_needed": column.whole(_compared("runs_needed")),
    "detectable": column.number(_compared("detectable"), 4),
    "systematic_error": column.number(_compared("systematic.share"), 4),
    "not_measured": column.text(
        lambda entry: ", ".join(entry.pair.comparison.systematic.unmeasured)
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
    "configuration_hash": column.text(_identity("configuration_hash")),
    "label": column.text(_identity("label")),
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
