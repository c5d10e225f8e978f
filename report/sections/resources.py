"""What each role used of the machine and waited for, and what other programs took, of the median runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from report.analysis.load_text import load_text, varying_fields
from report.analysis.summary import Summary
from report.base.format import percent
from report.results.model import MEASURED_KINDS, Measured
from report.results.roles import cpu_percent, run_delay_us
from report.sections.tables import TableCell, exact, sort_key


def resource_columns(summaries: Sequence[Summary]) -> tuple[tuple[str, str], ...]:
    """Name and unit of each column after the row's name."""
    kinds = _kinds(summaries)
    return (
        *((f"{kind.capitalize()} CPU", "of one CPU") for kind in kinds),
        *((f"{kind.capitalize()} waited", "of the window") for kind in kinds),
        ("Other programs", "of one CPU"),
    )


def _kinds(summaries: Sequence[Summary]) -> tuple[str, ...]:
    """The kinds of roles that have columns: no servers where the load enters at the limiter alone."""
    served = any(summary.identity.servers for summary in summaries)
    return tuple(kind for kind in MEASURED_KINDS if kind != "server" or served)


@dataclass(frozen=True, slots=True)
class ResourceRow:
    """`cells` go with `resource_columns`."""

    summary_id: str
    configuration: str
    load: str
    """The part of its load that differs from other rows; empty if all have the same."""
    cells: tuple[TableCell, ...]


def waited_percent(figures: Measured) -> Mapping[str, float]:
    """Run delay by kind in % of the window, all threads added up, so that it may be more than 100."""
    return {
        kind: delay_us / figures.duration_s / 10_000 for kind, delay_us in run_delay_us(figures.roles).items()
    }


def _cell(value: float | None) -> TableCell:
    return TableCell(percent(value), kind="number", sort=sort_key(value), hint=exact(value, "%"))


def _cells(figures: Measured, kinds: Sequence[str]) -> tuple[TableCell, ...]:
    used, waited = cpu_percent(figures.roles), waited_percent(figures)
    values = [*(used.get(kind) for kind in kinds), *(waited.get(kind) for kind in kinds)]
    return tuple(_cell(value) for value in [*values, figures.foreign_cpu_percent])


def resource_rows(summaries: Sequence[Summary]) -> tuple[ResourceRow, ...]:
    """A row for each configuration with figures; none if no run recorded waiting or other programs."""
    measured = [(summary, summary.figures) for summary in summaries if summary.figures]
    if not any(
        run_delay_us(figures.roles) or figures.foreign_cpu_percent is not None for _, figures in measured
    ):
        return ()
    fields, kinds = varying_fields(summaries), _kinds(summaries)
    return tuple(
        ResourceRow(
            summary.id, summary.identity.label, load_text(summary.identity, fields), _cells(figures, kinds)
        )
        for summary, figures in measured
    )
