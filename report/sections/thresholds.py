"""Thresholds of the campaign, and whether they hold."""

from report.analysis.campaign_analysis import Analysis
from report.analysis.load_text import load_text
from report.analysis.thresholds import HELD
from report.base.format import plural
from report.sections.section import Column, Section, TableCell, TableRow, named, number, table_of, words

TEXT = "They are judged by the median run, errors by all runs together. Controls are not judged."


def thresholds(analysis: Analysis) -> Section | None:
    place = {summary.id: index for index, summary in enumerate(analysis.ordered)}
    judged = sorted(analysis.thresholds, key=lambda each: (each.status == HELD, place[each.summary.id]))
    if not judged:
        return None
    rows = [
        TableRow(
            each.summary.id,
            (
                *named(each.summary.identity.label, load_text(each.summary.identity), each.threshold),
                number(each.value_text, each.value),
                TableCell(each.status, kind="" if each.status == HELD else "verdict invalid"),
            ),
        )
        for each in judged
    ]
    missed = sum(each.status != HELD for each in judged)
    answer = (
        f"{missed} of {plural(len(judged), 'threshold')} not held." if missed else f"All {len(judged)} held."
    )
    columns = (*words("Target", "Load", "Asked"), Column("Measured"), *words("Result"))
    table = table_of("threshold-rows", columns, rows)
    return Section("thresholds", "Thresholds", answer, text=(TEXT,), tables=(table,), open=bool(missed))
