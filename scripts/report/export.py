"""summary.csv for spreadsheets, and the summary document for the command line's last screen."""

import csv
import io
import re
from collections.abc import Callable, Sequence
from typing import Any

from .model import Measured, Run
from .roles import cpu_us_per_request
from .summarize import Summary
from .thresholds import Judgement, documents

Cell = str | int | None
Column = tuple[str, Callable[[Summary], Cell]]

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def _decimals(value: float | None, digits: int) -> str | None:
    return None if value is None else f"{value:.{digits}f}"


def _figure(read: Callable[[Measured], float | None], digits: int = 0) -> Callable[[Summary], Cell]:
    """A figure of the median run with so many decimals; empty without a valid run."""
    return lambda summary: _decimals(read(summary.figures), digits) if summary.figures else None


def _percentile(name: str) -> Callable[[Summary], Cell]:
    return _figure(lambda figures: figures.percentiles_ms.get(name), 3)


def _latency(name: str) -> Callable[[Summary], Cell]:
    return _figure(lambda figures: figures.latency_ms.get(name), 3)


def _spread(name: str, digits: int = 2) -> Callable[[Summary], Cell]:
    return lambda summary: _decimals(getattr(summary.spread, name, None), digits)


def _cpu(role: str) -> Callable[[Summary], Cell]:
    return _figure(lambda figures: cpu_us_per_request(figures.roles).get(role), 3)


def _version(part: str) -> Callable[[Summary], Cell]:
    return lambda summary: next(
        (r.versions[part] for r in _median_first(summary) if part in r.versions), None
    )


def _runtime(fact: str) -> Callable[[Summary], Cell]:
    return lambda summary: next((str(r.runtime[fact]) for r in _median_first(summary) if r.runtime), None)


def _median_first(summary: Summary) -> list[Run]:
    return [*([summary.median] if summary.median else []), *summary.runs]


def _duration(summary: Summary) -> Cell:
    """Seconds asked for; where a number of requests was asked, the median run's measured seconds."""
    asked = summary.identity.duration_s
    return f"{asked:g}" if asked is not None else _figure(lambda figures: figures.duration_s, 3)(summary)


def _limit(index: int) -> Callable[[Summary], Cell]:
    return lambda summary: summary.identity.limits[index] if summary.identity.limits else None


def _share(seen: bool) -> Callable[[Summary], Cell]:
    def read(figures: Measured) -> float | None:
        if seen:
            return figures.limited_share
        return figures.prediction.limited_share if figures.prediction else None

    return _figure(read, 4)


def _store_external(summary: Summary) -> Cell:
    """Whether the store is one that the user already ran; empty where there is none, or none is known."""
    identity = summary.identity
    return None if identity.store is None or identity.control else str(identity.external_store).lower()


def _reasons(summary: Summary) -> Cell:
    texts = [f"run {run.run}: {reason.rule} {reason.text}" for run in summary.runs for reason in run.reasons]
    failures = [f"run {run.run}: {run.failure}" for run in summary.runs if run.failure]
    return "; ".join([*failures, *texts]) or None


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
    ("RateLimitHits", _figure(lambda figures: figures.rate_limit_hits)),
    ("CPUUsage", _figure(lambda figures: figures.cpu_percent, 2)),
    ("MemoryUsage", _figure(lambda figures: figures.heap_bytes)),
    ("store", lambda summary: summary.identity.store),
    ("store_external", _store_external),
    ("limiter", lambda summary: summary.identity.limiter),
    ("limiter_script_kind", lambda summary: " ".join(script.kind for script in summary.scripts) or None),
    ("limiter_script", lambda summary: " ".join(script.name for script in summary.scripts) or None),
    ("options", lambda summary: " ".join(summary.identity.options) or None),
    ("traffic", lambda summary: summary.identity.traffic),
    ("complexity", lambda summary: summary.identity.complexity),
    ("limit_points", _limit(0)),
    ("limit_window_s", _limit(1)),
    ("limit_block_s", _limit(2)),
    ("control", lambda summary: str(summary.identity.control).lower()),
    ("runs", lambda summary: len(summary.runs)),
    ("valid_runs", lambda summary: summary.valid_runs),
    ("suspect_runs", lambda summary: summary.suspect_runs),
    ("invalid_runs", lambda summary: summary.invalid_runs),
    ("failed_runs", lambda summary: summary.failed_runs),
    ("missing_runs", lambda summary: len(summary.missing)),
    ("median_run", lambda summary: summary.median.run if summary.median else None),
    ("requests_per_second_min", _spread("min")),
    ("requests_per_second_max", _spread("max")),
    ("requests_per_second_stdev", _spread("stdev")),
    ("requests_per_second_cv_percent", _spread("cv_percent")),
    ("requests_total", _figure(lambda figures: figures.requests_total)),
    ("latency_p75_ms", _percentile("p75")),
    ("latency_p90_ms", _percentile("p90")),
    ("latency_p95_ms", _percentile("p95")),
    ("latency_p97_5_ms", _percentile("p97_5")),
    ("latency_p99_9_ms", _percentile("p99_9")),
    ("latency_min_ms", _latency("min")),
    ("latency_max_ms", _latency("max")),
    ("latency_stddev_ms", _latency("stddev")),
    (
        "latency_unsupported",
        lambda summary: " ".join(summary.figures.unsupported) if summary.figures else None,
    ),
    ("limited_share_predicted", _share(seen=False)),
    ("limited_share_seen", _share(seen=True)),
    ("server_cpu_us_per_request", _cpu("server")),
    ("store_cpu_us_per_request", _cpu("store")),
    ("generator_cpu_us_per_request", _cpu("generator")),
    ("server_resident_bytes", _figure(lambda figures: figures.resident_bytes)),
    ("store_memory_bytes", _figure(lambda figures: figures.store_memory_bytes)),
    ("connection_errors", _figure(lambda figures: figures.connection_errors)),
    ("timeouts", _figure(lambda figures: figures.timeouts)),
    ("failed_answers", _figure(lambda figures: figures.failed_answers)),
    ("errors_total", _figure(lambda figures: figures.errors_total)),
    ("verdict", lambda summary: summary.verdict),
    ("verdict_reasons", _reasons),
    ("client_version", _version("client")),
    ("limiter_version", _version("limiter")),
    ("store_version", _version("store")),
    ("fastify_version", _version("fastify")),
    ("node_version", _version("node")),
    ("autocannon_version", _version("autocannon")),
    ("harness_version", _version("harness")),
    ("runtime", _runtime("id")),
    ("configuration_hash", lambda summary: summary.identity.configuration_hash),
)


