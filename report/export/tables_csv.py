"""Selects the columns of runs.csv, summary.csv and figures.csv from the frames of a campaign."""

from collections.abc import Mapping, Sequence

import pandas as pd

from report.analysis.column import Column
from report.analysis.columns import BOUND_ENDS, BOUNDED, RANGED, RUN_COLUMNS, VERSIONED, bound_name
from report.analysis.figure_list import FIGURE_LIST, SEND_GAPS
from report.analysis.figures import PARTS
from report.analysis.frames import Frames
from report.analysis.summary_columns import RANGE_ENDS, SUMMARY_COLUMNS
from report.base.csv_text import csv_text
from report.export.frame_csv import frame_csv
from report.results.catalog import DIMENSIONS, MEASURED_KINDS

#: New columns come last, including those of later kinds of roles and of later dimensions, so that
#: programs that read columns by their place go on working.
_FIRST_KINDS = ("server", "store", "generator")
_LATER_KINDS = tuple(kind for kind in MEASURED_KINDS if kind not in _FIRST_KINDS)
LATER_DIMENSIONS = tuple(dimension.key for dimension in DIMENSIONS if dimension.key != "servers")
_VERSIONS = tuple(f"{part}_version" for part in VERSIONED)
_SEND_GAPS = tuple(f"send_gap_{name}_ms" for name in SEND_GAPS)
_DECISION_FIGURES = tuple(f"cpu_us_per_decision_{kind}" for kind in PARTS)
_ROLE_FIGURES = ("cpu_us_per_request", "cpu_percent", "resident_bytes")


def _bounds_of(family: str) -> list[str]:
    """The columns of bounds of the figures whose names begin with `family`."""
    return [
        bound_name(name, end) for name in BOUNDED if name.startswith(family) for end in BOUND_ENDS
    ]


def _ranges_of(names: Sequence[str]) -> list[str]:
    return [f"{name}_{end}" for name in names for end, _ in RANGE_ENDS]


def _with_later_figures(header: Sequence[str], excluded: Sequence[str]) -> tuple[str, ...]:
    """The header followed by the figures of the list that it does not name, so that a new figure
    takes nothing but an entry of the list."""
    return (*header, *(name for name in FIGURE_LIST if name not in (*header, *excluded)))


#: Figures that runs.csv never had. They are those of an open loop, which summary.csv has, and the
#: CPU of what calls the limiter, which is in the column of its kind.
_NOT_OF_RUNS = (
    "service_p50_ms",
    "service_p99_ms",
    "limited_share_seen",
    "limited_share_predicted",
    "cpu_us_per_request",
    "sends_per_second",
    "sends_late",
    "sends_dropped",
    "send_lateness_p99_ms",
)

_RUNS_HEADER = (
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
    "status",
    "verdict",
    "failure",
    "verdict_reasons",
    "limited_by",
    "notes",
    "started_at",
    "duration_s",
    "requests_per_second",
    "requests_total",
    "latency_p50_ms",
    "latency_p75_ms",
    "latency_p90_ms",
    "latency_p95_ms",
    "latency_p97_5_ms",
    "latency_p99_ms",
    "latency_p99_9_ms",
    "latency_average_ms",
    "latency_min_ms",
    "latency_max_ms",
    "latency_stddev_ms",
    "latency_unsupported",
    "rate_limit_hits",
    "limited_share",
    *(f"{kind}_{name}" for kind in _FIRST_KINDS for name in (*_ROLE_FIGURES, "run_delay_us")),
    "foreign_cpu_percent",
    "server_heap_bytes",
    "store_memory_bytes",
    "connection_errors",
    "timeouts",
    "failed_answers",
    "errors_total",
    *_VERSIONS,
    "runtime",
    "file",
    "layer",
    "servers",
    "calls_per_request",
    "descriptors_per_call",
    "outcome",
    "outcome_text",
    "warmup_s",
    "warmup_requests",
    "warmup_steady",
    "requests_followed",
    *_bounds_of("latency"),
    *_SEND_GAPS,
    "send_wakes_shared",
    "latency_late",
    *(f"{kind}_{name}" for kind in _LATER_KINDS for name in (*_ROLE_FIGURES, "run_delay_us")),
    "decisions",
    *_DECISION_FIGURES,
    "round",
    "group",
    "set_aside",
    "burst_quotas",
    "over_admitted",
    "under_admitted",
    "promises_broken",
    *LATER_DIMENSIONS,
    "machines",
    "placement",
    "host_cpus",
    "cpus_shared",
    "caps",
)

