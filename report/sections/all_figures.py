"""All figures of every row, one table a topology."""

from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from report.analysis import texts
from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.figures import (
    Figure,
    consumer_cpu,
    errors,
    heap,
    limit_hits,
    limited_share,
    mean_latency,
    percentile,
    service_cpu,
    store_cpu,
    throughput,
)
from report.analysis.host_cpus import cpus_sentence
from report.analysis.summary import Summary, layer_text_of
from report.base.format import ABSENT, Show, count, mebibytes, microseconds, percent, rate, share
from report.results.model import Identity
from report.sections import section, verdict_text
from report.sections.first_screen import against_base, base_text
from report.sections.latency_at_full_load import GROUPS_TEXT
from report.sections.verdict_text import FEW_SAMPLES, LATE, MERGED, UNIDENTIFIED
from report.statistics.decision import Comparison


class _Column(Struct, frozen=True):
    name: str
    unit: str
    read: Figure
    show: Show
    figure: str = ""
    """By which one row can be better than the others: `throughput`, or a name of `COSTS`; empty: by none."""
    holds_at_its_load: bool = False

    def heading(self, open_loop: bool) -> section.Column:
        unit = texts.at_its_load(self.unit, open_loop) if self.holds_at_its_load else self.unit
        return section.Column(self.name, unit)

    def cell(self, summary: Summary, best: bool) -> section.TableCell:
        unit = "ms" if self.unit == "µs" else self.unit
        found = verdict_text.spread_figure(summary, self.read, self.show, unit)
        ranged = self.figure != _THROUGHPUT
        return structs.replace(found, best=best and found.sort != "", range=found.range if ranged else "")


_THROUGHPUT = "throughput"

#: Stands after the label of a row that decides some requests without store or service.
LOCAL_MARK = " *"
LOCAL_NOTE = (
    "* some requests are decided without the store or the service, so that its share of denials matters."
)


def _columns(text: texts.LayerText, summaries: Sequence[Summary]) -> tuple[_Column, ...]:
    """The figures of a table, without those of services or, without servers, any figures that no row has."""
    latency = [
        _Column(name.replace("_", "."), text.latency_unit, percentile(name), text.latency, name, True)
        for name in ("p50", "p99", "p99_9")
    ]
    mean = _Column("Mean", text.latency_unit, mean_latency, text.latency, holds_at_its_load=True)
    columns = (
        _Column("Throughput", text.rate_unit, throughput, rate, _THROUGHPUT),
        mean,
        *latency,
        _Column(text.cpu_title, text.cpu_unit, consumer_cpu, microseconds, "cpu", True),
        _Column("Service CPU", text.cpu_unit, service_cpu, microseconds, "service_cpu", True),
        _Column("Store CPU", text.cpu_unit, store_cpu, microseconds, "store_cpu", True),
        _Column("Heap", "MiB", heap, mebibytes, "heap"),
        _Column("Limited", "of answers", limited_share, share),
        _Column("Limited", text.requests, limit_hits, count),
        _Column("Errors", text.requests, errors, count),
    )
    always = [column for column in columns if column.figure == _THROUGHPUT]
    if text.has_servers:
        always = [column for column in columns if column.figure != "service_cpu"]
    return tuple(
        column
        for column in columns
        if column in always or any(row.figure_of(column.read).value is not None for row in summaries)
    )


def _outcome_cell(summary: Summary) -> section.TableCell:
    if not summary.counted_runs:
        return section.TableCell(ABSENT)
    if not summary.spoiled_runs:
        return section.TableCell("served")
    text = f"failed in {summary.spoiled_runs} of {summary.counted_runs}"
    return section.TableCell(text, kind="verdict invalid", sort=text)


def _row(
    summary: Summary,
    names: Sequence[str],
    best: Mapping[str, str],
    columns: Sequence[_Column],
    versus: Comparison | None = None,
) -> section.TableRow:
    spread, verdict = summary.spread, summary.verdict or "none"
    throughput, *others = (column.cell(summary, best.get(column.figure) == summary.id) for column in columns)
    several = spread if spread and spread.count > 1 else None
    cv = spread.cv_percent if spread else None
    ratio = section.number(against_base(versus), versus.ratio if versus else None)
    # In an open loop the latency holds for its rate, whatever else was up.
    group_size = "" if summary.identity.open_loop else summary.group_size_text
    cells = (
        *section.named(*names),
        section.number(summary.counted_text, summary.counted_runs),
        section.TableCell(verdict, kind=f"verdict {verdict}"),
        _outcome_cell(summary),
        throughput,
        structs.replace(ratio, kind="number ratio"),
        section.number(f"{rate(several.min)}–{rate(several.max)}", several.max - several.min)
        if several
        else section.number(ABSENT, None),
        section.number(percent(cv), cv),
        section.number(group_size, summary.group_sizes[-1]),
        *others,
        verdict_text.limit_cell(summary),
    )
    kept, colour = len(names) + 3, summary.id
    return section.TableRow(summary.id, cells, summary.no_figures_reason, kept, colour)


def _headings(columns: Sequence[_Column], base: str, open_loop: bool) -> tuple[section.Column, ...]:
    first, *others = columns
    return (
        section.Column("Runs that count", kind="number more"),
        section.Column("Verdict", "worst", ""),
        section.Column("Outcome", "of the load", ""),
        section.Column(first.name, first.unit, "number more"),
        section.Column(f"To {base}", "ratio, 95 % interval", "number more"),
        section.Column("Range", first.unit),
        section.Column("CV", "of runs"),
        section.Column("Group", "targets"),
        *(column.heading(open_loop) for column in others),
        section.Column("Limited by", "resource"),
    )


