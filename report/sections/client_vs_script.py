"""What the script costs each client, as tables."""

from collections.abc import Callable
from dataclasses import dataclass

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.client_vs_script import COMPARED, Variant
from report.analysis.comparison_text import interval_of
from report.analysis.figures import Figure, consumer_cpu, throughput
from report.analysis.layer_text import LayerText
from report.analysis.summary import Summary
from report.base.format import ABSENT, microseconds, plural, rate
from report.sections.first_screen import cell_title
from report.sections.script_text import script_names
from report.sections.section import Column, Section, Table, TableCell, TableGroup, TableRow, words
from report.sections.spread_text import SUSPECT, SUSPECT_MARK, suspect_marks
from report.statistics.decision import Comparison
from report.statistics.power import MIN_RUNS_FOR_A_CLAIM

#: How the figures of `COMPARED` are printed.
_SHOW: tuple[Callable[[float | None], str], ...] = (rate, microseconds, microseconds)


@dataclass(frozen=True, slots=True)
class VariantRow:
    """`own`, `same`: script, throughput, CPU of what calls the limiter and of the store; `ratios`: same ÷ own
    of each, with its interval, and what the test shows for `same` where there are enough runs."""

    ids: str
    """Of the rows that it is made of, with a space between."""
    label: str
    tags: tuple[str, ...]
    own: tuple[str, ...]
    same: tuple[str, ...]
    ratios: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClientVsScriptTable:
    """Of one store in one cell."""

    id: str
    store: str
    rows: tuple[VariantRow, ...]

    @property
    def ids(self) -> str:
        return " ".join(row.ids for row in self.rows)


def _figures(summary: Summary | None) -> tuple[str, ...]:
    figures = summary.figures if summary else None
    marks = "".join(mark for mark, _ in suspect_marks(summary)) if summary else ""
    shown = [
        f"{show(read(figures) if figures else None)}{marks}"
        for read, show in zip(COMPARED, _SHOW, strict=True)
    ]
    return (script_names(summary) if summary else ABSENT, *shown)


def _tags(own: Summary | None, same: Summary | None) -> tuple[str, ...]:
    """What the ratios of a row are worth; nothing where it has none."""
    if own is None or same is None or not (own.figures and same.figures):
        return ()
    fewest = min(own.counted_runs, same.counted_runs)
    few = [f"only {plural(fewest, 'run')}"] if fewest < MIN_RUNS_FOR_A_CLAIM else []
    ran = {script.sha1 for summary in (own, same) for script in summary.scripts}
    equal = own.scripts and same.scripts and len(ran) == 1 and None not in ran
    return (*few, *(["own is the same script"] if equal else []))


def _ratio_text(comparison: Comparison, read: Figure, open_loop: bool) -> str:
    """`1.25×, 1.21–1.30×, better`."""
    text = interval_of(comparison)
    if not text:
        return ABSENT
    # In an open loop throughput is what was offered, in a closed one CPU per request follows from it.
    follows = read is throughput if open_loop else read is consumer_cpu
    tested = comparison.p_holm is not None and not follows
    return ", ".join([text, *([comparison.status] if tested else [])])


def _row(variant: Variant) -> VariantRow:
    own, same = variant.own, variant.same
    open_loop = same is not None and same.identity.open_loop
    ratios = tuple(
        _ratio_text(comparison, read, open_loop)
        for comparison, read in zip(variant.comparisons, COMPARED, strict=False)
    )
    return VariantRow(
        ids=" ".join(summary.id for summary in (own, same) if summary),
        label=variant.name,
        tags=_tags(own, same),
        own=_figures(own),
        same=_figures(same),
        ratios=ratios or (ABSENT,) * len(COMPARED),
    )


def client_vs_script_tables(cell: Cell) -> tuple[ClientVsScriptTable, ...]:
    """A table for each store on which some client has rows with and without `same-script`."""
    return tuple(
        ClientVsScriptTable(
            f"{cell.id}-apart{number}", found.store, tuple(_row(variant) for variant in found.variants)
        )
        for number, found in enumerate(cell.client_vs_script, start=1)
    )


CAPTION = (
    "Each row is one client. First it runs its own script, then all clients run the same one: read down the "
    "latter to compare clients, and across a row to see what the script costs. The last columns give same "
    f"script ÷ own script with a 95 % interval; below {MIN_RUNS_FOR_A_CLAIM} valid runs of each nothing is "
    f"tested. Where a client’s own script is the same one, they show noise. {SUSPECT_MARK} {SUSPECT}."
)


def _columns(text: LayerText) -> tuple[Column, ...]:
    figures = (("throughput", text.rate_unit), (text.cpu, text.cpu_unit), ("store CPU", text.cpu_unit))
    return (
        *words("Client"),
        *(
            column
            for side in ("Own", "Same")
            for column in (
                Column(f"{side} script", kind=""),
                *(Column(f"{side}: {name}", unit) for name, unit in figures),
            )
        ),
        *(Column(f"Ratio: {name}", "same ÷ own") for name, _ in figures),
    )


def _table_row(row: VariantRow) -> TableRow:
    sides = [
        cell
        for script, *figures in (row.own, row.same)
        for cell in (TableCell(script), *(TableCell(text, kind="number") for text in figures))
    ]
    ratios = [TableCell(text, kind="number") for text in row.ratios]
    return TableRow(row.ids, (TableCell(row.label, tag=", ".join(row.tags)), *sides, *ratios))


def client_vs_script_section(analysis: Analysis) -> Section | None:
    """Tables of all cells in which some client ran both; None without one."""
    several = len(analysis.cells) > 1
    tables = tuple(
        Table(
            found.id,
            ", ".join(filter(None, (cell_title(cell) if several else "", f"on {found.store}"))),
            _columns(cell.text),
            (TableGroup(tuple(map(_table_row, found.rows))),),
        )
        for cell in analysis.cells
        for found in client_vs_script_tables(cell)
    )
    return (
        Section("apart", "Client and script told apart", text=(CAPTION,), tables=tables) if tables else None
    )
