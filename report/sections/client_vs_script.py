"""What the script costs each client, as tables."""

from collections.abc import Callable

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.client_vs_script import COMPARED, Variant
from report.analysis.comparison_text import interval_of
from report.analysis.figures import Figure, consumer_cpu, throughput
from report.analysis.layer_text import LayerText
from report.analysis.summary import Summary
from report.base.format import ABSENT, microseconds, plural, rate
from report.results.model import script_sha1
from report.sections.first_screen import cell_title
from report.sections.script_text import script_names
from report.sections.section import Column, Section, Table, TableCell, TableGroup, TableRow, words
from report.sections.spread_text import SUSPECT, SUSPECT_MARK, suspect_marks
from report.statistics.decision import Comparison
from report.statistics.power import MIN_RUNS_FOR_A_CLAIM

#: How the figures of `COMPARED` are printed.
_SHOW: tuple[Callable[[float | None], str], ...] = (rate, microseconds, microseconds)
CAPTION = (
    "Each row is one client. First it runs its own script, then all clients run the same one: read down the "
    "latter to compare clients, and across a row to see what the script costs. The last columns give same "
    f"script ÷ own script with a 95 % interval; below {MIN_RUNS_FOR_A_CLAIM} valid runs of each nothing is "
    f"tested. Where a client’s own script is the same one, they show noise. {SUSPECT_MARK} {SUSPECT}."
)


def _side(summary: Summary | None) -> list[TableCell]:
    figures = summary.figures if summary else None
    marks = suspect_marks(summary) if summary else ()
    shown = [show(read(figures) if figures else None) for read, show in zip(COMPARED, _SHOW, strict=True)]
    script = TableCell(script_names(summary) if summary else ABSENT)
    return [script, *(TableCell(text, marks=marks, kind="number") for text in shown)]


def _tag(own: Summary | None, same: Summary | None) -> str:
    if own is None or same is None or not (own.figures and same.figures):
        return ""
    fewest = min(own.counted_runs, same.counted_runs)
    few = f"only {plural(fewest, 'run')}" if fewest < MIN_RUNS_FOR_A_CLAIM else ""
    ran = {script_sha1(script) for summary in (own, same) for script in summary.scripts}
    equal = own.scripts and same.scripts and len(ran) == 1 and None not in ran
    return ", ".join(filter(None, (few, "own is the same script" if equal else "")))


def _ratio(comparison: Comparison, read: Figure, open_loop: bool) -> str:
    # In an open loop throughput is what was offered, in a closed one CPU per request follows from it.
    follows = read is throughput if open_loop else read is consumer_cpu
    tested = comparison.p_holm is not None and not follows
    text = interval_of(comparison)
    return ", ".join([text, *([comparison.status] if tested else [])]) if text else ABSENT


def _row(variant: Variant) -> TableRow:
    own, same = variant.own, variant.same
    open_loop = same is not None and same.identity.open_loop
    compared = zip(variant.comparisons, COMPARED, strict=False)
    ratios = [_ratio(comparison, read, open_loop) for comparison, read in compared] or [ABSENT] * len(
        COMPARED
    )
    cells = (
        TableCell(variant.name, tag=_tag(own, same)),
        *_side(own),
        *_side(same),
        *(TableCell(text, kind="number") for text in ratios),
    )
    return TableRow(" ".join(summary.id for summary in (own, same) if summary), cells)


def _columns(text: LayerText) -> tuple[Column, ...]:
    figures = (("throughput", text.rate_unit), (text.cpu, text.cpu_unit), ("store CPU", text.cpu_unit))
    sides = [
        (Column(f"{side} script", kind=""), *(Column(f"{side}: {name}", unit) for name, unit in figures))
        for side in ("Own", "Same")
    ]
    ratios = (Column(f"Ratio: {name}", "same ÷ own") for name, _ in figures)
    return (*words("Client"), *sides[0], *sides[1], *ratios)


def client_vs_script_tables(cell: Cell, title: str = "") -> tuple[Table, ...]:
    return tuple(
        Table(
            f"{cell.id}-apart{number}",
            ", ".join(filter(None, (title, f"on {found.store}"))),
            _columns(cell.text),
            (TableGroup(tuple(map(_row, found.variants))),),
        )
        for number, found in enumerate(cell.client_vs_script, start=1)
    )


def client_vs_script_section(analysis: Analysis) -> Section | None:
    several = len(analysis.cells) > 1
    tables = tuple(
        table
        for cell in analysis.cells
        for table in client_vs_script_tables(cell, cell_title(cell) if several else "")
    )
    section = Section("apart", "Client and script told apart", text=(CAPTION,), tables=tables)
    return section if tables else None
