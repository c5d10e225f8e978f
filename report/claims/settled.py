"""Whether the ratio of a comparison is settled (rule M33), by the evidence of its campaign."""

from report.analysis.campaign_analysis import Analysis
from report.analysis.summary import Row, Summary
from report.claims.metrics import METRICS

SETTLED = "settled"
NOT_CHECKED = "not checked"

#: Metrics whose ratio time within a turn cannot change, because they are read between loads.
_MEMORY = ("store_memory", "bytes_per_key")


def settled_state(analysis: Analysis, rows: tuple[Row, ...], metric: str) -> str:
    """`settled`, `not settled` or `not checked`.

    The report checks the ratios of rows to the reference of their ranking. Other ratios, and those
    of rows that did not go by turns, are not checked."""
    if metric in _MEMORY:
        return SETTLED

    measured = [row for row in rows if isinstance(row, Summary)]
    if len(measured) != 2:
        return NOT_CHECKED
    row, base = measured
    figure, _ = METRICS[metric]
    for cell in analysis.cells:
        for ranking in cell.rankings:
            settling = ranking.settlings.get((base.id, row.id, figure))
            if settling:
                return settling.status
    return NOT_CHECKED
