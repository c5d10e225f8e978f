"""The columns of summary.csv, one for each configuration."""

import math
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from typing import Any

from report.analysis import column
from report.analysis.column import Column, Read
from report.analysis.columns import COMMON_COLUMNS, RANGED, identity_value, measured_value
from report.analysis.figure_list import FAILED, FIGURE_LIST, NamedFigure
from report.analysis.figures import (
    Figure,
    consumer_cpu,
    percentile,
    throughput,
)
from report.analysis.summary import Summary
from report.analysis.table_entries import SummaryEntry
from report.statistics.comparison import Comparison
from report.statistics.histograms import PERCENTILES
from report.statistics.run_samples import MIN_FIGURES, median_interval


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
    "control": column.truth(identity_value("control")),
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
        measured_value(
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
    return column.number(measured_value(listed.figure), digits, listed.unit)


#: The columns of the original project, which hold figures of the selected run as they always did.
_ORIGINAL: Mapping[str, Column] = {
    "Client": column.text(identity_value("short_label")),
    "Mode": column.text(identity_value("topology")),
    "RequestType": column.text(identity_value("workload")),
    "Concurrency": column.whole(identity_value("connections")),
    "Duration": column.text(_duration_text),
    "ReqPerSec": _selected("requests_per_second", 2),
    "Latency_Avg": _selected("latency_average_ms", 3),
    "Latency_P50": _selected("latency_p50_ms", 3),
    "Latency_P99": _selected("latency_p99_ms", 3),
    "RateLimitHits": _selected("rate_limit_hits", 0),
    "CPUUsage": column.number(measured_value(attrgetter("record.cpu_usage")), 2, "%"),
    "MemoryUsage": _selected("server_heap_bytes", 0),
}


SUMMARY_COLUMNS: Mapping[str, Column] = {**_ORIGINAL, **COMMON_COLUMNS, **_SUMMARY_ONLY}
