"""The summary document: for the command line's last screen, and for programs."""

from typing import Any

from report.analysis.campaign_analysis import Analysis
from report.analysis.figures import FIGURES, decision_cpu_us
from report.analysis.summary import Summary
from report.analysis.texts import load_name
from report.export.conclusions import conclusions
from report.export.several_servers import server_documents
from report.results.model import cpu_us_per_request
from report.sections.adaptive import adaptive_document, adaptive_of
from report.sections.best_performers import best_documents
from report.sections.boundary import promise_documents
from report.sections.faults import fault_sentences
from report.sections.first_screen import screen_lines
from report.sections.max_rate import max_rate_document
from report.sections.printed_programs import load_program_sentences, store_sentences
from report.sections.recommendation import recommend
from report.sections.thresholds import threshold_documents
from report.statistics.histograms import PERCENTILES


def _rounded(value: float | None, digits: int = 3) -> float | None:
    return None if value is None else round(value, digits)


def _configuration(summary: Summary) -> dict[str, Any]:
    identity, figures, spread = summary.identity, summary.figures, summary.spread
    percentiles = figures.percentiles_ms if figures else {}
    bounds = figures.bounds_ms if figures else {}

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
        "server_cpu_us_per_request": _rounded(cpu_us_per_request(figures.record.resources).get("server"))
        if figures
        else None,
        "limited_share": _rounded(figures.limited_share, 6) if figures else None,
        "limited_by": {"resource": limit.resource, "text": limit.text}
        if figures and (limit := figures.record.limited_by)
        else None,
        "versions": dict(first.versions) if (first := next(iter(summary.median_first), None)) else {},
        "verdict": summary.verdict,
        "layer": identity.layer,
        **identity.counts,
        "calls_per_request": figures.record.calls_per_request if figures else None,
        "descriptors_per_call": figures.record.descriptors_per_call if figures else None,
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
    return {
        "schema": "ratelimit-bench/summary",
        "schema_version": 2,
        "campaign": campaign.name,
        "started_at": manifest["started_at"] if manifest else None,
        "runtime": next(
            (
                run.record.runtime.id
                for run in (*campaign.runs, *campaign.operations, *campaign.fault_runs)
                if run.record.runtime
            ),
            None,
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
        "thresholds": threshold_documents(analysis),
        "report": report,
    }
