"""The first screen as text for a terminal: the picture of all ratios, the figures that decide, and
what a reader must know about the conclusions."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from textwrap import TextWrapper

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import RuntimeResults
from report.analysis.texts import AT_FULL_LOAD, LayerText, by_loop, name
from report.base.format import cut_labels, plural
from report.sections.correlation_text import correlated_text
from report.sections.decision_table import DecisionRow, decision_cells, decision_row
from report.sections.forest import Forest, ForestRow, forests
from report.sections.headings import scopes
from report.sections.load_curve_text import curve_lines, sizing_lines
from report.sections.ranking_text import (
    although_suspect,
    checked_text,
    limit_text,
    settled_text,
    systematic_text,
)

WIDTH = 80
#: A name stays whole, so that it can be found and copied.
_wrapped = TextWrapper(WIDTH, break_on_hyphens=False).wrap
#: A screen shows at most so many rows, while the page has all of them.
MAX_SCREEN_ROWS = 24
#: A name keeps at least so many characters.
_LABEL = 16
#: More lines about limits leave no room for figures.
_MAX_LIMIT_LINES = 2


def screen_lines(analysis: Analysis) -> list[str]:
    """The lines of the first screen, at most 80 columns wide.

    There is none for a search of the highest rate, or for a campaign without rows."""
    if analysis.max_rates or analysis.only_memory or not analysis.summaries:
        return []
    if analysis.load_curves:
        planned_rate = (analysis.campaign.manifest or {}).get("plan_for_per_second")
        planned = sizing_lines(analysis.load_curves, planned_rate) if planned_rate else []
        return [*curve_lines(analysis.load_curves), *planned]

    lines = []
    for forest in forests(analysis):
        lines += [*forest_lines(forest, WIDTH), ""]

    room = MAX_SCREEN_ROWS
    for runtime in analysis.runtimes:
        tables = _titled_rows(runtime)
        for title, rows in tables:
            if room > 0:
                if len(tables) > 1:
                    lines.append(title)
                lines += _table_lines(_headers(rows, runtime.text), rows[:room])
            room -= len(rows)
    if room < 0:
        lines.append(f"and {plural(-room, 'row')} more in the report")
    return [*lines, *_conclusion_lines(analysis)]


def forest_lines(forest: Forest, width: int = 0) -> Iterator[str]:
    """The picture for a text of any width, e.g. `valkey-glide ├──◀──┤ ┊ 0.64× (0.59–0.69) slower,
    at least 31 %`. With a width, as in a terminal, each statement has a line of its own."""
    label_width = max(len(row.label) for row in forest.rows)
    placed = [row for row in forest.rows if row.at is not None]
    text_width = max((len(row.text) for row in placed), default=0)
    if width:
        label_width = min(label_width, max(28, width - text_width - 20))
    axis_width = max(16, (width or 80) - label_width - text_width - 4)
    labels = cut_labels((row.label for row in forest.rows), label_width)

    for group in forest.groups:
        if group.heading:
            yield group.heading
        for row in group.rows:
            axis = _axis_text(row, forest.one, axis_width)
            text = row.text if width else f"{row.text} {row.statement}".strip()
            yield f"{labels[row.label]:<{label_width}}  {axis}  {text}".rstrip()
            if width and row.statement:
                yield f"{'':{label_width}}  {row.statement}"[:width]
    if forest.left_out:
        yield f"and {plural(forest.left_out, 'row')} more"


def _axis_text(row: ForestRow, unit_place: float, width: int) -> str:
    """The interval and the mark of a row on an axis of `width` characters.

    `unit_place` is the place of the ratio 1."""

    def column(place: float) -> int:
        return round(place / 100 * (width - 1))

    characters = [" "] * width
    characters[column(unit_place)] = "┊"
    if row.low is not None and row.high is not None:
        low = column(row.low)
        high = column(row.high)
        characters[low : high + 1] = ["─"] * (high - low + 1)
        characters[low] = "←" if row.cut_low else "├"
        characters[high] = "→" if row.cut_high else "┤"
    if row.at is not None:
        characters[column(row.at)] = row.shape
    return "".join(characters)


def _titled_rows(runtime: RuntimeResults) -> list[tuple[str, tuple[DecisionRow, ...]]]:
    """The rows of each cell with its title, or the controls where there is no cell."""
    cells = decision_cells(runtime.cells, bool(runtime.layer))
    if cells:
        return [(cell.title, cell.rows) for cell in cells]
    return [
        (runtime.name, tuple(decision_row(row, runtime.text) for row in rows))
        for _, rows in by_loop(runtime.controls)
    ]


def _headers(rows: Sequence[DecisionRow], text: LayerText) -> list[str]:
    if any(row.summary.identity.open_loop for row in rows):
        return [
            "",
            text.rate_unit,
            f"mean {text.latency_unit}",
            f"p99 {text.latency_unit}",
            f"{text.consumer} µs",
            "store µs",
            "",
        ]
    return [f"CPU {AT_FULL_LOAD}", text.rate_unit, f"{text.consumer} µs", "store µs", ""]


def _table_lines(headers: Sequence[str], rows: Sequence[DecisionRow]) -> list[str]:
    table = [headers, *map(_screen_cells, rows)]
    whole = [cells for cells in table if len(cells) == len(headers)]
    figure_widths = [
        max(len(cells[column]) for cells in whole) for column in range(1, len(headers) - 1)
    ]
    status_width = max(len(cells[-1]) for cells in whole)
    room = WIDTH - sum(width + 2 for width in figure_widths) - status_width - 2
    labels = [cells[0] for cells in table]
    label_width = min(max(room, _LABEL), max(map(len, labels)))

    short_labels = cut_labels(labels, label_width)
    lines = []
    for cells in table:
        label = f"{short_labels[cells[0]]:<{label_width}}"
        if len(cells) == len(headers):
            figures = [
                f"{text:>{width}}" for text, width in zip(cells[1:-1], figure_widths, strict=True)
            ]
            lines.append("  ".join([label, *figures, cells[-1]]).rstrip()[:WIDTH])
        else:
            lines.append(f"{label}  {cells[1]}"[:WIDTH])
    return [*lines, *_verdict_lines(rows), *_limit_lines(rows)]


def _screen_cells(row: DecisionRow) -> Sequence[str]:
    """A cell for each header. A row without figures has only its label and the reason."""
    summary = row.summary
    label = name(summary)
    if summary.no_figures_reason:
        return [label, summary.no_figures_reason]
    mark = "*" if _short_verdict(row) else ""
    status = " ".join(filter(None, (row.short_conclusion, summary.spoiled_text, mark)))
    return [label, *(figure.text for figure in row.figures), status]


def _short_verdict(row: DecisionRow) -> str:
    """`1/5 suspect`; empty for a row whose runs are all valid."""
    return "" if row.verdict == "valid" else re.sub(r" of (\d+) runs?", r"/\1", row.verdict)


def _verdict_lines(rows: Sequence[DecisionRow]) -> list[str]:
    """Explains the asterisks."""
    marked = [f"{name(row.summary)} {text}" for row in rows if (text := _short_verdict(row))]
    return _wrapped(f"* {', '.join(marked)}") if marked else []


def _limit_lines(rows: Sequence[DecisionRow]) -> list[str]:
    """`Limited by server loop: iovalkey, ioredis; host CPU: none`, with what limited at least half
    of the runs of each row.

    It is empty where it would take too many lines."""
    by_limit: dict[str, list[str]] = {}
    for row in rows:
        limit = row.summary.limit
        if limit and limit.is_named and 2 * limit.runs >= limit.of_runs:
            by_limit.setdefault(limit.resource, []).append(name(row.summary))
    if not by_limit:
        return []
    lines = _wrapped(f"Limited by {_limits_text(by_limit)}")
    return lines if len(lines) <= _MAX_LIMIT_LINES else []


def _limits_text(by_limit: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{resource}: {', '.join(labels)}" for resource, labels in by_limit.items())


def _conclusion_lines(analysis: Analysis) -> Iterator[str]:
    """Sentences that a reader of the conclusions must know. Each stands once, however many rankings
    it is about."""
    compared = [ranking for _, ranking in scopes(analysis.runtimes) if ranking.compared_rows]
    times_of: Counter[str] = Counter()
    for ranking in compared:
        has_conclusion = any(pair.comparison.concluded for pair in ranking.ranked_by)
        although = although_suspect(ranking.compared_rows) if has_conclusion else ""
        texts = (
            f"The conclusions stand{although}" if although else "",
            settled_text(ranking),
            checked_text(ranking),
            systematic_text(ranking),
            correlated_text(ranking),
            limit_text(ranking),
        )
        times_of.update(f"{text[0].upper()}{text[1:]}" for text in texts if text)

    for text, times in times_of.items():
        occurrence_text = f" ({times} of {len(compared)} comparisons)" if len(compared) > 1 else ""
        yield from _wrapped(f"{text}{occurrence_text}.")
