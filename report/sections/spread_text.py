"""A figure of a configuration as it is printed: that of its median run, and the range over its runs."""

from collections.abc import Callable
from dataclasses import dataclass

from report.analysis.summary import Summary
from report.base.format import ABSENT
from report.results.model import Measured

#: What the marks behind a figure mean.
UNTYPICAL = "outside the middle half of its runs"
FEW_SAMPLES = "too few samples behind it"
UNTYPICAL_MARK, FEW_SAMPLES_MARK = "‡", "†"


@dataclass(frozen=True, slots=True)
class SpreadFigure:
    """`range` is empty below two runs; `marks` are pairs of a mark and its meaning."""

    text: str
    range: str
    marks: tuple[tuple[str, str], ...]

    @property
    def plain(self) -> str:
        """`12.21‡ (8.10–14.00)`."""
        marked = self.text + "".join(mark for mark, _ in self.marks)
        return f"{marked} ({self.range})" if self.range else marked


def spread_figure(
    summary: Summary,
    read: Callable[[Measured], float | None],
    show: Callable[[float | None], str],
    percentile: str = "",
) -> SpreadFigure:
    """The figure with its range, marked where few samples stand behind it or where it is untypical.

    Args:
        percentile: its name, where it is one that may be unsupported.
    """
    figures, ends = summary.figures, summary.range_of(read)
    value = read(figures) if figures else None
    few = bool(figures and percentile in figures.unsupported)
    return SpreadFigure(
        show(value) if figures else ABSENT,
        f"{show(ends[0])}–{show(ends[1])}" if ends and value is not None else "",
        (
            *([(FEW_SAMPLES_MARK, FEW_SAMPLES)] if few and value is not None else []),
            *([(UNTYPICAL_MARK, UNTYPICAL)] if summary.is_untypical(read) else []),
        ),
    )


def marks_note(figures: list[SpreadFigure]) -> str:
    """What the marks that occur among them mean: `† too few samples behind it.`; empty without marks."""
    found = dict.fromkeys(mark for figure in figures for mark in figure.marks)
    return " ".join(f"{mark} {meaning}." for mark, meaning in found)
