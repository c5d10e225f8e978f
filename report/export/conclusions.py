"""What a campaign shows, ranking by ranking, as plain data: for programs and the last screen."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from report.analysis.cells import Cell
from report.analysis.rankings import Pair
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


def conclusions(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """One per ranking: its load, its sentence, and each row compared with each: by throughput, p99 (open loop
    only) and the CPU per request of what calls the limiter, the servers or the client."""
    found = []
    for cell, shown in zip(cells, decision_cells(cells), strict=True):
        for ranking, group in zip(cell.rankings, shown.groups, strict=True):
            found.append(
                {
                    "layer": cell.identity.layer,
                    "title": shown.title,
                    "heading": group.heading,
                    "sentence": group.sentence,
                    "indicative": group.indicative,
                    "winner": ranking.winner.identity.label if ranking.winner else None,
                    "comparisons": [_pair(pair) for pair in ranking.pairs],
                    "latency_p99_comparisons": [_pair(pair) for pair in ranking.latency_pairs],
                    "server_cpu_comparisons": [_pair(pair) for pair in ranking.cpu_pairs],
                }
            )
    return found
