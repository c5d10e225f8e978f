"""Notes on the comparisons of two sides."""

from collections.abc import Iterator, Sequence

from report.analysis.summary import Summary
from report.base.format import joined, plural
from report.compare import comparability
from report.compare.comparison_metrics import Metric
from report.compare.matched_rows import RowComparison
from report.compare.selection import Selection


def _metric_notes(summary: Summary, metric: Metric) -> Iterator[str]:
    open_loop = summary.identity.open_loop
    if summary.identity.layer == "limiter":
        yield "at the limiter layer a request is a decision, and CPU time is that of the client"
    if metric.id == "throughput" and open_loop:
        yield "in an open loop throughput is what was offered: compare latencies there"
    if metric.id in ("p50", "p99") and not open_loop:
        yield "latencies at full load follow from the throughput (M4), and move with the size of the group"
    if metric.id == "cpu" and not open_loop:
        yield "CPU time is that at full load: at another rate it is another (M35)"


def _row_notes(summary: Summary, metric: Metric) -> Iterator[str]:
    counted = [run.measured for run in summary.runs if run.eligible and run.measured]
    runs = plural(len(counted), "run")
    if summary.spoiled_runs:
        rank_clause = "they rank" if summary.spoiled_runs > 1 else "it ranks"
        yield f"{summary.spoiled_text}: {rank_clause} below all others (M24)"
    if bounded := sum(metric.read.percentile in run.bounds_ms for run in counted):
        yield f"{metric.id} is known only within bounds in {bounded} of {runs}: the upper one counts (M23)"
    if absent := sum(metric.read.at_most(run) is None for run in counted):
        yield f"{absent} of {len(counted)} runs have no such figure on record"
    if unsupported := sum(not metric.read.is_comparable(run) for run in counted):
        unsupported_text = f"{metric.id} is unsupported in {unsupported} of {runs}"
        yield f"{unsupported_text}, by too few samples or late sends: not compared"


def comparison_notes(
    base: Selection, new: Selection, row_comparisons: Sequence[RowComparison]
) -> Iterator[str]:
    """What to keep in mind with the comparisons of two sides, besides what differs."""
    pairs = [row_comparison.matched for row_comparison in row_comparisons]
    across = base.folder != new.folder
    if across:
        yield from comparability.campaign_notes(base.campaign, new.campaign)
        name = new.campaign.name
        labels = joined(list(dict.fromkeys(pair.reference for pair in pairs if pair.reference)))
        if base.campaign.name == name:
            yield f"both sides are campaign {name}: measure anew, then compare with the baseline"
        elif labels:
            yield f"ratios are of each round’s ratio to {labels}, then and now"
    yield from (pair.stop.note for pair in pairs if pair.stop)
    paired = [
        row_comparison.comparison
        for row_comparison in row_comparisons
        if row_comparison.comparison.pairs is not None
    ]
    dropped = sum(comparison.dropped for comparison in paired)
    if paired:
        dropped_text = (
            f"; {plural(dropped, 'run')} without a partner that counts" if dropped else ""
        )
        yield f"runs of one round are compared with each other{dropped_text}"
    for pair in pairs:
        yield from comparability.version_notes(*pair.rows, pair.names)
    for pair in pairs:
        yield from _metric_notes(pair.base, pair.metric)
    for rows in (
        *(pair.rows for pair in pairs),
        *(pair.references for pair in pairs if pair.references),
    ):
        for side, row in zip((base, new), rows, strict=True):
            name = f"{side.campaign.name}#{row.identity.label}" if across else row.identity.label
            yield from (
                f"{name}: {text}" for text in (*_row_notes(row, pairs[0].metric), *row.warnings)
            )
