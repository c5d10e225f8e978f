"""What each role used of the machine and waited for, and what other programs took, of the median runs."""

from collections.abc import Sequence

from report.analysis.campaign_analysis import Analysis
from report.analysis.texts import load_text, varying_fields
from report.base.format import percent
from report.results.model import MEASURED_KINDS, Measured, sums_by_kind
from report.sections import section

CAPTION = (
    "Figures of the median runs. A role waited while its threads were ready to run but had no CPU; the time "
    "is the sum over its threads. Roles that share CPUs wait for each other. Other programs are all but the "
    "roles and the harness; from 10 % of one CPU on a run is suspect (rule M25)."
)


def _cells(figures: Measured, kinds: Sequence[str]) -> tuple[section.TableCell, ...]:
    roles = figures.record.resources
    used, delays_us = sums_by_kind(roles, "cpu_percent"), sums_by_kind(roles, "run_delay_us")
    # Of the window, all threads added up: it may be more than 100 %.
    waited = {kind: delay_us / figures.record.duration / 10_000 for kind, delay_us in delays_us.items()}
    values = [*(used.get(kind) for kind in kinds), *(waited.get(kind) for kind in kinds)]
    return tuple(
        section.number(percent(value), value, hint=section.exact(value, "%"))
        for value in [*values, figures.foreign_cpu_percent]
    )


def resources(analysis: Analysis) -> section.Section | None:
    summaries = analysis.ordered
    measured = [(summary, summary.figures) for summary in summaries if summary.figures]
    if not any(
        sums_by_kind(figures.record.resources, "run_delay_us") or figures.foreign_cpu_percent is not None
        for _, figures in measured
    ):
        return None
    fields = varying_fields(summaries)
    served = any(summary.identity.servers for summary in summaries)
    kinds = [kind for kind in MEASURED_KINDS if kind != "server" or served]
    columns = (
        *section.words("Configuration", "Load"),
        *section.numbers([(f"{kind.capitalize()} CPU", "of one CPU") for kind in kinds]),
        *section.numbers([(f"{kind.capitalize()} waited", "of the window") for kind in kinds]),
        section.Column("Other programs", "of one CPU", "number more"),
    )
    rows = []
    for summary, figures in measured:
        names = section.named(summary.identity.label, load_text(summary.identity, fields))
        rows.append(section.TableRow(summary.id, (*names, *_cells(figures, kinds)), colour=summary.id))
    return section.Section(
        "resources",
        "CPU: used, waited for, taken by others",
        counted=tuple(row.ids for row in rows),
        counted_as="configurations",
        tables=(section.table_of("resource-rows", columns, rows, caption=CAPTION),),
    )
