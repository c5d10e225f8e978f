"""Corrects the comparisons of a load curve for all of its rates (rule M17).

A ranking is that of one load. The rankings of a load curve that differ only in their rate are one
family for each figure, because a reader looks for the rate at which targets differ."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, islice

from msgspec import structs

from report.analysis.figures import COSTS, Figure, consumer_cpu, p99
from report.analysis.ranked_pairs import Pair, best_of, compare_pairs, failed_loads_last
from report.analysis.rankings import Ranking
from report.analysis.subjects import target_key
from report.analysis.summary import Summary

RowPair = tuple[Summary, Summary]


def over_loads(rankings: Sequence[Ranking]) -> list[Ranking]:
    """The rankings in their order. Those of a load curve at a rate are corrected together, and
    others are as they were."""
    families: dict[tuple[str, str], list[int]] = {}
    for index, ranking in enumerate(rankings):
        reference = ranking.reference
        if reference and reference.in_curve and ranking.open_loop and ranking.compared_rows:
            key = (reference.runtime, target_key(reference.identity))
            families.setdefault(key, []).append(index)

    corrected = list(rankings)
    for indices in families.values():
        family = [rankings[index] for index in indices]
        for index, ranking in zip(indices, _corrected(family), strict=True):
            corrected[index] = ranking
    return corrected


def compared_together(
    pairs_of_rankings: Sequence[Sequence[RowPair]], figure: Figure, with_outlook: bool = True
) -> list[tuple[Pair, ...]]:
    """The pairs of each ranking, which are compared as one family. Pairs without the figure are
    left out."""
    known = [
        [pair for pair in pairs if all(row.sample(figure) for row in pair)]
        for pairs in pairs_of_rankings
    ]
    together = [pair for pairs in known for pair in pairs]
    compared = iter(compare_pairs(together, figure, with_outlook=with_outlook))
    return [tuple(islice(compared, len(pairs))) for pairs in known]


def _corrected(family: Sequence[Ranking]) -> Iterator[Ranking]:
    ranked_by = compared_together(_row_pairs(family, lambda ranking: ranking.ranked_by), p99)
    orders = compared_together(_row_pairs(family, lambda ranking: ranking.order), p99)
    cpu_pairs = compared_together(
        _row_pairs(family, lambda ranking: ranking.cpu_pairs), consumer_cpu
    )
    best_rows = _best_rows(family)
    for ranking, pairs, order, cpu, best in zip(
        family, ranked_by, orders, cpu_pairs, best_rows, strict=True
    ):
        whole_order = (*pairs, *order[len(pairs) :])
        rows = [row for row in ranking.summaries if row.selected]
        others = [row for row in ranking.summaries if not row.selected]
        told_apart = ranking.resolution is not None and ranking.resolution.told_apart
        yield structs.replace(
            ranking,
            summaries=(*failed_loads_last(rows, whole_order), *others),
            ranked_by=pairs,
            order=whole_order,
            cpu_pairs=cpu,
            best={} if told_apart else best,
        )


def _row_pairs(
    family: Sequence[Ranking], pairs_of: Callable[[Ranking], Sequence[Pair]]
) -> list[list[RowPair]]:
    return [[(pair.base, pair.new) for pair in pairs_of(ranking)] for ranking in family]


def _best_rows(family: Sequence[Ranking]) -> list[dict[str, str]]:
    """`Ranking.best` of each ranking. A figure that some row of a ranking does not have is not
    compared there."""
    best_rows: list[dict[str, str]] = [{} for _ in family]
    for name, figure in COSTS.items():
        pairs_of_rankings = [
            []
            if ranking.few_runs or not all(row.sample(figure) for row in ranking.compared_rows)
            else list(combinations(ranking.compared_rows, 2))
            for ranking in family
        ]
        # What more runs would show decides no rank.
        compared = compared_together(pairs_of_rankings, figure, with_outlook=False)
        for best, pairs in zip(best_rows, compared, strict=True):
            if (row := best_of(pairs)) is not None:
                best[name] = row.id
    return best_rows
