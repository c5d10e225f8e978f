"""The last screen of a campaign in a terminal: picture and table of the page, as text."""

import re
from collections.abc import Sequence
from textwrap import wrap

from report.analysis.campaign_analysis import Analysis
from report.analysis.comparison_text import name
from report.base.format import plural
from report.sections.first_screen import DecisionRow, decision_cells, decision_row
from report.sections.forest import forest_lines, forests

WIDTH = 80
#: Longer tables do not fit a screen: the page has all rows.
MAX_ROWS = 24
_LABEL = 30


def _short(verdict: str) -> str:
    return "" if verdict == "valid" else re.sub(r" of (\d+) runs?", r"/\1", verdict)


def _cells(row: DecisionRow) -> tuple[str, ...]:
    summary = row.summary
    label = name(summary)
    if summary.no_figures_reason:
        return (label, summary.no_figures_reason)
    status = " ".join(filter(None, (row.status, summary.spoiled_text, "*" if _short(row.verdict) else "")))
    return (label, row.throughput.text, row.p99.text, row.cpu.text, row.store_cpu.text, status)


def _lines(headers: Sequence[str], rows: Sequence[DecisionRow]) -> list[str]:
    found = [_cells(row) for row in rows]
    whole = [headers, *(cells for cells in found if len(cells) == len(headers))]
    widths = [min(_LABEL, max(len(cells[0]) for cells in found))]
    widths += [max(len(cells[n]) for cells in whole) for n in range(1, len(headers) - 1)]
    lines = []
    for cells in (headers, *found):
        label = cells[0] if len(cells[0]) <= widths[0] else f"{cells[0][: widths[0] - 1]}…"
        if len(cells) != len(headers):
            lines.append(f"{label:<{widths[0]}}  {cells[1]}"[:WIDTH])
            continue
        figures = [f"{text:>{width}}" for text, width in zip(cells[1:-1], widths[1:], strict=True)]
        lines.append("  ".join([f"{label:<{widths[0]}}", *figures, cells[-1]]).rstrip()[:WIDTH])
    marked = [f"{name(row.summary)} {text}" for row in rows if (text := _short(row.verdict))]
    return [*lines, *(wrap(f"* {', '.join(marked)}", WIDTH) if marked else [])]


def screen_lines(analysis: Analysis) -> list[str]:
    """At most 80 columns wide; empty for a campaign without rows of its own, or of a search."""
    if analysis.max_rates or analysis.only_memory or not analysis.summaries:
        return []
    lines = [line for forest in forests(analysis) for line in (*forest_lines(forest, WIDTH), "")]
    room = MAX_ROWS
    for part in analysis.runtimes:
        shown = [(cell.title, cell.rows) for cell in decision_cells(part.cells, bool(part.layer))]
        if not shown:
            shown = [(part.name, tuple(decision_row(row, part.text) for row in part.controls))]
        text = part.text
        headers = (text.rate_unit, f"p99 {text.latency_unit}", f"{text.consumer} µs", "store µs", "")
        for title, rows in shown:
            if room > 0:
                lines += [title] if len(shown) > 1 else []
                lines += _lines(("", *headers), rows[:room])
            room -= len(rows)
    return [*lines, *([f"and {plural(-room, 'row')} more in the report"] if room < 0 else [])]
