"""The summary document: for the command line's last screen, and for programs."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.figures import FIGURES, decision_cpu_us, server_cpu
from report.analysis.rankings import Pair, Resolution
from report.analysis.summary import Summary
from report.analysis.texts import load_name
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
    identity, figures, spread = summary.identity, summary.figures, summary.spread
    extent = {name: rounded(getattr(spread, name, None)) for name in ("min", "max", "cv_percent")}
    percentiles, bounds = (figures.percentiles_ms, figures.bounds_ms) if figures else ({}, {})
    known = [name for name in PERCENTILES if name in percentiles or name in bounds]
    decision = decision_cpu_us(figures) if figures else {}
    return {
        **picked(identity, *_SHAPE, "connections"),
        "load": load_name(identity),
        **picked(identity, "rate_per_second", "arrivals", "duration_s", "requests", "control"),
        "runs": len(summary.runs),
        **picked(summary, *_COUNTS),
        "missing_runs": len(summary.missing),
        "median_run": summary.median.run if summary.median else None,
        "requests_per_second": {"median": rounded(figures.requests_per_second), **extent}
        if figures and spread
        else None,
        "latency_p50_ms": rounded(percentiles.get("p50")),
        "latency_p99_ms": rounded(percentiles.get("p99")),
        "latency_ms": {name: rounded(percentiles.get(name)) for name in known},
        "latency_bounds_ms": {
            name: {"low": rounded(each.low), "high": rounded(each.high)} for name, each in bounds.items()
        },
        "ranges": {
            name: {"min": rounded(ends[0]), "max": rounded(ends[1])}
            for name, read in FIGURES.items()
            if (ends := summary.range_of(read))
        },
        "untypical": [name for name, read in FIGURES.items() if summary.is_untypical(read)],
        "latency_unsupported": list(figures.unsupported) if figures else [],
        "server_cpu_us_per_request": rounded(server_cpu(figures)) if figures else None,
        "limited_share": rounded(figures.limited_share, 6) if figures else None,
        "limited_by": picked(summary.limit, "resource", "text", "runs", "of_runs") if summary.limit else None,
        "versions": dict(first.versions) if (first := next(iter(summary.median_first), None)) else {},
        "verdict": summary.verdict,
        "layer": identity.layer,
        **identity.counts,
        "calls_per_request": figures.record.calls_per_request if figures else None,
        "descriptors_per_call": figures.record.descriptors_per_call if figures else None,
        **picked(identity, "decided_by", "algorithm", "module", "service", "decides_locally"),
        "decisions": figures.decisions if figures else None,
        "cpu_us_per_decision": {kind: rounded(value) for kind, value in decision.items()},
        "reference": summary.reference,
        "copy_of": identity.copied_label if identity.copy else None,
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