RUNS_HEADER = _with_later_figures(_RUNS_HEADER, _NOT_OF_RUNS)

#: Figures that summary.csv never had, because runs.csv has them for each run.
_NOT_OF_CONFIGURATIONS = (
    "duration_s",
    "limited_share",
    "cpu_us_per_request",
    *(f"{kind}_run_delay_us" for kind in MEASURED_KINDS),
    "foreign_cpu_percent",
    "warmup_s",
    "warmup_requests",
    "requests_followed",
)

#: The ranges that the table had first. That of the throughput stands beside its median.
_FIRST_RANGED = ("latency_p50_ms", "latency_p99_ms", "server_cpu_us_per_request")

#: The columns that existing tooling reads come first under their old names, and hold figures of the
#: selected run. The names of the others end in units, and they hold medians over the runs.
_SUMMARY_HEADER = (
    "Client",
    "Mode",
    "RequestType",
    "Concurrency",
    "Duration",
    "ReqPerSec",
    "Latency_Avg",
    "Latency_P50",
    "Latency_P99",
    "RateLimitHits",
    "CPUUsage",
    "MemoryUsage",
    "store",
    "store_external",
    "limiter",
    "limiter_script_kind",
    "limiter_script",
    "options",
    "traffic",
    "load_model",
    "rate_per_second",
    "arrivals",
    "complexity",
    "limit_points",
    "limit_window_s",
    "limit_block_s",
    "limit_cost",
    "control",
    "runs",
    "valid_runs",
    "suspect_runs",
    "invalid_runs",
    "failed_runs",
    "missing_runs",
    "median_run",
    "requests_per_second_min",
    "requests_per_second_max",
    "requests_per_second_stdev",
    "requests_per_second_cv_percent",
    "requests_per_second_interval_low",
    "requests_per_second_interval_high",
    "requests_per_second_interval_coverage",
    "requests_total",
    "latency_p75_ms",
    "latency_p90_ms",
    "latency_p95_ms",
    "latency_p97_5_ms",
    "latency_p99_9_ms",
    "service_p50_ms",
    "service_p99_ms",
    "sends_per_second",
    "sends_late",
    "sends_dropped",
    "send_lateness_p99_ms",
    "latency_min_ms",
    "latency_max_ms",
    "latency_stddev_ms",
    "latency_unsupported",
    "limited_share_predicted",
    "limited_share_seen",
    *(f"{kind}_{name}" for name in _ROLE_FIGURES for kind in _FIRST_KINDS),
    "store_memory_bytes",
    "connection_errors",
    "timeouts",
    "failed_answers",
    "failed_by_status",
    "errors_total",
    "connection_errors_all_runs",
    "timeouts_all_runs",
    "failed_answers_all_runs",
    "verdict",
    "verdict_reasons",
    "limited_by",
    *_VERSIONS,
    "runtime",
    "configuration_hash",
    *_ranges_of(_FIRST_RANGED),
    "layer",
    "servers",
    "calls_per_request",
    "descriptors_per_call",
    "served_runs",
    "spoiled_runs",
    *_bounds_of("latency"),
    *_bounds_of("service"),
    *_SEND_GAPS,
    "send_wakes_shared",
    "latency_late",
    *(f"{kind}_{name}" for name in _ROLE_FIGURES for kind in _LATER_KINDS),
    "decided_by",
    "algorithm",
    "module",
    "service",
    "decides_locally",
    "decisions",
    *_DECISION_FIGURES,
    "reference",
    "copy_of",
    "runs_set_aside",
    "burst_quotas",
    "over_admitted",
    "under_admitted",
    "promises_broken",
    *LATER_DIMENSIONS,
    "host_cpus",
    "cpus_shared",
    "caps",
    "limited_by_runs",
    "requests_per_second",
    "latency_average_ms",
    "latency_p50_ms",
    "latency_p99_ms",
    "rate_limit_hits",
    "server_heap_bytes",
    "latency_merged",
    *_ranges_of(
        [
            "latency_p99_9_ms",
            "server_heap_bytes",
            *(f"{kind}_cpu_us_per_request" for kind in MEASURED_KINDS if kind != "server"),
            *(f"{kind}_cpu_percent" for kind in MEASURED_KINDS),
            "limited_share_seen",
            "errors_total",
            "decisions",
            *_DECISION_FIGURES,
            "service_p50_ms",
            "service_p99_ms",
            "sends_per_second",
            "sends_late",
            "sends_dropped",
            "send_gap_intended_ms",
        ]
    ),
    "ratio",
    "ratio_interval_low",
    "ratio_interval_high",
    "ratio_to",
    "conclusion",
    "statement",
    "settled",
    "cpu_settled",
)

