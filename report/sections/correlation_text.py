"""Puts into words that neighbouring rounds of a ranking are correlated (rule M34)."""

from collections.abc import Iterator

from report.analysis.correlated_rounds import round_correlations
from report.analysis.rankings import Ranking
from report.base.format import joined
from report.sections.ranking_text import layer_of
from report.statistics.neighbouring_rounds import BEYOND, SIMULATED


def _figures(ranking: Ranking) -> Iterator[str]:
    """`throughput by 0.62` for each figure whose rounds are correlated."""
    for name, correlation in round_correlations(ranking).items():
        if correlation.is_beyond:
            figure = layer_of(ranking).cpu if name == "cpu" else name
            yield f"{figure} by {correlation.correlation:.2f}"


def correlated_text(ranking: Ranking) -> str:
    """Says that neighbouring rounds are correlated beyond 0.3, and what follows, as a clause. It is
    empty if they are not."""
    figures = list(_figures(ranking))
    if not figures:
        return ""
    return (
        f"neighbouring rounds are correlated beyond {BEYOND:g}, in {joined(figures)}, so intervals "
        "are too narrow (M34)"
    )


def correlation_caveat(ranking: Ranking) -> str:
    """The clause as a sentence, with what simulations say of such rounds. It is empty if rounds are
    not correlated."""
    text = correlated_text(ranking)
    if not text:
        return ""
    return f"{text[0].upper()}{text[1:]}. {SIMULATED_TEXT}"


SIMULATED_TEXT = (
    f"In simulations with {SIMULATED.correlation:g}, intervals contained "
    f"{100 * SIMULATED.covered:.3g} % of the true ratios instead of "
    f"{100 * SIMULATED.covered_without:.3g} %, and {100 * SIMULATED.false:.3g} % of the families had "
    f"a false conclusion instead of {100 * SIMULATED.false_without:.3g} %."
)
