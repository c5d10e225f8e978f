"""The summary document: for the command line's last screen, and for programs."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.decision_cpu import decision_cpu_us
from report.analysis.figures import FIGURES, server_cpu, throughput
from report.analysis.load_text import load_name
from report.analysis.rankings import Pair
from report.analysis.resolution import Resolution
from report.analysis.several_servers import (
    ServerScaling,
    ServerStep,
    all_ready_s,
    fairness,
    least_to_most,
    store_cpu_per_consume,
)
from report.analysis.summary import Summary
from report.analysis.thresholds import documents
from report.results.model import Measured
from report.results.roles import cpu_us_per_request
from report.sections.adaptive import adaptive_document, adaptive_of
from report.sections.best_performers import best_documents
from report.sections.boundary import promise_documents
from report.sections.faults import fault_sentences
from report.sections.first_screen import decision_cells
from report.sections.max_rate import max_rate_document
from report.sections.printed_programs import load_program_sentences, store_sentences
from report.sections.recommendation import recommend
from report.sections.screen import screen_lines
from report.statistics.bounds import Bounds
from report.statistics.decision import Comparison
from report.statistics.histograms import PERCENTILES


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """One comparison; ratios are new ÷ base. Without an upper bound `high` is null. `ratio_of_medians` is
    there for readers of the first format: a second value for one ratio would contradict `ratio`, so it is
    null."""
    interval = comparison.interval
    return {
        "status": comparison.status,
        "reason": comparison.reason or None,
        "ratio": comparison.ratio,
        "ratio_of_medians": None,
        "interval": {
            "low": interval.low,
            "high": interval.high if isfinite(interval.high) else None,
            "coverage": interval.coverage,
        }
        if interval and isfinite(interval.low) and interval.high > 0
        else None,
        "pairs": comparison.pairs,
        "runs_without_partner": comparison.dropped,
        "ratio_when_stopped": comparison.stopped_at,
        "p": comparison.p,
        "p_holm": comparison.p_holm,
        "comparisons_in_family": comparison.comparisons,
        "runs_needed": comparison.runs_needed,
        "detectable_percent": None if comparison.detectable is None else 100 * comparison.detectable,
    }


def _shortened(comparison: Comparison, *names: str) -> dict[str, Any]:
    document = comparison_document(comparison)
    return {name: document[name] for name in names}


def _pairs(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    return [
        {
            "base": pair.base.identity.label,
            "base_hash": pair.base.identity.configuration_hash,
            "new": pair.new.identity.label,
            "new_hash": pair.new.identity.configuration_hash,
            **comparison_document(pair.comparison),
        }
        for pair in pairs
    ]


def _resolution(found: Resolution | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "copy": found.copy.identity.label,
        "percent": None if found.share is None or not isfinite(found.share) else 100 * found.share,
        "told_apart": found.told_apart,
        **_shortened(found.comparison, "ratio", "interval", "status"),
    }


def conclusions(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """One per ranking: its load, its sentence, and its rows compared with the reference, without one each
    with each: by throughput, p99 (open loop only) and the CPU per request of what calls the limiter, the
    servers or the client."""
    return [
        {
            "layer": cell.identity.layer,
            "title": shown.title,
            "heading": group.heading,
            "sentence": group.sentence,
            "too_few_runs": group.few_runs,
            "winner": ranking.winner.identity.label if ranking.winner else None,
            "reference": ranking.reference.identity.label if ranking.reference else None,
            "resolution": _resolution(ranking.resolution),
            "comparisons": _pairs(ranking.pairs),
            "latency_p99_comparisons": _pairs(ranking.latency_pairs),
            "server_cpu_comparisons": _pairs(ranking.cpu_pairs),
            "order_comparisons": _pairs(ranking.order[len(ranking.ranked_by) :]),
        }
        for cell, shown in zip(cells, decision_cells(cells), strict=True)
        for ranking, group in zip(cell.rankings, shown.groups, strict=True)
    ]


#: Name, figure and decimals, by number of servers.
SERVER_FIGURES = (
    ("requests_per_second", throughput, 3),
    ("server_cpu_us_per_request", server_cpu, 3),
    ("store_cpu_us_per_consume", store_cpu_per_consume, 3),
    ("fairness_index", fairness, 6),
    ("fewest_to_most_answers", least_to_most, 6),
    ("all_ready_s", all_ready_s, 3),
)


def server_documents(found: Sequence[ServerScaling]) -> list[dict[str, Any]]:
    return [
        {"name": each.name, "label": each.identity.label, "steps": list(map(_server_step, each.steps))}
        for each in found
    ]


def _server_step(step: ServerStep) -> dict[str, Any]:
    summary, figures = step.summary, step.summary.figures
    added, first = step.added, step.first_second
    interval = first.throughput.interval if first else None
    compared = {
        "throughput_per_server": step.of_linear,
        "server_cpu": step.server_cpu,
        "store_cpu": step.store_cpu,
    }
    return {
        "configuration_hash": summary.identity.configuration_hash,
        "servers": step.servers,
        "runs": summary.counted_runs,
        **{
            name: _rounded(figure(figures) if figures else None, digits)
            for name, figure, digits in SERVER_FIGURES
        },
        "ranges": {
            name: {"min": round(ends[0], digits), "max": round(ends[1], digits)}
            for name, figure, digits in SERVER_FIGURES
            if (ends := summary.range_of(figure))
        },
        "answers_by_server": list(figures.answers_by_server) if figures else [],
        "servers_ready_s": list(figures.servers_ready_s) if figures else [],
        **{
            name: each and _shortened(each, "status", "reason", "ratio", "interval", "p_holm")
            for name, each in compared.items()
        },
        "added_server_share": added and {"estimate": added.estimate, "low": added.low, "high": added.high},
        "first_second": first
        and {
            "ratio": first.throughput.estimate,
            "low": interval.low if interval else None,
            "high": interval.high if interval else None,
            "p99_ms": first.p99_ms,
            "rest_p99_ms": first.rest_p99_ms,
        },
        "limited_by": _limited_by(figures),
    }


def _rounded(value: float | None, digits: int = 3) -> float | None:
    return None if value is None else round(value, digits)


def _limited_by(figures: Measured | None) -> dict[str, str] | None:
    limit = figures.limited_by if figures else None
    return {"resource": limit.resource, "text": limit.text} if limit else None


def _configuration(summary: Summary) -> dict[str, Any]:
    identity, figures, spread = summary.identity, summary.figures, summary.spread
    percentiles: Mapping[str, float] = figures.percentiles_ms if figures else {}
    bounds: Mapping[str, Bounds] = figures.bounds_ms if figures else {}

    def of_identity(*names: str) -> dict[str, Any]:
        return {name: getattr(identity, name) for name in names}

    return {
        **of_identity("configuration_hash", "label", "client", "store", "topology", "workload", "complexity"),
        **of_identity("traffic", "connections"),
        "load": load_name(identity),
        **of_identity("rate_per_second", "arrivals", "duration_s", "requests", "control"),
        "runs": len(summary.runs),
        **{
            f"{name}_runs": getattr(summary, f"{name}_runs")
            for name in ("valid", "served", "spoiled", "suspect", "invalid", "failed")
        },
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
        "latency_p50_ms": _rounded(percentiles.get("p50")),
        "latency_p99_ms": _rounded(percentiles.get("p99")),
        "latency_ms": {
            name: _rounded(percentiles.get(name))
            for name in PERCENTILES
            if name in percentiles or name in bounds
        },
        "latency_bounds_ms": {
            name: {"low": _rounded(known.low), "high": _rounded(known.high)} for name, known in bounds.items()
        },
        "ranges": {
            name: {"min": _rounded(ends[0]), "max": _rounded(ends[1])}
            for name, read in FIGURES.items()
            if (ends := summary.range_of(read))
        },
        "untypical": [name for name, read in FIGURES.items() if summary.is_untypical(read)],
        "latency_unsupported": list(figures.unsupported) if figures else [],
        "server_cpu_us_per_request": _rounded(cpu_us_per_request(figures.roles).get("server"))
        if figures
        else None,
        "limited_share": _rounded(figures.limited_share, 6) if figures else None,
        "limited_by": _limited_by(figures),
        "versions": dict(first.versions) if (first := next(iter(summary.median_first), None)) else {},
        "verdict": summary.verdict,
        "layer": identity.layer,
        **identity.counts,
        "calls_per_request": figures.calls_per_request if figures else None,
        "descriptors_per_call": figures.descriptors_per_call if figures else None,
        **of_identity("decided_by", "algorithm", "module", "service", "decides_locally"),
        "decisions": figures.decisions if figures else None,
        "cpu_us_per_decision": {kind: _rounded(value) for kind, value in decision_cpu_us(figures).items()}
        if figures
        else {},
        "reference": summary.reference,
        "copy_of": identity.copied_label if identity.copy else None,
        "runs_set_aside": len(summary.set_aside),
        "promises": promise_documents(summary),
        "hole": summary.no_figures_reason or None,
        "warnings": list(summary.warnings),
    }


def summary_document(analysis: Analysis, report: str) -> dict[str, Any]:
    """What `--summary-json` prints and summary.json holds; its shape is `schemas/summary.schema.json`."""
    campaign, manifest = analysis.campaign, analysis.campaign.manifest
    recommended = recommend(analysis) if analysis.summaries else None
    runs = (*campaign.runs, *campaign.operations, *campaign.fault_runs)
    return {
        "schema": "ratelimit-bench/summary",
        "schema_version": 2,
        "campaign": campaign.name,
        "started_at": manifest["started_at"] if manifest else None,
        "runtime": next((run.runtime["id"] for run in runs if run.runtime), None),
        "excluded": [{"file": entry.file, "text": entry.text} for entry in campaign.excluded],
        "configurations": list(map(_configuration, analysis.summaries)),
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
        "thresholds": documents(analysis.thresholds),
        "report": report,
    }
