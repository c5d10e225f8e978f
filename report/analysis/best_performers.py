"""The best of each kind of decider under one work, on one store: never one over several."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from report.analysis.cells import Cell
from report.analysis.groups import Group
from report.analysis.rankings import Pair, Ranking, rank
from report.analysis.summary import Summary


@dataclass(frozen=True, slots=True)
class BestPerformer:
    """The first row of all that one kind of decider has on one store in one cell with one kind of settings
    on one framework, whatever its algorithm and script."""

    cell: Cell
    ranking: Ranking
    """The ranking of all these rows: one family of comparisons."""

    @property
    def rows(self) -> tuple[Summary, ...]:
        return self.ranking.summaries

    @property
    def best(self) -> Summary:
        """The row that stands first; shown to be better than the others only if it is `ranking.winner`."""
        return self.rows[0]

    @property
    def to_next(self) -> Pair | None:
        if len(self.rows) < 2:
            return None
        both = (pair for pair in self.ranking.order if pair.has(self.best) and pair.has(self.rows[1]))
        return next((pair.seen_from(self.best) for pair in both), None)


def best_performers(cells: Sequence[Cell]) -> tuple[BestPerformer, ...]:
    """In the order of cells, stores and deciders; those without a run that counts are left out. Empty where
    all rows share what decides and the algorithm: then the rankings say it."""
    if not any(cell.named.any for cell in cells):
        return ()
    found = []
    for cell in cells:
        together: dict[tuple[object, ...], list[Ranking]] = {}
        for ranking in cell.rankings:
            group = ranking.group
            if group.store is not None:
                key = (
                    group.store,
                    group.external,
                    group.decided_by,
                    group.settings,
                    group.client,
                    group.framework,
                )
                together.setdefault(key, []).append(ranking)
        for members in together.values():
            ranking = members[0] if len(members) == 1 else _over_all(members)
            if ranking.summaries[0].median:
                found.append(BestPerformer(cell, ranking))
    return tuple(found)


def _over_all(rankings: Sequence[Ranking]) -> Ranking:
    """One ranking of the rows of several, which have no reference in common: each with every other. Where a
    copy was told apart in one of them, it has no winner either."""
    group = rankings[0].group
    rows = [replace(row, reference=False) for ranking in rankings for row in ranking.summaries]
    together = Group(
        group.store,
        group.external,
        same_script=False,
        decided_by=group.decided_by,
        settings=group.settings,
        framework=group.framework,
    )
    resolutions = (ranking.resolution for ranking in rankings)
    apart = next((each for each in resolutions if each and each.told_apart), None)
    return replace(rank(rows, together), resolution=apart)