_LATER_RANGES = [
    name
    for name in _ranges_of([ranged for ranged in RANGED if ranged not in _NOT_OF_CONFIGURATIONS])
    if name not in _SUMMARY_HEADER
]
SUMMARY_HEADER = (*_with_later_figures(_SUMMARY_HEADER, _NOT_OF_CONFIGURATIONS), *_LATER_RANGES)


def runs_csv(frames: Frames) -> str:
    """The table of runs, including those that failed and those that are missing."""
    return frame_csv(frames.runs, RUN_COLUMNS, RUNS_HEADER)


def summary_csv(frames: Frames) -> str:
    return frame_csv(frames.summary, SUMMARY_COLUMNS, SUMMARY_HEADER)


#: The figures of figures.csv by the name that each has there, with its column in the summary.
_LONG_FIGURES = {
    "requests_per_second": "requests_per_second",
    "p50": "latency_p50_ms",
    "p99": "latency_p99_ms",
    "p99_9": "latency_p99_9_ms",
    "cpu_per_request": "cpu_us_per_request",
    "service_cpu_per_request": "service_cpu_us_per_request",
    "store_cpu_per_request": "store_cpu_us_per_request",
    "heap": "server_heap_bytes",
}
#: The columns of figures.csv that identify a row, each with its column in the summary.
_LONG_IDENTITY = {
    "configuration_hash": "configuration_hash",
    "target": "label",
    "store": "store_text",
    "topology": "topology",
    "workload": "workload",
    "traffic": "traffic",
    "load": "load",
}
_LONG_COLUMNS: Mapping[str, Column] = {
    **{name: SUMMARY_COLUMNS[column] for name, column in _LONG_IDENTITY.items()},
    "metric": Column("string"),
    "unit": Column("string"),
    "value": Column("Float64", digits=3),
    "low": Column("Float64", digits=3),
    "high": Column("Float64", digits=3),
}


def figures_long_csv(frames: Frames, rows: Sequence[str]) -> str:
    """The medians over the runs with their range, of these rows in this order.

    A figure that is not known has no line, and one of a single run has no range."""
    summary = frames.summary.set_index("row").loc[list(rows)]
    identity = summary[list(_LONG_IDENTITY.values())].set_axis(list(_LONG_IDENTITY), axis="columns")
    has_range = summary["served_runs"] > 1

    parts = [
        identity.assign(
            metric=metric,
            unit=FIGURE_LIST[column].unit,
            value=summary[column],
            low=summary[f"{column}_min"].where(has_range),
            high=summary[f"{column}_max"].where(has_range),
            place=range(len(summary)),
        )
        for metric, column in _LONG_FIGURES.items()
    ]
    lines = pd.concat(parts).dropna(subset="value").sort_values("place", kind="stable")
    return frame_csv(lines, _LONG_COLUMNS) if len(lines) else csv_text([], [])
