"""Shows what a script costs: each client under its own script, and under the one script for all."""

from collections.abc import Iterable, Mapping, Sequence

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.figures import Figure, consumer_cpu, store_cpu, throughput
from report.analysis.ranked_pairs import compare_pairs
from report.analysis.rankings import by_throughput
from report.analysis.summary import Summary
from report.analysis.texts import LayerText, at_its_load, interval_of
from report.base.format import ABSENT, Show, microseconds, plural, rate
from report.results.limiter_scripts import script_sha1
from report.sections.figure_cells import SUSPECT, spread_figure
from report.sections.headings import cell_title
from report.sections.script_text import script_names
from report.sections.section import Column, Section, Table, TableCell, TableGroup, TableRow, words
from report.statistics.comparison import Comparison
from report.statistics.power import MIN_RUNS_FOR_A_CLAIM

#: The compared figures and their forms.
_COMPARED: Mapping[Figure, Show] = {
    throughput: rate,
    consumer_cpu: microseconds,
    store_cpu: microseconds,
}

_Rows = tuple[Summary | None, Summary | None]
"""A client under its own script, and under the one script for all."""

_Ratios = Mapping[str, Comparison]
"""The comparisons by the id of the row under the one script."""

CAPTION = (
    "Each row is one client. First it runs its own script, then all clients run the same one: read down the "
    "latter to compare clients, and across a row to see what the script costs. The last columns give same "
    f"script ÷ own script with a 95 % interval; below {MIN_RUNS_FOR_A_CLAIM} runs of each that count nothing "
    f"is tested. Where a client’s own script is the same one, they show noise. {' '.join(SUSPECT)}."
)


def _side(summary: Summary | None) -> list[TableCell]:
    if summary is None:
        return [TableCell(ABSENT), *(TableCell(ABSENT, kind="number") for _ in _COMPARED)]
    figures = (spread_figure(summary, figure, show) for figure, show in _COMPARED.items())
    return [TableCell(script_names(summary)), *figures]


def _tag(own_side: Summary | None, same_side: Summary | None) -> str:
    if (
        own_side is None
        or same_side is None
        or not (own_side.has_figures and same_side.has_figures)
    ):
        return ""
    fewest = min(own_side.counted_runs, same_side.counted_runs)
    few_runs = f"only {plural(fewest, 'run')}" if fewest < MIN_RUNS_FOR_A_CLAIM else ""
    ran = {script_sha1(script) for summary in (own_side, same_side) for script in summary.scripts}
    equal = own_side.scripts and same_side.scripts and len(ran) == 1 and None not in ran
    return ", ".join(filter(None, (few_runs, "own is the same script" if equal else "")))


def _ratio(comparison: Comparison | None, read: Figure, open_loop: bool) -> str:
    if comparison is None:
        return ABSENT
    # In an open loop throughput is what was offered. In a closed loop CPU per request follows from
    # the throughput.
    follows = read is throughput if open_loop else read is consumer_cpu
    tested = comparison.p_holm is not None and not follows
    text = interval_of(comparison)
    return ", ".join([text, *([comparison.statement] if tested else [])]) if text else ABSENT


def _row(
    name: str, own_side: Summary | None, same_side: Summary | None, compared: Sequence[_Ratios]
) -> TableRow:
    id_, open_loop = (same_side.id, same_side.identity.open_loop) if same_side else ("", False)
    ratios = [
        _ratio(ratios_of_figure.get(id_), read, open_loop)
        for ratios_of_figure, read in zip(compared, _COMPARED, strict=True)
    ]
    cells = (
        TableCell(name, tag=_tag(own_side, same_side)),
        *_side(own_side),
        *_side(same_side),
        *(TableCell(text, kind="number") for text in ratios),
    )
    return TableRow(" ".join(summary.id for summary in (own_side, same_side) if summary), cells)


def _columns(text: LayerText, open_loop: bool) -> tuple[Column, ...]:
    cpu_unit = at_its_load(text.cpu_unit, open_loop)
    figures = (("throughput", text.rate_unit), (text.cpu, cpu_unit), ("store CPU", cpu_unit))
    sides = [
        (
            Column(f"{side} script", kind=""),
            *(Column(f"{side}: {name}", unit) for name, unit in figures),
        )
        for side in ("Own", "Same")
    ]
    of_cpu = at_its_load("same ÷ own", open_loop)
    units = ("same ÷ own", of_cpu, of_cpu)
    ratios = (
        Column(f"Ratio: {name}", unit) for (name, _), unit in zip(figures, units, strict=True)
    )
    return (*words("Client"), *sides[0], *sides[1], *ratios)


def _comparisons(pairs: Iterable[_Rows]) -> list[_Ratios]:
    """The comparisons of each figure, in the order of `_COMPARED`. Each figure is a family."""
    complete_pairs = [
        (own_side, same_side) for own_side, same_side in pairs if own_side and same_side
    ]
    return [
        {pair.new.id: pair.comparison for pair in compare_pairs(complete_pairs, figure)}
        for figure in _COMPARED
    ]


def _ordered(pairs: Mapping[str, _Rows]) -> list[str]:
    rows = [by_throughput(row for row in side if row) for side in zip(*pairs.values(), strict=True)]
    place = {row.id: number for number, row in enumerate([*rows[1], *rows[0]])}
    return sorted(pairs, key=lambda name: min(place[row.id] for row in pairs[name] if row))


def client_vs_script_tables(cell: Cell, title: str = "") -> tuple[Table, ...]:
    """One table for each store on which some client has rows with and without `same-script`.

    A client with only one of the two has a row without ratios."""
    stores: dict[str, dict[str, list[Summary | None]]] = {}
    for summary in cell.summaries:
        identity = summary.identity
        if identity.store is not None:
            rows = stores.setdefault(identity.store_text, {}).setdefault(
                identity.variant, [None, None]
            )
            rows[identity.same_script] = summary
    tables: list[Table] = []
    for store, variants in stores.items():
        pairs: dict[str, _Rows] = {
            name: (own_side, same_side) for name, (own_side, same_side) in variants.items()
        }
        if not any(own_side and same_side for own_side, same_side in pairs.values()):
            continue
        compared = _comparisons(pairs.values())
        table_rows = tuple(_row(name, *pairs[name], compared) for name in _ordered(pairs))
        heading = ", ".join(filter(None, (title, f"on {store}")))
        table_id = f"{cell.id}-apart{len(tables) + 1}"
        columns = _columns(cell.text, cell.identity.open_loop)
        tables.append(Table(table_id, heading, columns, (TableGroup(table_rows),)))
    return tuple(tables)


def client_vs_script_section(analysis: Analysis) -> Section | None:
    several = len(analysis.cells) > 1
    tables = tuple(
        table
        for cell in analysis.cells
        for table in client_vs_script_tables(cell, cell_title(cell) if several else "")
    )
    section = Section("apart", "Client and script told apart", text=(CAPTION,), tables=tables)
    return section if tables else None
