"""All figures of every row, with one table for each topology."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from msgspec import Struct, structs

from report.analysis import texts
from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.figure_list import FIGURE_LIST
from report.analysis.figures import Figure
from report.analysis.host_cpus import cpus_sentence
from report.analysis.summary import Summary, layer_text_of
from report.base.format import ABSENT, Show, count, mebibytes, microseconds, percent, rate, share
from report.results.identity import Identity
from report.sections import section
from report.sections.decision_table import against_base, base_text, verdict_summary
from report.sections.figure_cells import (
    FEW_SAMPLES,
    LATE,
    MERGED,
    UNIDENTIFIED,
    limit_cell,
    spread_figure,
)
from report.sections.latency_at_full_load import GROUPS_TEXT
from report.sections.script_text import script_names
from report.statistics.comparison import Comparison


class _Figure(Struct, frozen=True):
    """A figure of the list, as the tables print it."""

    column: str
    name: str
    unit: str
    show: Show
    best_by: str = ""
    """The member of `Ranking.best` that marks the best row, `throughput` or a name of `COSTS`;
    empty for a figure in which no row is best."""
    holds_at_its_load: bool = False

    @property
    def read(self) -> Figure:
        return FIGURE_LIST[self.column].figure


class _Row(Struct, frozen=True):
    summary: Summary
    names: tuple[str, ...]
    best: Mapping[str, str] = {}
    """`Ranking.best` of its ranking."""
    versus: Comparison | None = None
    """The comparison with the base of its ranking."""


class _Column(Struct, frozen=True):
    heading: section.Column
    cell: Callable[[_Row], section.TableCell]


#: Marks the label of a row that decides some requests without store or service.
LOCAL_MARK = " *"
LOCAL_NOTE = (
    "* some requests are decided without the store or the service, "
    "so that its share of denials matters."
)


def _throughput(text: texts.LayerText) -> _Figure:
    return _Figure("requests_per_second", "Throughput", text.rate_unit, rate, "throughput")


def _latency(column: str, name: str, text: texts.LayerText, best_by: str = "") -> _Figure:
    return _Figure(column, name, text.latency_unit, text.latency, best_by, holds_at_its_load=True)


def _cpu(column: str, name: str, text: texts.LayerText, best_by: str) -> _Figure:
    return _Figure(column, name, text.cpu_unit, microseconds, best_by, holds_at_its_load=True)


def _figures(text: texts.LayerText) -> tuple[_Figure, ...]:
    """The figures behind the throughput, in the order of the columns."""
    return (
        _latency("latency_average_ms", "Mean", text),
        _latency("latency_p50_ms", "p50", text, "p50"),
        _latency("latency_p99_ms", "p99", text, "p99"),
        _latency("latency_p99_9_ms", "p99.9", text, "p99_9"),
        _cpu("cpu_us_per_request", text.cpu_title, text, "cpu"),
        _cpu("service_cpu_us_per_request", "Service CPU", text, "service_cpu"),
        _cpu("store_cpu_us_per_request", "Store CPU", text, "store_cpu"),
        _Figure("server_heap_bytes", "Heap", "MiB", mebibytes, "heap"),
        _Figure("limited_share", "Limited", "of answers", share),
        _Figure("rate_limit_hits", "Limited", text.requests, count),
        _Figure("errors_total", "Errors", text.requests, count),
    )


def _shown_figures(text: texts.LayerText, summaries: Sequence[Summary]) -> list[_Figure]:
    """The figures of the table.

    The CPU of services is left out where no row has it; without servers, so is any other figure
    that no row has."""
    return [
        figure
        for figure in _figures(text)
        if (text.has_servers and figure.best_by != "service_cpu")
        or any(row.figure_of(figure.read).value is not None for row in summaries)
    ]


def _figure_cell(figure: _Figure, row: _Row) -> section.TableCell:
    unit = "ms" if figure.unit == "µs" else figure.unit
    cell = spread_figure(row.summary, figure.read, figure.show, unit)
    is_best = row.best.get(figure.best_by) == row.summary.id
    return structs.replace(cell, best=is_best and cell.sort != "")


def _throughput_cell(figure: _Figure, row: _Row) -> section.TableCell:
    """The throughput without its range, which has a column of its own."""
    return structs.replace(_figure_cell(figure, row), range="")


def _figure_column(figure: _Figure, open_loop: bool) -> _Column:
    unit = texts.at_its_load(figure.unit, open_loop) if figure.holds_at_its_load else figure.unit
    return _Column(section.Column(figure.name, unit), partial(_figure_cell, figure))


def _outcome_cell(row: _Row) -> section.TableCell:
    summary = row.summary
    if not summary.counted_runs:
        return section.TableCell(ABSENT)
    if not summary.spoiled_runs:
        return section.TableCell("served")
    text = f"failed in {summary.spoiled_runs} of {summary.counted_runs}"
    return section.TableCell(text, kind="verdict invalid", sort=text)


def _verdict_cell(row: _Row) -> section.TableCell:
    if not row.summary.runs:
        return section.TableCell("none", kind="verdict none")
    text = verdict_summary(row.summary)
    return section.TableCell(text, kind=f"verdict {row.summary.verdict}")


def _counted_cell(row: _Row) -> section.TableCell:
    return section.number(row.summary.counted_text, row.summary.counted_runs)


def _ratio_cell(row: _Row) -> section.TableCell:
    ratio = row.versus.ratio if row.versus else None
    return structs.replace(section.number(against_base(row.versus), ratio), kind="number ratio")


def _range_cell(row: _Row) -> section.TableCell:
    spread = row.summary.spread
    if spread is None or spread.count < 2:
        return section.number(ABSENT, None)
    return section.number(f"{rate(spread.min)}–{rate(spread.max)}", spread.max - spread.min)


def _cv_cell(row: _Row) -> section.TableCell:
    cv = row.summary.spread.cv_percent if row.summary.spread else None
    return section.number(percent(cv), cv)


def _group_cell(row: _Row) -> section.TableCell:
    """The size of the group; empty for an open loop, whose latency holds for its rate whatever else
    was up."""
    summary = row.summary
    text = "" if summary.identity.open_loop else summary.group_size_text
    return section.number(text, summary.group_sizes[-1])


def _columns(
    text: texts.LayerText, figures: Sequence[_Figure], base: str, open_loop: bool
) -> list[_Column]:
    """The columns behind the names of a row. A row without figures keeps the first three."""
    throughput = _throughput(text)
    return [
        _Column(section.Column("Runs that count", kind="number more"), _counted_cell),
        _Column(section.Column("Verdict", "worst", ""), _verdict_cell),
        _Column(section.Column("Outcome", "of the load", ""), _outcome_cell),
        _Column(
            section.Column(throughput.name, throughput.unit, "number more"),
            partial(_throughput_cell, throughput),
        ),
        _Column(section.Column(f"To {base}", "ratio, 95 % interval", "number more"), _ratio_cell),
        _Column(section.Column("Range", throughput.unit), _range_cell),
        _Column(section.Column("CV", "of runs"), _cv_cell),
        _Column(section.Column("Group", "targets"), _group_cell),
        *(_figure_column(figure, open_loop) for figure in figures),
        _Column(
            section.Column("Limited by", "resource"),
            lambda row: limit_cell(row.summary),
        ),
    ]


#: How many columns behind the names a row without figures keeps.
_KEPT = 3


def _table_row(row: _Row, columns: Sequence[_Column]) -> section.TableRow:
    cells = (*section.named(*row.names), *(column.cell(row) for column in columns))
    summary = row.summary
    return section.TableRow(
        summary.id, cells, summary.no_figures_reason, len(row.names) + _KEPT, summary.id
    )


def _names(
    summary: Summary, fields: Sequence[texts.LoadField], named_properties: texts.NamedProperties
) -> tuple[str, ...]:
    """The texts that name a row: client, store, script, and what decides, algorithm and parts of
    the load where they differ between rows."""
    identity = summary.identity
    return (
        f"{identity.short_label}{LOCAL_MARK if identity.decides_locally else ''}",
        texts.decider_of(identity) if named_properties.decider else "",
        texts.algorithm_of(identity) if named_properties.algorithm else "",
        identity.store_text,
        script_names(summary),
        *(_load_cell(identity, field) for field in fields),
    )


def _load_name(name: str, summaries: Sequence[Summary]) -> str:
    if name != "Load" or any(summary.identity.open_loop for summary in summaries):
        return name
    return "At a time" if summaries[0].identity.layer == "limiter" else "Connections"


def _load_cell(identity: Identity, field: texts.LoadField) -> str:
    """The value of a field of the load. Under a heading a number needs no word."""
    if field.dimension:
        return f"{identity.counts[field.dimension.key]}"
    closed = field.name == "Load" and not identity.open_loop
    return f"{identity.connections:,}" if closed else field.read(identity)


_MARKS = " ".join(f"{' '.join(mark)}." for mark in (FEW_SAMPLES, MERGED, UNIDENTIFIED, LATE))
_TITLES = {"standalone": "Standalone", "cluster": "Cluster", None: "Other addresses"}


def _common_text(summaries: Sequence[Summary], text: texts.LayerText, layer_named: bool) -> str:
    """The sentences of a caption that hold for all rows."""
    shared = texts.shared_load_text(summaries, layer_named)
    several_servers = any(summary.identity.servers > 1 for summary in summaries)
    decides_locally = any(summary.identity.decides_locally for summary in summaries)
    sentences = (
        f"All rows: {shared}." if shared else "",
        cpus_sentence(summaries),
        f"{text.cpu_title} is that of all servers together." if several_servers else "",
        LOCAL_NOTE if decides_locally else "",
    )
    return " ".join(filter(None, sentences))


def _ranked_caption(base: str, has_copies: bool) -> str:
    caption = (
        "Each figure is the median over the runs, beside it the range of the runs that served their load. "
        "Rows are in the order of their medians, below them those that failed their load more often, "
        "which ranks nothing. A figure is bold where it was shown to be better than that of every other "
        "row with the same load, store, kind of decider, algorithm and kind of script. Ratios are to "
        f"{base} among these rows."
    )
    copies = " +copy: the reference once more; its ratio to it is the host's alone."
    return f"{caption}{copies}" if has_copies else caption


def _controls_caption(text: texts.LayerText) -> str:
    return (
        f"none: the {text.consumer} without a limiter. memory: counters in the {text.consumer}'s own "
        "process. They show what the harness itself can do, and are not ranked with the clients."
    )


class _Tables(Struct, frozen=True):
    """What the tables of one part of the campaign share."""

    part_id: str
    part: str
    headers: tuple[section.Column, ...]
    text: texts.LayerText
    figures: tuple[_Figure, ...]
    base: str
    common: str

    def table(
        self, table_id: str, title: str, open_loop: bool, caption: str, rows: Sequence[_Row]
    ) -> section.Table:
        loop = ", latency at a rate" if open_loop else ""
        titled = ": ".join(filter(None, (self.part, f"{title}{loop}")))
        columns = _columns(self.text, self.figures, self.base, open_loop)
        sentences = (caption, "" if open_loop else GROUPS_TEXT, self.common, _MARKS)
        return section.table_of(
            self.part_id + table_id,
            (*self.headers, *(column.heading for column in columns)),
            [_table_row(row, columns) for row in rows],
            titled,
            caption=" ".join(filter(None, sentences)),
        )


def result_tables(
    cells: Sequence[Cell],
    controls: Sequence[Summary],
    part_id: str = "",
    part: str = "",
    layer_named: bool = False,
) -> tuple[section.Table, ...]:
    """The tables of rows of one layer: one for each topology and kind of loop, then the
    controls."""
    summaries = [*(row for cell in cells for row in cell.rows), *controls]
    if not summaries:
        return ()
    fields = texts.varying_fields(summaries)
    text = layer_text_of(summaries)
    named_properties = cells[0].named if cells else texts.named_properties(summaries)
    base = base_text(ranking for cell in cells for ranking in cell.rankings)
    loads = [_load_name(field.name, summaries) for field in fields]
    tables = _Tables(
        part_id,
        part,
        section.words("Client", "Decided by", "Algorithm", "Store", "Script", *loads),
        text,
        tuple(_shown_figures(text, summaries)),
        base,
        _common_text(summaries, text, layer_named),
    )

    by_title: dict[tuple[str, bool], list[_Row]] = {}
    for cell in cells:
        topology = cell.identity.topology
        open_loop = cell.identity.open_loop
        rows = by_title.setdefault((_TITLES.get(topology, topology or ""), open_loop), [])
        rows += _rows(cell, fields, named_properties)
    caption = _ranked_caption(base, any(cell.copies for cell in cells))
    ranked = [
        tables.table(f"table{number}", *title, caption, rows)
        for number, (title, rows) in enumerate(by_title.items(), start=1)
    ]

    of_controls = [
        tables.table(
            f"table-controls{'-at-rate' if open_loop else ''}",
            "Controls",
            open_loop,
            _controls_caption(text),
            [_Row(row, _names(row, fields, named_properties)) for row in of_loop],
        )
        for open_loop, of_loop in texts.by_loop(controls)
    ]
    return (*ranked, *of_controls)


def _rows(
    cell: Cell, fields: Sequence[texts.LoadField], named_properties: texts.NamedProperties
) -> Iterator[_Row]:
    for ranking in cell.rankings:
        for row in cell.with_copies(ranking.summaries):
            yield _Row(
                row,
                _names(row, fields, named_properties),
                {} if row.identity.copy else ranking.best,
                None if ranking.open_loop else ranking.ratio_of(row),
            )


def all_figures(analysis: Analysis) -> section.Section | None:
    tables = [
        table
        for part in analysis.runtimes
        for table in result_tables(part.cells, part.controls, part.id, part.name, bool(part.layer))
    ]
    if not tables or analysis.only_memory:
        return None
    ids = tuple(row.ids for table in tables for row in table.rows)
    title = "All figures"
    counted = "configurations"
    return section.Section("tables", title, counted=ids, counted_as=counted, tables=tuple(tables))
