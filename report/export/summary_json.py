"""Makes the summary document, which programs and the last screen of the command line read."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.correlated_rounds import round_correlations
from report.analysis.figure_list import FIGURE_LIST
from report.analysis.figures import DOCUMENTED_FIGURES, PARTS, latency, percentile
from report.analysis.ranked_pairs import Pair
from report.analysis.rankings import Ranking, Resolution
from report.analysis.settled import SETTLED_FIGURES, CheckResult
from report.analysis.summary import Summary
from report.analysis.summary_columns import SUMMARY_COLUMNS
from report.analysis.table_entries import SummaryEntry
from report.base.csv_text import picked
from report.export.comparison_document import comparison_document, rounded
from report.export.load_curve_export import load_curve_documents
from report.export.server_tables import server_documents
from report.results.catalog import MEASURED_KINDS
from report.sections.adaptive import adaptive_document, adaptive_of
from report.sections.best_performers import best_documents
from report.sections.boundary import promise_documents
from report.sections.faults import fault_sentences
from report.sections.headings import cell_title, ranking_heading
from report.sections.max_rate import max_rate_document
from report.sections.printed_programs import load_program_sentences, store_sentences
from report.sections.ranking_text import sentence
from report.sections.recommendation import recommend
from report.sections.screen_text import screen_lines
from report.sections.thresholds import threshold_documents
from report.statistics.histograms import PERCENTILES

#: Members of a configuration that summary.csv has as columns of the same names.
_SHAPE = ("store", "topology", "workload", "complexity", "traffic", "connections", "load")
_COUNTS = (
    "runs",
    "valid_runs",
    "served_runs",
    "spoiled_runs",
    "suspect_runs",
    "invalid_runs",
    "failed_runs",
    "missing_runs",
    "median_run",
)
_DECIDERS = ("decided_by", "algorithm", "module", "service")


def _columns(summary: Summary, *names: str) -> dict[str, Any]:
    entry = SummaryEntry(summary=summary, ranking=None)
    return {name: SUMMARY_COLUMNS[name].read(entry) for name in names}


def _median(summary: Summary, name: str, digits: int = 3) -> float | None:
    """The median of a figure of `FIGURE_LIST`."""
    return rounded(summary.figure_of(FIGURE_LIST[name].figure).value, digits)


def _throughput(summary: Summary) -> dict[str, float | None] | None:
    spread = summary.spread
    if spread is None or not summary.has_figures:
        return None
    return {
        "median": _median(summary, "requests_per_second"),
        "min": rounded(spread.min),
        "max": rounded(spread.max),
        "cv_percent": rounded(spread.cv_percent),
    }


def _latencies(summary: Summary) -> dict[str, Any]:
    """The medians of latencies, the bounds of those that are not identified, and the names of those
    that a reader must take with care."""
    percentiles = {name: summary.figure_of(percentile(name)) for name in PERCENTILES}
    known = {
        name: figure
        for name, figure in percentiles.items()
        if figure.value is not None or figure.bounds
    }
    average_and_max = {name: summary.figure_of(latency(name)) for name in ("average", "max")}
    return {
        "latency_p50_ms": rounded(percentiles["p50"].value),
        "latency_p99_ms": rounded(percentiles["p99"].value),
        "latency_ms": {name: rounded(figure.value) for name, figure in known.items()},
        "latency_bounds_ms": {
            name: {"low": rounded(figure.bounds.low), "high": rounded(figure.bounds.high)}
            for name, figure in (known | average_and_max).items()
            if figure.bounds
        },
        "ranges": _ranges(summary),
        "latency_unsupported": [name for name, figure in known.items() if figure.few_samples],
        "latency_merged": [name for name, figure in known.items() if figure.merged],
    }


def _ranges(summary: Summary) -> dict[str, dict[str, float | None]]:
    ranges = {name: summary.figure_of(figure).range for name, figure in DOCUMENTED_FIGURES.items()}
    return {
        name: {"min": rounded(ends[0]), "max": rounded(ends[1])}
        for name, ends in ranges.items()
        if ends
    }


def _cpu_by_part(summary: Summary) -> dict[str, float]:
    medians = {kind: _median(summary, f"cpu_us_per_decision_{kind}") for kind in PARTS}
    return {kind: value for kind, value in medians.items() if value is not None}


def _cores(summary: Summary) -> dict[str, float]:
    medians = {kind: _median(summary, f"{kind}_cores", 6) for kind in MEASURED_KINDS}
    return {kind: value for kind, value in medians.items() if value is not None}


def _configuration(summary: Summary) -> dict[str, Any]:
    identity = summary.identity
    limit = summary.limit
    first = next(iter(summary.selected_first), None)
    return {
        **_columns(summary, "configuration_hash", "label"),
        "client": identity.client,
        **_columns(summary, *_SHAPE),
        **picked(identity, "rate_per_second", "arrivals", "duration_s", "requests", "control"),
        **_columns(summary, *_COUNTS),
        "requests_per_second": _throughput(summary),
        **_latencies(summary),
        "server_cpu_us_per_request": _median(summary, "server_cpu_us_per_request"),
        "limited_share": _median(summary, "limited_share", 6),
        "limited_by": picked(limit, "resource", "text", "runs", "of_runs") if limit else None,
        "versions": dict(first.versions) if first else {},
        **_columns(summary, "verdict", "layer"),
        **identity.counts,
        "calls_per_request": _median(summary, "calls_per_request"),
        "descriptors_per_call": _median(summary, "descriptors_per_call"),
        **_columns(summary, *_DECIDERS),
        "decides_locally": identity.decides_locally,
        "decisions": _median(summary, "decisions"),
        "cpu_us_per_decision": _cpu_by_part(summary),
        "cores": _cores(summary),
        **_columns(summary, "reference", "copy_of", "runs_set_aside"),
        "promises": promise_documents(summary),
        "hole": summary.no_figures_reason or None,
        "warnings": list(summary.warnings),
    }


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "base": pair.base.identity.label,
        "base_hash": pair.base.identity.configuration_hash,
        "new": pair.new.identity.label,
        "new_hash": pair.new.identity.configuration_hash,
        **comparison_document(pair.comparison),
    }


def _resolution(resolution: Resolution | None) -> dict[str, Any] | None:
    if resolution is None:
        return None
    document = comparison_document(resolution.comparison)
    share = resolution.share
    return {
        "copy": resolution.copy.identity.label,
        "percent": None if share is None or not isfinite(share) else 100 * share,
        "told_apart": resolution.told_apart,
        **{name: document[name] for name in ("ratio", "interval", "conclusion")},
    }


def _settled(ranking: Ranking) -> list[dict[str, Any]]:
    """A document for each row, or copy, and figure that is checked (rule M33)."""
    rows = [*ranking.summaries, *([ranking.resolution.copy] if ranking.resolution else [])]
    return [
        {
            "label": row.identity.label,
            "configuration_hash": row.identity.configuration_hash,
            "figure": name,
            "status": settling.status,
            "text": settling.text,
            "checks": list(map(_check, settling.results)),
        }
        for row in rows
        for name, figure in SETTLED_FIGURES.items()
        if (settling := ranking.settling_of(row, figure))
    ]


def _check(result: CheckResult) -> dict[str, Any]:
    change = result.change
    is_known = change is not None and isfinite(change.at_most)
    earlier, later = (part.ratio for part in result.parts)
    return {
        "name": result.check.name,
        "status": result.status,
        "at_most_percent": 100 * change.at_most if change and is_known else None,
        "p": change.p if change else None,
        "earlier": {"part": result.check.earlier_text, "ratio": earlier},
        "later": {"part": result.check.later_text, "ratio": later},
    }


def _round_correlations(ranking: Ranking) -> list[dict[str, Any]]:
    """A document for each figure whose rounds are enough to tell a correlation (rule M34)."""
    return [
        {
            "figure": name,
            "correlation": rounded(result.correlation),
            "rounds": result.rounds,
            "p": rounded(result.p, 6),
            "warning": result.is_beyond,
        }
        for name, result in round_correlations(ranking).items()
    ]


def conclusions(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """A document for each ranking, with its load, its sentence and its comparisons.

    The rows are compared with the reference, or each with each other where there is none. They are
    compared by throughput, by p99 (in an open loop only) and by the CPU per request of what calls
    the limiter, which is the servers or the client."""
    return [
        {
            "layer": cell.identity.layer,
            "title": cell_title(cell),
            "heading": ranking_heading(ranking),
            "sentence": sentence(ranking),
            "too_few_runs": bool(ranking.compared_rows) and ranking.few_runs,
            "winner": ranking.winner.identity.label if ranking.winner else None,
            "reference": ranking.reference.identity.label if ranking.reference else None,
            "resolution": _resolution(ranking.resolution),
            "comparisons": [_pair(pair) for pair in ranking.pairs],
            "latency_p99_comparisons": [
                _pair(pair) for pair in ranking.ranked_by if ranking.open_loop
            ],
            "server_cpu_comparisons": [_pair(pair) for pair in ranking.cpu_pairs],
            "settled": _settled(ranking),
            "round_correlations": _round_correlations(ranking),
            "order_comparisons": [_pair(pair) for pair in ranking.order[len(ranking.ranked_by) :]],
        }
        for cell in cells
        for ranking in cell.rankings
    ]


def summary_document(analysis: Analysis, report: str) -> dict[str, Any]:
    """The document that `--summary-json` prints and summary.json holds. Its schema is
    `schemas/summary.schema.json`. `report` is the address of the report."""
    campaign = analysis.campaign
    manifest = campaign.manifest
    recommended = recommend(analysis) if analysis.summaries else None
    return {
        "schema": "ratelimit-bench/summary",
        "schema_version": 3,
        "campaign": campaign.name,
        "started_at": manifest["started_at"] if manifest else None,
        "runtime": next(
            (run.record.runtime.id for run in campaign.counted if run.record.runtime), None
        ),
        "excluded": [{"file": entry.file, "text": entry.text} for entry in campaign.excluded],
        "configurations": [_configuration(summary) for summary in analysis.summaries],
        "recommendation": {
            "sentences": [
                *(recommended.sentences if recommended else ()),
                *store_sentences(analysis.store_operations),
                *load_program_sentences(analysis.load_programs),
                *fault_sentences(analysis.faults),
            ],
            "limits": [line.text for line in recommended.caveats] if recommended else [],
            "screen": screen_lines(analysis),
        },
        "best_performers": best_documents(analysis),
        "conclusions": conclusions(analysis.cells),
        "adaptive": adaptive_document(adaptive) if (adaptive := adaptive_of(analysis)) else None,
        "max_rate": list(map(max_rate_document, analysis.max_rates)) or None,
        "several_servers": server_documents(analysis.server_scalings) or None,
        # Reports of other campaigns stay as they were.
        **(
            {"load_curve": load_curve_documents(analysis.load_curves)}
            if analysis.load_curves
            else {}
        ),
        "thresholds": threshold_documents(analysis),
        "report": report,
    }
