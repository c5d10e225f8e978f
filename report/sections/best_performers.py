"""The best row of each kind of decider by traffic, which a campaign of several kinds shows
first."""

from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.figures import percentile, throughput
from report.analysis.ranked_pairs import Pair
from report.analysis.ranking_properties import RankingProperties
from report.analysis.rankings import Ranking, rank
from report.analysis.summary import Summary
from report.analysis.texts import algorithm_of, decider_of, interval_of, name
from report.base.format import ABSENT, rate
from report.sections.figure_cells import spread_figure
from report.sections.headings import cell_title
from report.sections.ranking_text import although_suspect
from report.sections.section import (
    Column,
    Section,
    Table,
    TableCell,
    TableGroup,
    TableRow,
    named,
    words,
)

CAPTION = (
    "The first of each kind of decider under one work on one store, whatever its algorithm, and the ratio "
    "of the next to it with its interval. Kinds are not compared with each other. First, not shown: these "
    "runs do not show that it is better than all others of its kind."
)


class BestPerformer(Struct, frozen=True):
    """The first row of one kind of decider in one cell, on one store and framework and with one
    kind of settings, whatever its algorithm and script."""

    cell: Cell
    ranking: Ranking
    """The ranking of all rows of the decider, which is one family of comparisons."""

    @property
    def rows(self) -> tuple[Summary, ...]:
        return self.ranking.summaries

    @property
    def best(self) -> Summary:
        """The first row. It was shown to be better than the others only if it is
        `ranking.winner`."""
        return self.rows[0]

    @property
    def to_next(self) -> Pair | None:
        if len(self.rows) < 2:
            return None
        pairs_of_both = (
            pair for pair in self.ranking.order if pair.has(self.best) and pair.has(self.rows[1])
        )
        return next((pair.seen_from(self.best) for pair in pairs_of_both), None)


def best_performers(cells: Sequence[Cell]) -> Iterator[BestPerformer]:
    """The best performers in the order of cells, stores and deciders, without rows of which no run
    counts.

    There is none where all rows share decider and algorithm, because then the rankings show it."""
    for cell in cells if any(cell.named.any for cell in cells) else ():
        rankings_by_properties: dict[RankingProperties, list[Ranking]] = {}
        for ranking in cell.rankings:
            if ranking.properties.store is not None:
                shared_properties = structs.replace(
                    ranking.properties, same_script=False, limiter=None, scripts=(), algorithm=None
                )
                rankings_by_properties.setdefault(shared_properties, []).append(ranking)
        for properties, members in rankings_by_properties.items():
            ranking = members[0] if len(members) == 1 else _over_all(members, properties)
            if ranking.summaries[0].selected:
                yield BestPerformer(cell, ranking)


def _over_all(rankings: Sequence[Ranking], properties: RankingProperties) -> Ranking:
    """One ranking of the rows of several rankings, in which each row is compared with every other.

    The rows have no reference in common. Where a copy was told apart in one of the rankings, the
    joined one has no winner either."""
    rows = [
        structs.replace(row, ranking=structs.replace(row.ranking, reference=None))
        for ranking in rankings
        for row in ranking.summaries
    ]
    resolutions = (ranking.resolution for ranking in rankings)
    told_apart = next(
        (resolution for resolution in resolutions if resolution and resolution.told_apart), None
    )
    return structs.replace(rank(rows, properties), resolution=told_apart)


def _conclusion(performer: BestPerformer) -> str:
    if sum(bool(row.selected) for row in performer.rows) < 2:
        return "only one"
    if performer.ranking.winner is performer.best:
        return performer.ranking.statement_of(performer.best)
    return "first, not shown"


def _conclusion_text(performer: BestPerformer) -> str:
    is_shown = performer.ranking.winner is performer.best
    return f"{_conclusion(performer)}{although_suspect(performer.ranking.compared_rows) if is_shown else ''}"


def _works(analysis: Analysis) -> dict[str, list[BestPerformer]]:
    works: dict[str, list[BestPerformer]] = {}
    for runtime in analysis.runtimes:
        for performer in best_performers(runtime.cells):
            title = cell_title(performer.cell, bool(runtime.layer))
            works.setdefault(": ".join(filter(None, (runtime.name, title))), []).append(performer)
    return works


def best_documents(analysis: Analysis) -> list[dict[str, object]]:
    return [
        {
            "title": title,
            "store": performer.best.identity.store_text,
            "decided_by": decider_of(performer.best.identity),
            "label": name(performer.best),
            "algorithm": algorithm_of(performer.best.identity),
            "next": name(performer.to_next.new) if performer.to_next else None,
            "next_to_best": (performer.to_next and interval_of(performer.to_next.comparison))
            or None,
            "conclusion": _conclusion(performer),
            "shown": performer.ranking.winner is performer.best,
        }
        for title, members in _works(analysis).items()
        for performer in members
    ]


def _row(performer: BestPerformer) -> TableRow:
    best = performer.best
    pair = performer.to_next
    text = performer.cell.text
    figure = (
        spread_figure(best, percentile("p99"), text.latency)
        if performer.ranking.open_loop
        else spread_figure(best, throughput, rate)
    )
    cells = (
        TableCell(name(best), best=performer.ranking.winner is best),
        *named(decider_of(best.identity), best.identity.store_text, algorithm_of(best.identity)),
        figure,
        TableCell(f"{name(pair.new)} {interval_of(pair.comparison)}".strip() if pair else ABSENT),
        TableCell("", badge=_conclusion_text(performer)),
    )
    return TableRow(" ".join(row.id for row in performer.rows), cells, colour=best.id)


def best_section(analysis: Analysis) -> Section | None:
    table_groups = []
    for title, members in _works(analysis).items():
        cell = members[0].cell
        figure = (
            f"p99, {cell.text.latency_unit}" if cell.identity.open_loop else cell.text.rate_unit
        )
        table_groups.append(TableGroup(tuple(map(_row, members)), f"{title}, {figure}"))
    columns = (
        *words("Best", "Decided by", "Store", "Algorithm"),
        Column("Figure"),
        *words("Next, and its ratio to the best", "Conclusion"),
    )
    table = Table("best-rows", "", columns, tuple(table_groups), CAPTION, sortable=False)
    return Section("best", "Best performers by traffic", tables=(table,)) if table_groups else None
