"""Tells in which figures of a ranking neighbouring rounds are correlated (rule M34)."""

from collections.abc import Mapping

from report.analysis.figures import Figure, consumer_cpu, p99, throughput
from report.analysis.rankings import Ranking
from report.analysis.row_pairs import sample_between
from report.statistics.neighbouring_rounds import RoundCorrelation, round_correlation


def round_correlations(ranking: Ranking) -> Mapping[str, RoundCorrelation]:
    """The correlation of neighbouring rounds of the rows by turns with their reference, by the
    names `throughput` or `p99`, and `cpu`. Figures with fewer than six rounds are missing."""
    reference = ranking.reference
    if reference is None:
        return {}

    figures: dict[str, Figure] = {
        "p99" if ranking.open_loop else "throughput": p99 if ranking.open_loop else throughput,
        "cpu": consumer_cpu,
    }
    correlations = {}
    for name, figure in figures.items():
        samples = [
            sample_between(row, reference, figure)
            for row in ranking.compared_rows
            if row is not reference and row.sample(figure) and reference.sample(figure)
        ]
        correlation = round_correlation([sample.pairs for sample in samples if sample.together])
        if correlation is not None:
            correlations[name] = correlation
    return correlations
