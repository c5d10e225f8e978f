"""The summary document: for the command line's last screen, and for programs."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.figures import (
    FIGURES,
    PARTS,
    Figure,
    calls_per_request,
    decisions,
    descriptors_per_call,
    latency,
    limited_share,
    percentile,
    server_cpu,
    throughput,
)
from report.analysis.rankings import Pair, Resolution
from report.analysis.summary import Summary
from report.base.csv_text import picked
from report.export.topics import comparison_document, rounded, server_documents
from report.sections.adaptive import adaptive_document, adaptive_of
from report.sections.best_performers import best_documents
from report.sections.boundary import promise_documents
from report.sections.faults import fault_sentences
from report.sections.first_screen import cell_title, heading_of, screen_lines
from report.sections.max_rate import max_rate_document
from report.sections.printed_programs import load_program_sentences, store_sentences
from report.sections.recommendation import recommend
from report.sections.thresholds import threshold_documents
from report.sections.verdict_text import sentence
from report.statistics.histograms import PERCENTILES

_SHAPE = ("configuration_hash", "label", "client", "store", "topology", "workload", "complexity", "traffic")
_COUNTS = [f"{kind}_runs" for kind in ("valid", "served", "spoiled", "suspect", "invalid", "failed")]


def _configuration(summary: Summary) -> dict[str, Any]:
    identity, spread = summary.identity, summary.spread
    extent = {name: rounded(getattr(spread, name, None)) for name in ("min", "max", "cv_percent")}
    latencies = {name: summary.figure_of(percentile(name)) for name in PERCENTILES}
    known = {name: found for name, found in latencies.items() if found.value is not None or found.bounds}
    beside = {name: summary.figure_of(latency(name)) for name in ("average", "max")}

    def median(figure: Figure, digits: int = 3) -> float | None:
        return rounded(summary.figure_of(figure).value, digits)

    return {
        **picked(identity, *_SHAPE, "connections"),
        "load": identity.load_text,
        **picked(identity, "rate_per_second", "arrivals", "duration_s", "requests", "control"),
        "runs": len(summary.runs),
        **picked(summary, *_COUNTS),
        "missing_runs": len(summary.missing),
        "median_run": summary.selected.run if summary.selected else None,
        "requests_per_second": {"median": median(throughput), **extent}
        if spread and summary.has_figures
        else None,
        "latency_p50_ms": rounded(latencies["p50"].value),
        "latency_p99_ms": rounded(latencies["p99"].value),
        "latency_ms": {name: rounded(found.value) for name, found in known.items()},
        "latency_bounds_ms": {
            name: {"low": rounded(found.bounds.low), "high": rounded(found.bounds.high)}
            for name, found in (known | beside).items()
            if found.bounds
        },
        "ranges": {
            name: {"min": rounded(ends[0]), "max": rounded(ends[1])}
            for name, figure in FIGURES.items()
            if (ends := summary.figure_of(figure).range)
        },
        "latency_unsupported": [name for name, found in known.items() if found.few_samples],
        "latency_merged": [name for name, found in known.items() if found.merged],
        "server_cpu_us_per_request": median(server_cpu),
        "limited_share": median(limited_share, 6),
        "limited_by": picked(summary.limit, "resource", "text", "runs", "of_runs") if summary.limit else None,
        "versions": dict(first.versions) if (first := next(iter(summary.selected_first), None)) else {},
        "verdict": summary.verdict,
        "layer": identity.layer,
        **identity.counts,
        "calls_per_request": median(calls_per_request),
        "descriptors_per_call": median(descriptors_per_call),
        **picked(identity, "decided_by", "algorithm", "module", "service", "decides_locally"),
        "decisions": median(decisions),
        "cpu_us_per_decision": {
            kind: value for kind, figure in PARTS.items() if (value := median(figure)) is not None
        },
        "reference": summary.reference,
        "copy_of": identity.copy_of,
        "runs_set_aside": len(summary.set_aside),
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


def _resolution(found: Resolution | None) -> dict[str, Any] | None:
    if found is None:
        return None
    document = comparison_document(found.comparison)
    percent = None if found.share is None or not isfinite(found.share) else 100 * found.share
    return {
        "copy": found.copy.identity.label,
        "percent": percent,
        "told_apart": found.told_apart,
        **{name: document[name] for name in ("ratio", "interval", "status")},
    }


def conclusions(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """One per ranking: its load, its sentence, and its rows compared with the reference, without one each
    with each: by throughput, p99 (open loop only) and the CPU per request of what calls the limiter, the
    servers or the client."""
    return [
        {
            "layer": cell.identity.layer,
            "title": cell_title(cell),
            "heading": heading_of(ranking),
            "sentence": sentence(ranking),
            "too_few_runs": bool(ranking.compared) and ranking.few_runs,
            "winner": ranking.winner.identity.label if ranking.winner else None,
            "reference": ranking.reference.identity.label if ranking.reference else None,
            "resolution": _resolution(ranking.resolution),
            "comparisons": [_pair(pair) for pair in ranking.pairs],
            "latency_p99_comparisons": [_pair(pair) for pair in ranking.ranked_by if ranking.open_loop],
            "server_cpu_comparisons": [_pair(pair) for pair in ranking.cpu_pairs],
            "order_comparisons": [_pair(pair) for pair in ranking.order[len(ranking.ranked_by) :]],
        }
        for cell in cells
        for ranking in cell.rankings
    ]


def summary_document(analysis: Analysis, report: str) -> dict[str, Any]:
    """What `--summary-json` prints and summary.json holds; its shape is `schemas/summary.schema.json`."""
    campaign, manifest = analysis.campaign, analysis.campaign.manifest
    recommended = recommend(analysis) if analysis.summaries else None
    return {
        "schema": "ratelimit-bench/summary",
        "schema_version": 2,
        "campaign": campaign.name,
        "started_at": manifest["started_at"] if manifest else None,
        "runtime": next((run.record.runtime.id for run in campaign.counted if run.record.runtime), None),
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
        "thresholds": threshold_documents(analysis),
        "report": report,
    }
