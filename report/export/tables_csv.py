"""runs.csv, summary.csv and figures.csv: which columns of a campaign's frames each of them has."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from report.analysis.columns import (
    BOUND_ENDS,
    BOUNDED,
    RANGE_ENDS,
    RUN_COLUMNS,
    SUMMARY_COLUMNS,
    VERSIONED,
    Column,
    bound_name,
)
from report.analysis.figure_list import SEND_GAPS
from report.analysis.figures import PARTS
from report.analysis.frames import Frames
from report.base.csv_text import Cell, csv_text
from report.results.model import DIMENSIONS, MEASURED_KINDS


def _names(text: str) -> list[str]:
    return text.split()


#: New columns come last, those of kinds of roles and of dimensions that came after the others too: what reads
#: columns by their place goes on working.
_FIRST_KINDS = ("server", "store", "generator")
_LATER_KINDS = tuple(kind for kind in MEASURED_KINDS if kind not in _FIRST_KINDS)
LATER_DIMENSIONS = tuple(dimension.key for dimension in DIMENSIONS if dimension.key != "servers")
_VERSIONS = tuple(f"{part}_version" for part in VERSIONED)
_SEND_GAPS = tuple(f"send_gap_{name}_ms" for name in SEND_GAPS)
_OF_DECISIONS = tuple(f"cpu_us_per_decision_{kind}" for kind in PARTS)
_OF_ROLES = ("cpu_us_per_request", "cpu_percent", "resident_bytes")


def _bounds_of(family: str) -> list[str]:
    """The columns of bounds of the figures whose names begin so."""
    return [bound_name(name, end) for name in BOUNDED if name.startswith(family) for end in BOUND_ENDS]


def _ranges_of(names: Sequence[str]) -> list[str]:
    return [f"{name}_{end}" for name in names for end, _ in RANGE_ENDS]


RUNS_HEADER = (
    *_names(
        "configuration_hash label topology workload complexity traffic connections rate_per_second arrivals "
        "duration_asked_s requests_asked run median status verdict failure verdict_reasons limited_by notes "
        "started_at duration_s requests_per_second requests_total latency_p50_ms latency_p75_ms "
        "latency_p90_ms latency_p95_ms latency_p97_5_ms latency_p99_ms latency_p99_9_ms latency_average_ms "
        "latency_min_ms latency_max_ms latency_stddev_ms latency_unsupported rate_limit_hits limited_share"
    ),
    *(f"{kind}_{name}" for kind in _FIRST_KINDS for name in (*_OF_ROLES, "run_delay_us")),
    *_names(
        "foreign_cpu_percent server_heap_bytes store_memory_bytes connection_errors timeouts failed_answers "
        "errors_total"
    ),
    *_VERSIONS,
    *_names(
        "runtime file layer servers calls_per_request descriptors_per_call outcome outcome_text warmup_s "
        "warmup_requests warmup_steady requests_followed"
    ),
    *_bounds_of("latency"),
    *_SEND_GAPS,
    *_names("send_wakes_shared latency_late"),
    *(f"{kind}_{name}" for kind in _LATER_KINDS for name in (*_OF_ROLES, "run_delay_us")),
    "decisions",
    *_OF_DECISIONS,
    *_names("round group set_aside burst_quotas over_admitted under_admitted promises_broken"),
    *LATER_DIMENSIONS,
    *_names("machines placement host_cpus cpus_shared caps"),
)

#: The ranges that the table had first; that of throughput stands beside its median.
_FIRST_RANGED = ("latency_p50_ms", "latency_p99_ms", "server_cpu_us_per_request")

#: The columns that existing tooling reads come first, under their old names, and hold figures of the selected
#: run, as they always did; the others carry units in their names and hold medians over the runs.
SUMMARY_HEADER = (
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
    *(f"{kind}_{name}" for name in _OF_ROLES for kind in _FIRST_KINDS),
    *_names(
        "store_memory_bytes connection_errors timeouts failed_answers failed_by_status errors_total "
        "connection_errors_all_runs timeouts_all_runs failed_answers_all_runs verdict verdict_reasons "
        "limited_by"
    ),
    *_VERSIONS,
    *_names("runtime configuration_hash"),
    *_ranges_of(_FIRST_RANGED),
    *_names("layer servers calls_per_request descriptors_per_call served_runs spoiled_runs"),
    *_bounds_of("latency"),
    *_bounds_of("service"),
    *_SEND_GAPS,
    *_names("send_wakes_shared latency_late"),
    *(f"{kind}_{name}" for name in _OF_ROLES for kind in _LATER_KINDS),
    *_names("decided_by algorithm module service decides_locally decisions"),
    *_OF_DECISIONS,
    *_names("reference copy_of runs_set_aside burst_quotas over_admitted under_admitted promises_broken"),
    *LATER_DIMENSIONS,
    *_names("host_cpus cpus_shared caps limited_by_runs"),
    *_names("requests_per_second latency_average_ms latency_p50_ms latency_p99_ms rate_limit_hits"),
    *_names("server_heap_bytes latency_merged"),
    *_ranges_of(
        [
            *_names("latency_p99_9_ms server_heap_bytes"),
            *(f"{kind}_cpu_us_per_request" for kind in MEASURED_KINDS if kind != "server"),
            *(f"{kind}_cpu_percent" for kind in MEASURED_KINDS),
            *_names("limited_share_seen errors_total decisions"),
            *_OF_DECISIONS,
            *_names("service_p50_ms service_p99_ms sends_per_second sends_late sends_dropped"),
            "send_gap_intended_ms",
        ]
    ),
    *_names("ratio ratio_interval_low ratio_interval_high ratio_to conclusion"),
)

#: The figures of figures.csv: the name of each there, its unit, and its column in the summary.
_LONG = (
    ("requests_per_second", "1/s", "requests_per_second"),
    ("p50", "ms", "latency_p50_ms"),
    ("p99", "ms", "latency_p99_ms"),
    ("p99_9", "ms", "latency_p99_9_ms"),
    ("cpu_per_request", "us", "cpu_us_per_request"),
    ("service_cpu_per_request", "us", "service_cpu_us_per_request"),
    ("store_cpu_per_request", "us", "store_cpu_us_per_request"),
    ("heap", "bytes", "server_heap_bytes"),
)


def _shown_number(column: Column) -> Callable[[Any], Cell]:
    digits = column.digits
    return (lambda value: f"{value:g}") if digits is None else (lambda value: f"{value:.{digits}f}")


def _cells(values: pd.Series, column: Column) -> list[Cell]:
    """The values of a column as they stand in a file; what is not known is None."""
    shown: Mapping[str, Callable[[Any], Cell]] = {
        "Float64": _shown_number(column),
        "Int64": int,
        "boolean": lambda value: str(value).lower(),
        "string": str,
    }
    show = shown[column.kind]
    return [None if value is pd.NA else show(value) for value in values.astype(object)]


def _frame_csv(frame: pd.DataFrame, columns: Mapping[str, Column], header: Sequence[str]) -> str:
    cells = [_cells(frame[name], columns[name]) for name in header]
    return csv_text(header, zip(*cells, strict=True))


def runs_csv(frames: Frames) -> str:
    """With runs that failed and those that are missing."""
    return _frame_csv(frames.runs, RUN_COLUMNS, RUNS_HEADER)


def summary_csv(frames: Frames) -> str:
    return _frame_csv(frames.summary, SUMMARY_COLUMNS, SUMMARY_HEADER)


#: The columns of figures.csv, and those of the summary that they are; the others hold a figure.
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
    **{name: Column("Float64", digits=3) for name in ("value", "low", "high")},
}


def figures_long_csv(frames: Frames, rows: Sequence[str]) -> str:
    """Medians over the runs with their range, of these rows in this order; a figure that is not known has no
    line, and one run has no range."""
    summary = frames.summary.set_index("row").loc[list(rows)]
    identity = summary[list(_LONG_IDENTITY.values())].set_axis(list(_LONG_IDENTITY), axis="columns")
    parts = [
        identity.assign(
            metric=metric,
            unit=unit,
            value=summary[column],
            low=summary[f"{column}_min"].where(summary["served_runs"] > 1),
            high=summary[f"{column}_max"].where(summary["served_runs"] > 1),
            place=range(len(summary)),
        )
        for metric, unit, column in _LONG
    ]
    lines = pd.concat(parts).dropna(subset="value").sort_values("place", kind="stable")
    header = list(_LONG_COLUMNS) if len(lines) else []
    return _frame_csv(lines, _LONG_COLUMNS, header)