def _names(summary: Summary, fields: Sequence[texts.LoadField], facts: texts.NamedFacts) -> list[str]:
    """The cells that name a row: client, what decides and algorithm where they differ, store, script, and the
    part of its load that differs from others."""
    identity = summary.identity
    return [
        f"{identity.short_label}{LOCAL_MARK if identity.decides_locally else ''}",
        texts.decider_of(identity) if facts.decider else "",
        texts.algorithm_of(identity) if facts.algorithm else "",
        identity.store_text,
        verdict_text.script_names(summary),
        *(_load_cell(identity, field) for field in fields),
    ]


def _load_name(name: str, summaries: Sequence[Summary]) -> str:
    if name != "Load" or any(summary.identity.open_loop for summary in summaries):
        return name
    return "At a time" if summaries[0].identity.layer == "limiter" else "Connections"


def _load_cell(identity: Identity, field: texts.LoadField) -> str:
    """A number alone reads better in a column than with its word."""
    if field.dimension:
        return f"{identity.counts[field.dimension.key]}"
    closed = field.name == "Load" and not identity.open_loop
    return f"{identity.connections:,}" if closed else field.read(identity)


_MARKS = " ".join(f"{' '.join(each)}." for each in (FEW_SAMPLES, MERGED, UNIDENTIFIED, LATE))
_TITLES = {"standalone": "Standalone", "cluster": "Cluster", None: "Other addresses"}


def result_tables(
    cells: Sequence[Cell],
    controls: Sequence[Summary],
    part_id: str = "",
    part: str = "",
    layer_named: bool = False,
) -> tuple[section.Table, ...]:
    """Of rows of one layer: one table a topology, closed and open loops apart, then the controls."""
    rankings = [ranking for cell in cells for ranking in cell.rankings]
    summaries = [*(row for cell in cells for row in cell.rows), *controls]
    if not summaries:
        return ()
    fields, text = texts.varying_fields(summaries), layer_text_of(summaries)
    facts = cells[0].named if cells else texts.named_facts(summaries)
    columns = _columns(text, summaries)
    shared = texts.shared_load_text(summaries, layer_named)
    common = f" All rows: {shared}." if shared else ""
    if cpus := cpus_sentence(summaries):
        common += f" {cpus}"
    if any(summary.identity.servers > 1 for summary in summaries):
        common += f" {text.cpu_title} is that of all servers together."
    if any(summary.identity.decides_locally for summary in summaries):
        common += f" {LOCAL_NOTE}"
    base = base_text(rankings)
    loads = [_load_name(field.name, summaries) for field in fields]
    headers = section.words("Client", "Decided by", "Algorithm", "Store", "Script", *loads)

    def table(
        table_id: str, title: str, open_loop: bool, caption: str, rows: Sequence[section.TableRow]
    ) -> section.Table:
        titled = ": ".join(filter(None, (part, f"{title}{', latency at a rate' if open_loop else ''}")))
        shown = (*headers, *_headings(columns, base, open_loop))
        whole = f"{caption}{'' if open_loop else f' {GROUPS_TEXT}'}{common} {_MARKS}"
        return section.table_of(part_id + table_id, shown, rows, titled, caption=whole)

    by_title: dict[tuple[str, bool], list[section.TableRow]] = {}
    for cell in cells:
        topology, open_loop = cell.identity.topology, cell.identity.open_loop
        rows = by_title.setdefault((_TITLES.get(topology, topology or ""), open_loop), [])
        for ranking in cell.rankings:
            for row in cell.with_copies(ranking.summaries):
                versus = None if ranking.open_loop else ranking.ratio_of(row)
                best = {} if row.identity.copy else ranking.best
                rows.append(_row(row, _names(row, fields, facts), best, columns, versus))
    caption = (
        "Each figure is the median over the runs, beside it the range of the runs that served their load. "
        "Rows are in the order of their medians, below them those that failed their load more often, "
        "which ranks nothing. A figure is bold where it was shown to be better than that of every other "
        "row with the same load, store, kind of decider, algorithm and kind of script. Ratios are to "
        f"{base} among these rows."
    )
    if any(cell.copies for cell in cells):
        caption += " +copy: the reference once more; its ratio to it is the host's alone."
    tables = [
        table(f"table{number}", *title, caption, rows)
        for number, (title, rows) in enumerate(by_title.items(), start=1)
    ]
    controls_caption = (
        f"none: the {text.consumer} without a limiter. memory: counters in the {text.consumer}'s own "
        "process. They show what the harness itself can do, and are not ranked with the clients."
    )
    for open_loop, of_loop in texts.by_loop(controls):
        rows = [_row(row, _names(row, fields, facts), {}, columns) for row in of_loop]
        table_id = f"table-controls{'-at-rate' if open_loop else ''}"
        tables.append(table(table_id, "Controls", open_loop, controls_caption, rows))
    return tuple(tables)


def all_figures(analysis: Analysis) -> section.Section | None:
    tables = [
        table
        for part in analysis.runtimes
        for table in result_tables(part.cells, part.controls, part.id, part.name, bool(part.layer))
    ]
    if not tables or analysis.only_memory:
        return None
    ids = tuple(row.ids for table in tables for row in table.rows)
    title, counted = "All figures", "configurations"
    return section.Section("tables", title, counted=ids, counted_as=counted, tables=tuple(tables))
