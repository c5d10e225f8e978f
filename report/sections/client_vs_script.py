"""What the script costs: a client under its own script beside the same client under the one for
all."""

from collections.abc import Iterable, Mapping, Sequence

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.figures import Figure, consumer_cpu, store_cpu, throughput
from report.analysis.rankings import by_throughput, compare_pairs
from report.analysis.summary import Summary
from report.analysis.texts import LayerText, at_its_load, interval_of
from report.base.format import ABSENT, Show, microseconds, plural, rate
from report.results.model import script_sha1
from report.sections.figure_cells import SUSPECT, spread_figure
from report.sections.headings import cell_title
from report.sections.script_text import script_names
from report.sections.section import Column, Section, Table, TableCell, TableGroup, TableRow, words
from report.statistics.decision import Comparison
from report.statistics.power import MIN_RUNS_FOR_A_CLAIM

#: What is compared, and how it is printed.
_COMPARED: Mapping[Figure, Show] = {
    throughput: rate,
    consumer_cpu: microseconds,
    store_cpu: microseconds,
}

#: A client under its own script, and under the one for all.
_Rows = tuple[Summary | None, Summary | None]

#: By the id of the row under the one script.
_Ratios = Mapping[str, Comparison]

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


def _tag(own: Summary | None, same: Summary | None) -> str:
    if own is None or same is None or not (own.has_figures and same.has_figures):
        return ""
    fewest = min(own.counted_runs, same.counted_runs)
    few = f"only {plural(fewest, 'run')}" if fewest < MIN_RUNS_FOR_A_CLAIM else ""
    ran = {script_sha1(script) for summary in (own, same) for script in summary.scripts}
    equal = own.scripts and same.scripts and len(ran) == 1 and None not in ran
    return ", ".join(filter(None, (few, "own is the same script" if equal else "")))


def _ratio(comparison: Comparison | None, read: Figure, open_loop: bool) -> str:
    if comparison is None:
        return ABSENT
    # In an open loop throughput is what was offered, in a closed one CPU per request follows from
    # it.
    follows = read is throughput if open_loop else read is consumer_cpu
    tested = comparison.p_holm is not None and not follows
    text = interval_of(comparison)
    return ", ".join([text, *([comparison.conclusion] if tested else [])]) if text else ABSENT


def _row(
    name: str, own: Summary | None, same: Summary | None, compared: Sequence[_Ratios]
) -> TableRow:
    id_, open_loop = (same.id, same.identity.open_loop) if same else ("", False)
    ratios = [
        _ratio(each.get(id_), read, open_loop)
        for each, read in zip(compared, _COMPARED, strict=True)
    ]
    cells = (
        TableCell(name, tag=_tag(own, same)),
        *_side(own),
        *_side(same),
        *(TableCell(text, kind="number") for text in ratios),
    )
    return TableRow(" ".join(summary.id for summary in (own, same) if summary), cells)


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
    """In the order of `_COMPARED`: one family each."""
    both = [(own, same) for own, same in pairs if own and same]
    return [
        {each.new.id: each.comparison for each in compare_pairs(both, figure)}
        for figure in _COMPARED
    ]


def _ordered(pairs: Mapping[str, _Rows]) -> list[str]:
    rows = [by_throughput(row for row in side if row) for side in zip(*pairs.values(), strict=True)]
    place = {row.id: number for number, row in enumerate([*rows[1], *rows[0]])}
    return sorted(pairs, key=lambda name: min(place[row.id] for row in pairs[name] if row))


def client_vs_script_tables(cell: Cell, title: str = "") -> tuple[Table, ...]:
    """One a store on which some client has rows with and without `same-script`.

    Clients with one of the two stand there too, without ratios."""
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
        pairs: dict[str, _Rows] = {name: (own, same) for name, (own, same) in variants.items()}
        if not any(own and same for own, same in pairs.values()):
            continue
        compared = _comparisons(pairs.values())
        found = tuple(_row(name, *pairs[name], compared) for name in _ordered(pairs))
        heading = ", ".join(filter(None, (title, f"on {store}")))
        table_id = f"{cell.id}-apart{len(tables) + 1}"
        columns = _columns(cell.text, cell.identity.open_loop)
        tables.append(Table(table_id, heading, columns, (TableGroup(found),)))
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
