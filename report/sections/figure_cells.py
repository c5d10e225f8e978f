"""Cells of figures, with their ranges and with marks for what a reader must know about them."""

from collections.abc import Iterable

from report.analysis.figure_summary import FigureSummary
from report.analysis.figures import Figure
from report.analysis.late_sends import late_percentiles
from report.analysis.summary import Summary
from report.base.format import ABSENT, Show
from report.results.model import Measured
from report.sections.section import Mark, TableCell, exact, sort_key

#: The marks behind a figure, each with its meaning.
FEW_SAMPLES = ("†", "too few samples behind it")
MERGED = ("∪", "from the merged histogram of all runs, because single runs have too few samples")
UNIDENTIFIED = ("§", "failed or unanswered requests could move it: only its bounds are known")
LATE = ("¶", "late sends of the load generator are more than a tenth of it")
SUSPECT = ("‖", "at least half of its runs are suspect")


def spread_figure(summary: Summary, figure: Figure, show: Show, unit: str = "") -> TableCell:
    """The figure with its range, or its bounds where it is not identified, and with its marks.

    With a unit the column can be sorted by it, and hovering shows more digits."""
    figure_summary = summary.figure_of(figure)
    value = figure_summary.value
    sort = sort_key(value) if unit else None
    hint = exact(value, unit) if unit else ""
    if not summary.has_figures:
        return TableCell(ABSENT, kind="number", sort=sort, hint=hint)
    text = figure_summary.text(show)
    # A figure that is missing has nothing to mark.
    marks = (*median_marks(figure_summary), *suspect_marks(summary)) if text != ABSENT else ()
    return TableCell(
        text,
        range=figure_summary.range_text(show),
        marks=marks,
        kind="number",
        sort=sort,
        hint=hint,
    )


def limit_cell(summary: Summary) -> TableCell:
    """What limited the runs of a row."""
    if not summary.limit:
        return TableCell(ABSENT)
    return TableCell(summary.limit.words, hint=summary.limit.text)


def suspect_marks(summary: Summary) -> tuple[Mark, ...]:
    counted = [run for run in summary.runs if run.eligible or run.spoiled]
    suspect = sum(run.verdict == "suspect" for run in counted)
    return (SUSPECT,) if counted and 2 * suspect >= len(counted) else ()


def median_marks(figure: FigureSummary) -> tuple[Mark, ...]:
    """The marks of the figure of a row."""
    is_known = figure.value is not None or figure.bounds is not None
    marks = []
    if figure.bounds:
        marks.append(UNIDENTIFIED)
    if figure.few_samples and is_known:
        marks.append(FEW_SAMPLES)
    if figure.merged and is_known:
        marks.append(MERGED)
    if figure.late:
        marks.append(LATE)
    return tuple(marks)


def run_marks(measured: Measured, figure: Figure) -> tuple[Mark, ...]:
    """The marks of the figure of a single run."""
    is_known = figure.known(measured) is not None
    marks = []
    if is_known and figure(measured) is None:
        marks.append(UNIDENTIFIED)
    if is_known and figure.percentile in measured.unsupported:
        marks.append(FEW_SAMPLES)
    if figure.percentile in late_percentiles(measured):
        marks.append(LATE)
    return tuple(marks)


def marks_note(cells: Iterable[TableCell]) -> str:
    """Explains the marks that occur in the cells, such as `† too few samples behind it.`; empty
    without marks."""
    marks = dict.fromkeys(mark for cell in cells for mark in cell.marks)
    return " ".join(f"{mark} {meaning}." for mark, meaning in marks)
