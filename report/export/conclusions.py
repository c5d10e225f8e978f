"""What a campaign shows, ranking by ranking, as plain data: for programs and the last screen."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from report.analysis.cells import Cell
from report.analysis.rankings import Pair
from report.analysis.resolution import Resolution
from report.sections.first_screen import decision_cells
from report.statistics.decision import Comparison


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
    found = []
    for cell, shown in zip(cells, decision_cells(cells), strict=True):
        for ranking, group in zip(cell.rankings, shown.groups, strict=True):
            found.append(
                {
                    "layer": cell.identity.layer,
                    "title": shown.title,
                    "heading": group.heading,
                    "sentence": group.sentence,
                    "too_few_runs": group.few_runs,
                    "winner": ranking.winner.identity.label if ranking.winner else None,
                    "reference": ranking.reference.identity.label if ranking.reference else None,
                    "resolution": _resolution(ranking.resolution),
                    "comparisons": [_pair(pair) for pair in ranking.pairs],
                    "latency_p99_comparisons": [_pair(pair) for pair in ranking.latency_pairs],
                    "server_cpu_comparisons": [_pair(pair) for pair in ranking.cpu_pairs],
                    "order_comparisons": [_pair(pair) for pair in ranking.order[len(ranking.ranked_by) :]],
                }
            )
    return found
