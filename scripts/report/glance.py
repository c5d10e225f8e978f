"""The page in ten seconds: per comparison, the highest median, the next one, and what that is worth."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from .answer import Answer, AnswerGroup
from .compare import Cell, Ranking, Standing
from .format import ABSENT, milliseconds, plural, rate, ratio
from .loads import Part, load_text
from .summarize import Summary
from .verdict_text import interval_of


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


#: Statuses of the second row as seen from the first, in the words of a reader.
_STATUS = {"worse": "difference shown", "no difference": "no difference shown", "better": "inconclusive"}


def _status(second: Standing | None) -> str:
    if second is None or second.versus_first is None:
        return "not compared"
    status = second.versus_first.status
    return _STATUS.get(status, status)


def _ratio(second: Standing | None) -> str:
    """`0.91×, 0.89–0.93×`: with its interval where there is one."""
    if second is None:
        return ABSENT
    return (second.versus_first and interval_of(second.versus_first)) or ratio(second.ratio)


def _row(answer: Answer, group: AnswerGroup, ranking: Ranking, where: str) -> GlanceRow | None:
    standings = [standing for standing in ranking.standings if standing.summary.figures]
    if not standings:
        return None
    best, *others = standings
    figures = best.summary.figures
    second = others[0] if others and ranking.comparable else None
    return GlanceRow(
        cell_id=answer.id,
        ids=" ".join(standing.summary.id for standing in ranking.standings),
        where=where,
        on=group.heading,
        best=best.summary,
        throughput=rate(figures.requests_per_second if figures else None),
        p99=milliseconds(figures.percentiles_ms.get("p99") if figures else None),
        next=second.summary.identity.short_label if second else ABSENT,
        ratio=_ratio(second),
        status=_status(second),
        sentence=group.sentence,
    )


def glance(cells: Sequence[Cell], answers: Sequence[Answer], parts: Sequence[Part]) -> tuple[GlanceRow, ...]:
    """A row a group that has figures, in page order.

    Args:
        cells, answers: of the same cells of closed loops, in the same order.
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
