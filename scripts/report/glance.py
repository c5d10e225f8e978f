"""The page in ten seconds: per comparison, the highest median, the next one, and what that is worth."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from .answer import Answer, AnswerGroup
from .compare import Cell, Ranking
from .format import ABSENT, milliseconds, plural, rate, ratio
from .loads import Part, load_text
from .summarize import Summary


@dataclass(frozen=True, slots=True)
class GlanceRow:
    """One group of one cell: rows that may be compared."""

    cell_id: str
    ids: str
    """Of its rows, with a space between."""
    where: str
    on: str
    best: Summary
    throughput: str
    p99: str
    next: str
    ratio: str
    status: str
    """In a word; empty where nothing can be said."""
    sentence: str


def _row(answer: Answer, group: AnswerGroup, ranking: Ranking, where: str) -> GlanceRow | None:
    standings = [standing for standing in ranking.standings if standing.summary.figures]
    if not standings:
        return None
    best, *others = standings
    figures = best.summary.figures
    compared = others[:1] if ranking.comparable else []
    return GlanceRow(
        cell_id=answer.id,
        ids=" ".join(standing.summary.id for standing in ranking.standings),
        where=where,
        on=group.heading,
        best=best.summary,
        throughput=rate(figures.requests_per_second if figures else None),
        p99=milliseconds(figures.percentiles_ms.get("p99") if figures else None),
        next=compared[0].summary.identity.short_label if compared else ABSENT,
        ratio=ratio(compared[0].ratio) if compared else ABSENT,
        status="indicative" if group.indicative else "not compared",
        sentence=group.sentence,
    )


def glance(cells: Sequence[Cell], answers: Sequence[Answer], parts: Sequence[Part]) -> tuple[GlanceRow, ...]:
    """A row a group that has figures, in page order.

    Args:
        cells, answers: of the same cells, in the same order.
        parts: what of the load tells cells apart.
    """
    found = []
    for cell, answer in zip(cells, answers, strict=True):
        topology = cell.identity.topology.capitalize() if cell.identity.topology else "Other addresses"
        where = " · ".join(filter(None, (topology, load_text(cell.identity, parts))))
        for ranking, group in zip(cell.rankings, answer.groups, strict=True):
            row = _row(answer, group, ranking, where)
            if row:
                found.append(row)
    return tuple(found)


def _counted(texts: Sequence[str]) -> list[str]:
    """`iovalkey in 3`, the most frequent first."""
    return [f"{text} in {number:,}" for text, number in Counter(texts).most_common()]


def headline(rows: Sequence[GlanceRow]) -> str:
    """Who has the highest median how often, and what that is worth; empty without a comparison."""
    compared = [row for row in rows if row.next != ABSENT]
    if not compared:
        return ""
    best = ", ".join(_counted([row.best.identity.short_label for row in compared]))
    worth = ", ".join(_counted([row.status for row in compared]))
    return f"Highest median in {plural(len(compared), 'comparison')}: {best}. What they are worth: {worth}."
