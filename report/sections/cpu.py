"""Shows where CPU time goes: in a decision, in a limiter or framework compared with `none`, and in
each role."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations

from report.analysis import texts
from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.figures import (
    PARTS,
    Figure,
    consumer_cpu,
    decisions,
    foreign_cpu,
    node_cpu,
    node_kind,
    sum_of_kind,
    throughput,
    total_of,
)
from report.analysis.host_cpus import cpus_sentence
from report.analysis.ranked_pairs import compare_pairs
from report.analysis.summary import Summary
from report.base.format import count, microseconds, percent, ratio
from report.results.catalog import MEASURED_KINDS
from report.results.identity import Identity
from report.results.model import Measured
from report.sections import section
from report.sections.figure_cells import limit_cell, spread_figure
from report.statistics.comparison import Comparison

LIMITED_BY_CLIENT = "limited by client"

#: When one of these resources limits a run, the service could have decided more.
CLIENT_LIMITS = ("server loop", "server CPU", "client", "generator")

#: A client of a service gets a sentence from this ratio of CPU time on.
_NAMED_RATIO = 2.0


def part_kinds(identity: Identity) -> tuple[str, ...]:
    has_store = identity.store not in (None, "none", "memory")
    has = {
        node_kind(identity.layer): True,
        "service": identity.service is not None,
        "store": has_store,
    }
    return tuple(kind for kind in MEASURED_KINDS if has.get(kind))


def _cell(summary: Summary, read: Figure, has_part: bool = True) -> section.TableCell:
    """A figure of one part: a dash where it was not measured, and nothing where the row has no such
    part."""
    return (
        spread_figure(summary, read, microseconds, "µs") if has_part else section.number("", None)
    )


def _limited_cell(summary: Summary) -> section.TableCell:
    """What limited the row. Nothing is claimed about a service that was not used up."""
    identity = summary.identity
    limit = summary.limit
    served = identity.service is not None or identity.decided_by == "service"
    if served and limit and limit.resource in CLIENT_LIMITS:
        return section.TableCell(LIMITED_BY_CLIENT, hint="nothing is claimed about the service")
    return limit_cell(summary)


def _dearer_clients(cells: Sequence[Cell]) -> list[str]:
    """Sentences about clients of services, in the order of the cells.

    Such a client was shown to cost the Node process at least twice as much per decision as the
    cheapest library on the same store under the same work."""
    sentences = []
    for cell in cells:
        rows = [
            row for ranking in cell.rankings for row in ranking.summaries if row.sample(node_cpu)
        ]
        for store in dict.fromkeys(row.identity.store_text for row in rows):
            rows_on_store = [
                row for row in rows if row.identity.store_text == store and row.has_figures
            ]
            libraries = [row for row in rows_on_store if row.identity.decided_by == "library"]
            services = [row for row in rows_on_store if row.identity.decided_by == "service"]
            if not libraries or not services:
                continue
            cheapest = min(libraries, key=lambda row: row.figure_of(node_cpu).value or 0)
            for pair in compare_pairs(list(combinations([cheapest, *services], 2)), node_cpu):
                ratio = pair.comparison.ratio
                if (
                    pair.base is cheapest
                    and pair.better is cheapest
                    and ratio
                    and ratio >= _NAMED_RATIO
                ):
                    sentences.append(
                        f"{texts.name(pair.new)} costs Node {texts.interval_of(pair.comparison)} the CPU "
                        f"time of {texts.name(cheapest)} "
                        f"{texts.at_its_load('per decision', cell.identity.open_loop)} on {store}."
                    )
    return list(dict.fromkeys(sentences))


def _caption(rows: Sequence[Summary], service: bool, open_loop: bool) -> str:
    served = any(row.identity.servers for row in rows)
    alone = any(not row.identity.servers for row in rows)
    node = [
        *(["the server, with HTTP and its endpoint"] if served else []),
        *(["the load generator, which is the client"] if alone else []),
    ]
    between = ", at the limiter layer " if len(node) > 1 else ""
    limited = (
        f" “{LIMITED_BY_CLIENT.capitalize()}”: the client’s side was used up first, and nothing is claimed "
        "about the service."
    )
    return (
        f"{texts.at_its_load('CPU time per decision', open_loop)}: the median over the runs, beside it their "
        "range. A decision is an "
        "answer, allowed or limited, to a consume of one descriptor, counted by the process that calls the "
        "limiter; a request may take several. The CPU time is what the counters of the roles grew by in "
        "lead-in and window, between the same readings as the count: in each run, each part × "
        "decisions is that difference, and the sum is that of the parts. "
        f"Node is {between.join(node)}.{limited if service else ''}"
    )


def decision_cpu_tables(analysis: Analysis) -> tuple[section.Table, ...]:
    """One table for closed and one for open loops, because the CPU time of a decision depends on
    the load."""
    deciding = [row for row in analysis.ordered if row.identity.decided_by != "nothing"]
    rows = [row for row in deciding if row.figure_of(decisions).value]
    return tuple(
        _decision_cpu_table(analysis, part, open_loop) for open_loop, part in texts.by_loop(rows)
    )


def _decision_cpu_table(
    analysis: Analysis, rows: Sequence[Summary], open_loop: bool
) -> section.Table:
    fields = texts.varying_fields(rows)
    named_properties = texts.named_properties(rows)

    def cells(row: Summary) -> tuple[section.TableCell, ...]:
        identity = row.identity
        kinds = part_kinds(row.identity)
        decider = texts.decider_of(identity) if named_properties.decider else ""
        algorithm = texts.algorithm_of(identity) if named_properties.algorithm else ""
        parts = (node_kind(identity.layer), "service", "store")
        return (
            *section.named(identity.label, decider, algorithm, texts.load_text(identity, fields)),
            *(_cell(row, PARTS[part], part in kinds) for part in parts),
            _cell(row, total_of(kinds)),
            spread_figure(row, decisions, count, "decisions"),
            _limited_cell(row),
        )

    unit = texts.at_its_load("µs", open_loop)
    columns = (
        *section.words("Configuration", "Decided by", "Algorithm", "Load"),
        *section.numbers([(part, unit) for part in ("Node", "Service", "Store", "Sum")]),
        section.Column("Decisions", "counted", "number more"),
        section.Column("Limited by", "resource", ""),
    )
    service = any("service" in part_kinds(row.identity) for row in rows)
    table_rows = [section.TableRow(row.id, cells(row), colour=row.id) for row in rows]
    title = f"Where a decision’s CPU goes{', at a rate' if open_loop else ''}"
    cells_of_loop = [cell for cell in analysis.cells if cell.identity.open_loop is open_loop]
    caption_parts = [
        *_dearer_clients(cells_of_loop),
        _caption(rows, service, open_loop),
        cpus_sentence(rows),
    ]
    table_id = f"decision-cpu-rows{'-at-rate' if open_loop else ''}"
    return section.table_of(
        table_id, columns, table_rows, title, caption=" ".join(caption_parts).strip()
    )


TEXT = (
    "Each row against the route without a limiter that was measured beside it: the ratio of what a request "
    "takes of the server’s CPU, with its interval, and of the requests/s. Each column is a family, "
    "without the copies of references."
)


Pairs = list[tuple[Summary, Summary]]


def _pairs(cell: Cell) -> tuple[Pairs, Pairs]:
    """Pairs each row that decides with the route without a limiter on the same framework and Node,
    and each of these routes with the one on the default framework.

    A framework or Node of None is the default one."""

    def route(row: Summary) -> tuple[str | None, str | None]:
        return row.identity.framework, row.identity.node

    rows = [row for row in (*cell.rows, *cell.controls) if row.selected]
    nothing = [row for row in rows if row.identity.decided_by == "nothing" and row.identity.ceiling]
    deciding = [row for row in rows if row.identity.decided_by != "nothing"]
    routes = {route(row): row for row in nothing}
    limiters = [(routes[route(row)], row) for row in deciding if route(row) in routes]
    framework_pairs = [
        (routes.get((None, row.identity.node)), row) for row in nothing if row.identity.framework
    ]
    return limiters, [(base, row) for base, row in framework_pairs if base]


def _compared(pairs: Pairs, figure: Figure) -> dict[str, Comparison]:
    """The comparisons by the id of their row. Copies are a family of their own (rule M31)."""
    families = [
        [pair for pair in pairs if pair[1].identity.copy is copied] for copied in (False, True)
    ]
    return {
        pair.new.id: pair.comparison
        for family in families
        for pair in compare_pairs(family, figure)
    }


def _by_loop(pairs: Pairs) -> list[tuple[bool, Pairs]]:
    """The pairs of closed loops, then the pairs of open loops with True. Both rows of a pair have
    the same load."""
    return [
        (open_loop, [pair for pair in pairs if pair[1].identity.open_loop is open_loop])
        for open_loop, _ in texts.by_loop(new for _, new in pairs)
    ]


def _tables(table_id: str, title: str, pairs: Pairs) -> Iterator[section.Table]:
    """One table for closed and one for open loops. The pairs of both are one family."""
    compared = [_compared(pairs, figure) for figure in (consumer_cpu, throughput)]
    for open_loop, pairs_of_loop in _by_loop(pairs):
        yield _table(table_id, title, pairs_of_loop, compared, open_loop)


def _table(
    table_id: str,
    title: str,
    pairs: Pairs,
    compared: Sequence[Mapping[str, Comparison]],
    open_loop: bool,
) -> section.Table:
    fields = texts.varying_fields([new for _, new in pairs])
    by_cpu, by_rate = compared
    rows = []
    for base, new in pairs:
        cells = [
            *section.named(texts.name(new), texts.load_text(new.identity, fields), texts.name(base))
        ]
        for comparison in (
            by_cpu.get(new.id),
            None if new.identity.open_loop else by_rate.get(new.id),
        ):
            cells += (
                (section.number(texts.interval_of(comparison), comparison.ratio),)
                if comparison
                else section.named("")
            )
            cells += section.named(comparison.statement if comparison else "")
        rows.append(section.TableRow(new.id, tuple(cells), colour=new.id))
    columns = (
        *section.words("Target", "Load", "Beside"),
        section.Column("Server CPU", texts.at_its_load("ratio", open_loop)),
        *section.words("CPU conclusion"),
        section.Column("Requests/s", "ratio"),
        *section.words("Rate conclusion"),
    )
    if open_loop:
        table_id = f"{table_id}-at-rate"
        title = f"{title}, at a rate"
    return section.table_of(table_id, columns, rows, title)


def _answer(pairs: Pairs) -> str:
    """The answer for closed loops if there are any, else for open loops. The two loads share no
    sentence."""
    without_copies = [pair for pair in pairs if not pair[1].identity.copy]
    if not without_copies:
        return ""
    open_loop, pairs_of_loop = _by_loop(without_copies)[0]
    compared = _compared(pairs_of_loop, consumer_cpu).values()
    ratios = sorted(comparison.ratio for comparison in compared if comparison.ratio)
    if not ratios:
        return ""
    range_text = " to ".join(dict.fromkeys(map(ratio, (ratios[0], ratios[-1]))))
    cpu = texts.at_its_load(f"{range_text} the CPU of one without", open_loop)
    return f"With a limiter a request takes {cpu}."


def limiter_cost(analysis: Analysis) -> section.Section | None:
    pairs_of_cells = [_pairs(cell) for cell in analysis.cells]
    limiters, frameworks = (
        [pair for pairs_of_cell in pairs_of_cells for pair in pairs_of_cell[index]]
        for index in (0, 1)
    )
    compared = {
        "limiter-cost-rows": ("A limiter over the same route without one", limiters),
        "framework-cost-rows": ("A framework over the usual one, without a limiter", frameworks),
    }
    tables = tuple(
        table
        for table_id, pairs_of_cell in compared.items()
        for table in _tables(table_id, *pairs_of_cell)
    )
    if not tables:
        return None
    title = "What a limiter costs"
    return section.Section("limiter-cost", title, _answer(limiters), text=(TEXT,), tables=tables)


CAPTION = (
    "Each figure is the median over the runs, beside it their range. A role waited while its threads were "
    "ready to run but had no CPU; the time is the sum over its threads. Roles that share CPUs wait for "
    "each other. Other programs are all but the roles and the harness; from 10 % of one CPU on a run is "
    "suspect (rule M25)."
)


@cache
def _waited(kind: str) -> Figure:
    """The time that the roles of a kind waited for a CPU, in % of the window.

    All threads are added up, so it may be more than 100."""

    def read(figures: Measured) -> float | None:
        delay_us = sum_of_kind("run_delay_us", kind)(figures)
        return None if delay_us is None else delay_us / figures.record.duration / 10_000

    return Figure(read)


def resources(analysis: Analysis) -> section.Section | None:
    measured = [summary for summary in analysis.ordered if summary.has_figures]
    shown_figures = [*map(_waited, MEASURED_KINDS), foreign_cpu]
    if all(row.figure_of(figure).value is None for row in measured for figure in shown_figures):
        return None
    tables = tuple(
        _resource_table(analysis.ordered, rows, open_loop)
        for open_loop, rows in texts.by_loop(measured)
    )
    return section.Section(
        "resources",
        "CPU: used, waited for, taken by others",
        counted=tuple(row.id for row in measured),
        counted_as="configurations",
        tables=tables,
    )


def _resource_table(
    summaries: Sequence[Summary], measured: Sequence[Summary], open_loop: bool
) -> section.Table:
    fields = texts.varying_fields(summaries)
    served = any(summary.identity.servers for summary in summaries)
    kinds = [kind for kind in MEASURED_KINDS if kind != "server" or served]
    used_unit = texts.at_its_load("of one CPU", open_loop)
    columns = (
        *section.words("Configuration", "Load"),
        *section.numbers([(f"{kind.capitalize()} CPU", used_unit) for kind in kinds]),
        *section.numbers([(f"{kind.capitalize()} waited", "of the window") for kind in kinds]),
        section.Column("Other programs", "of one CPU", "number more"),
    )
    shown_figures = [
        *(sum_of_kind("cpu_percent", kind) for kind in kinds),
        *map(_waited, kinds),
        foreign_cpu,
    ]
    rows = []
    for summary in measured:
        names = section.named(summary.identity.label, texts.load_text(summary.identity, fields))
        cells = (spread_figure(summary, figure, percent, "%") for figure in shown_figures)
        rows.append(section.TableRow(summary.id, (*names, *cells), colour=summary.id))
    table_id, title = ("resource-rows-at-rate", "At a rate") if open_loop else ("resource-rows", "")
    return section.table_of(table_id, columns, rows, title, caption=CAPTION)
