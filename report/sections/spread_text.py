"""A figure of a configuration as it is printed: that of its median run, and the range over its runs."""

from collections.abc import Callable, Iterable

from report.analysis.figures import Figure, figure_text
from report.analysis.summary import Summary
from report.base.format import ABSENT
from report.results.model import Measured
from report.sections.section import TableCell, exact, sort_key

#: What the marks behind a figure mean.
UNTYPICAL = "outside the middle half of its runs"
FEW_SAMPLES = "too few samples behind it"
UNIDENTIFIED = "failed or unanswered requests could move it: only its bounds are known"
LATE = "late sends of the load generator are more than a tenth of it"
SUSPECT = "its run is suspect"
UNTYPICAL_MARK, FEW_SAMPLES_MARK, UNIDENTIFIED_MARK, LATE_MARK, SUSPECT_MARK = "‡", "†", "§", "¶", "‖"


def spread_figure(
    summary: Summary, figure: Figure, show: Callable[[float | None], str], unit: str = ""
) -> TableCell:
    """The figure with its range, or its bounds where it is not identified; marked where a reader must know
    more of it. With its unit it can be sorted by, and hovering shows more digits."""
    figures, ends = summary.figures, summary.range_of(figure)
    value = figure(figures) if figures else None
    sort, hint = (sort_key(value), exact(value, unit)) if unit else (None, "")
    if figures is None:
        return TableCell(ABSENT, kind="number", sort=sort, hint=hint)
    span = f"{show(ends[0])}–{show(ends[1])}" if ends and value is not None else ""
    untypical = [(UNTYPICAL_MARK, UNTYPICAL)] if summary.is_untypical(figure) else []
    marks = (*figure_marks(figures, figure), *suspect_marks(summary), *untypical)
    text = figure_text(figures, figure, show)
    return TableCell(text, range=span, marks=marks, kind="number", sort=sort, hint=hint)


def limit_cell(summary: Summary) -> TableCell:
    limit = summary.figures.record.limited_by if summary.figures else None
    return TableCell(limit.resource, hint=limit.text) if limit else TableCell(ABSENT)


def suspect_marks(summary: Summary) -> tuple[tuple[str, str], ...]:
    return ((SUSPECT_MARK, SUSPECT),) if summary.median and summary.median.verdict == "suspect" else ()


def figure_marks(figures: Measured, figure: Figure) -> tuple[tuple[str, str], ...]:
    name = figure.percentile
    unidentified = name in figures.bounds_ms
    few = name in figures.unsupported and (figure(figures) is not None or unidentified)
    late = figures.record.schedule is not None and name in figures.record.schedule.late_percentiles
    return (
        *([(UNIDENTIFIED_MARK, UNIDENTIFIED)] if unidentified else []),
        *([(FEW_SAMPLES_MARK, FEW_SAMPLES)] if few else []),
        *([(LATE_MARK, LATE)] if late else []),
    )


def marks_note(figures: Iterable[TableCell]) -> str:
    """What the marks that occur among them mean: `† too few samples behind it.`; empty without marks."""
    found = dict.fromkeys(mark for figure in figures for mark in figure.marks)
    return " ".join(f"{mark} {meaning}." for mark, meaning in found)
