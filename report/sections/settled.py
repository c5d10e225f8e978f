"""Shows whether ratios are settled, for `How this was measured` (rule M33)."""

from collections.abc import Iterator

from report.analysis.campaign_analysis import Analysis
from report.analysis.rankings import Ranking
from report.analysis.settled import SETTLED_FIGURES, CheckResult
from report.analysis.summary import Summary
from report.analysis.texts import name
from report.base.format import ABSENT, percent
from report.sections.headings import scope_text, scopes
from report.sections.ranking_text import layer_of
from report.sections.section import (
    Column,
    Section,
    TableCell,
    TableRow,
    named,
    number,
    table_of,
    words,
)
from report.statistics.change import BOUND

TEXT = (
    "A target that has idled is not itself for a while, and a window can be steady for one target and not "
    "for another. So each ratio to the reference is compared between the start of turns and later, and "
    "between the halves of the window. "
    f"Settled: it changes by less than {100 * BOUND:g} %, with an interval of 90 %. "
    "Not settled: it changes by more than chance explains (Student’s t, Holm over the campaign); a "
    "conclusion stands only where both parts have it. Not checked: these rounds cannot tell. The last "
    "column is the largest change that they leave possible."
)


def settled(analysis: Analysis) -> Section:
    """It has no table if no ratio of the campaign is one of targets by turns."""
    rows = [
        row
        for parts, ranking in scopes(analysis.runtimes)
        for row in _rows(ranking, scope_text(parts))
    ]
    columns = (
        *words("Target", "Load", "Figure", "Checked", "Conclusion"),
        Column("Earlier", "× the reference"),
        Column("Later", "× the reference"),
        Column("Change", "at most"),
    )
    return Section(
        "settled",
        "Start of turns and halves of the window",
        text=(TEXT,),
        tables=(table_of("table-settled", columns, rows),) if rows else (),
        charts=("over-turns",),
        in_method=True,
    )


def _rows(ranking: Ranking, scope: str) -> Iterator[TableRow]:
    copies = [ranking.resolution.copy] if ranking.resolution else []
    for row in (*ranking.summaries, *copies):
        for column, figure in SETTLED_FIGURES.items():
            settling = ranking.settling_of(row, figure)
            figure_text = layer_of(ranking).cpu if column != "requests_per_second" else "throughput"
            for result in settling.results if settling else ():
                yield TableRow(row.id, _cells(row, scope, figure_text, result))


def _cells(
    row: Summary, scope: str, figure_text: str, result: CheckResult
) -> tuple[TableCell, ...]:
    parts = [
        number(ABSENT if part.ratio is None else f"{part.ratio:.2f}×", part.ratio)
        for part in result.parts
    ]
    at_most = 100 * result.change.at_most if result.change else None
    change = number(ABSENT if at_most is None else f"±{percent(at_most)}", at_most)
    texts = named(name(row), scope, figure_text, result.check.name, result.status)
    return (*texts, *parts, change)