def safe_cell(value: Cell) -> str:
    """A cell that no spreadsheet runs: an apostrophe before text that would start a formula; numbers stay."""
    if value is None:
        return ""
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def summary_csv(summaries: Sequence[Summary]) -> str:
    """One header and one line a configuration, lines end in LF. What is absent is an empty cell, never 0."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([name for name, _ in COLUMNS])
    for summary in summaries:
        writer.writerow([safe_cell(read(summary)) for _, read in COLUMNS])
    return out.getvalue()


def _rounded(value: float | None, digits: int = 3) -> float | None:
    return None if value is None else round(value, digits)


def _configuration(summary: Summary) -> dict[str, Any]:
    identity, figures, spread = summary.identity, summary.figures, summary.spread
    return {
        "configuration_hash": identity.configuration_hash,
        "label": identity.label,
        "client": identity.client,
        "store": identity.store,
        "topology": identity.topology,
        "workload": identity.workload,
        "complexity": identity.complexity,
        "traffic": identity.traffic,
        "connections": identity.connections,
        "duration_s": identity.duration_s,
        "requests": identity.requests,
        "control": identity.control,
        "runs": len(summary.runs),
        "valid_runs": summary.valid_runs,
        "suspect_runs": summary.suspect_runs,
        "invalid_runs": summary.invalid_runs,
        "failed_runs": summary.failed_runs,
        "missing_runs": len(summary.missing),
        "median_run": summary.median.run if summary.median else None,
        "requests_per_second": figures
        and spread
        and {
            "median": _rounded(figures.requests_per_second),
            "min": _rounded(spread.min),
            "max": _rounded(spread.max),
            "cv_percent": _rounded(spread.cv_percent),
        },
        "latency_p50_ms": _rounded(figures.percentiles_ms.get("p50")) if figures else None,
        "latency_p99_ms": _rounded(figures.percentiles_ms.get("p99")) if figures else None,
        "latency_unsupported": list(figures.unsupported) if figures else [],
        "server_cpu_us_per_request": _rounded(cpu_us_per_request(figures.roles).get("server"))
        if figures
        else None,
        "limited_share": _rounded(figures.limited_share, 6) if figures else None,
        "verdict": summary.verdict,
        "hole": summary.hole or None,
    }


def summary_document(
    campaign: str, summaries: Sequence[Summary], judged: Sequence[Judgement], report: str
) -> dict[str, Any]:
    """What `--summary-json` prints; its shape is `schemas/summary.schema.json`.

    Args:
        judged: every threshold on every configuration.
        report: absolute path of the page.
    """
    return {
        "schema": "ratelimit-bench/summary",
        "schema_version": 1,
        "campaign": campaign,
        "configurations": [_configuration(summary) for summary in summaries],
        "thresholds": documents(judged),
        "report": report,
    }
