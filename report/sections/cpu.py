"""Where CPU time goes: that of a decision, of a limiter or framework beside `none`, and of each role."""

from collections.abc import Sequence
from itertools import combinations

from report.analysis import texts
from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.figures import PARTS, Figure, consumer_cpu, node_cpu, node_kind, throughput, total_of
from report.analysis.host_cpus import cpus_sentence
from report.analysis.rankings import compare_pairs
from report.analysis.summary import Summary
from report.base.format import count, microseconds, percent, ratio
from report.results.model import MEASURED_KINDS, Identity, Measured, sums_by_kind
from report.sections import section
from report.sections.first_screen import WORD
from report.sections.verdict_text import limit_cell, spread_figure

LIMITED_BY_CLIENT = "limited by client"

#: What limits the client's side: then the service could have decided more.
CLIENT_LIMITS = ("server loop", "server CPU", "client", "generator")

#: Below it a dearer protocol is not worth a sentence.
_NAMED_RATIO = 2.0


def part_kinds(identity: Identity) -> tuple[str, ...]:
    has_store = identity.store not in (None, "none", "memory")
    has = {node_kind(identity.layer): True, "service": identity.service is not None, "store": has_store}
    return tuple(kind for kind in MEASURED_KINDS if has.get(kind))


def _cell(summary: Summary, read: Figure, wanted: bool = True) -> section.TableCell:
    """A dash for a part that is missing, nothing for one that the row does not have."""
    return spread_figure(summary, read, microseconds, "µs") if wanted else section.number("", None)


def _limited_cell(summary: Summary) -> section.TableCell:
    """Where the service was not used up nothing is claimed about what it can do."""
    identity, limit = summary.identity, summary.limit
    served = identity.service is not None or identity.decided_by == "service"
    if served and limit and limit.resource in CLIENT_LIMITS:
        return section.TableCell(LIMITED_BY_CLIENT, hint="nothing is claimed about the service")
    return limit_cell(summary)


def _dearer_clients(cells: Sequence[Cell]) -> list[str]:
    """Sentences about clients of services that were shown to cost the Node process at least twice as much per
    decision as the cheapest library on the same store under the same work; in the order of cells."""
    found = []
    for cell in cells:
        rows = [row for ranking in cell.rankings for row in ranking.summaries if row.sample(node_cpu)]
        for store in dict.fromkeys(row.identity.store_text for row in rows):
            beside = [row for row in rows if row.identity.store_text == store and row.figures]
            libraries = [row for row in beside if row.identity.decided_by == "library"]
            services = [row for row in beside if row.identity.decided_by == "service"]
            if not libraries or not services:
                continue
            cheapest = min(libraries, key=lambda row: (node_cpu(row.figures) or 0) if row.figures else 0)
            for pair in compare_pairs(list(combinations([cheapest, *services], 2)), node_cpu):
                ratio = pair.comparison.ratio
                if pair.base is cheapest and pair.better is cheapest and ratio and ratio >= _NAMED_RATIO:
                    found.append(
                        f"{texts.name(pair.new)} costs Node {texts.interval_of(pair.comparison)} the CPU "
                        f"time of {texts.name(cheapest)} per decision on {store}."
                    )
    return list(dict.fromkeys(found))


def _caption(rows: Sequence[Summary], service: bool) -> str:
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
        "CPU time per decision in the median run, beside it the range over the runs. A decision is an "
        "answer, allowed or limited, to a consume of one descriptor, counted by the process that calls the "
        "limiter; a request may take several. The CPU time is what the counters of the roles grew by in "
        "lead-in and window, between the same readings as the count: each part × decisions is that "
        "difference, and the sum is that of the parts. "
        f"Node is {between.join(node)}.{limited if service else ''}"
    )


def decision_cpu_table(analysis: Analysis) -> section.Table | None:
    deciding = [row for row in analysis.ordered if row.identity.decided_by != "nothing"]
    rows = [row for row in deciding if row.figures and row.figures.decisions]
    if not rows:
        return None
    fields, facts = texts.varying_fields(rows), texts.named_facts(rows)

    def cells(row: Summary) -> tuple[section.TableCell, ...]:
        identity, kinds = row.identity, part_kinds(row.identity)
        decider = texts.decider_of(identity) if facts.decider else ""
        algorithm = texts.algorithm_of(identity) if facts.algorithm else ""
        decisions = row.figures.decisions if row.figures else None
        parts = (node_kind(identity.layer), "service", "store")
        return (
            *section.named(identity.label, decider, algorithm, texts.load_text(identity, fields)),
            *(_cell(row, PARTS[part], part in kinds) for part in parts),
            _cell(row, total_of(kinds)),
            section.number(count(decisions), decisions),
            _limited_cell(row),
        )

    columns = (
        *section.words("Configuration", "Decided by", "Algorithm", "Load"),
        *section.numbers([(part, "µs") for part in ("Node", "Service", "Store", "Sum")]),
        section.Column("Decisions", "counted", "number more"),
        section.Column("Limited by", "resource", ""),
    )
    service = any("service" in part_kinds(row.identity) for row in rows)
    found = [section.TableRow(row.id, cells(row), colour=row.id) for row in rows]
    title = "Where a decision’s CPU goes"
    told = [*_dearer_clients(analysis.cells), _caption(rows, service), cpus_sentence(rows)]
    return section.table_of("decision-cpu-rows", columns, found, title, caption=" ".join(told).strip())


TEXT = (
    "Each row against the route without a limiter that was measured beside it: the ratio of what a request "
    "takes of the server’s CPU, with its interval, and of the requests/s. Each column is a family of its own."
)


Pairs = list[tuple[Summary, Summary]]


def _pairs(cell: Cell) -> tuple[Pairs, Pairs]:
    """Each row that decides, after the route without a limiter on the same framework and Node (None is the
    usual one), and each of these routes after the one on the usual framework."""

    def route(row: Summary) -> tuple[str | None, str | None]:
        return row.identity.framework, row.identity.node

    rows = [row for row in (*cell.summaries, *cell.controls) if row.median and not row.identity.copy]
    nothing = [row for row in rows if row.identity.decided_by == "nothing" and row.identity.ceiling]
    deciding = [row for row in rows if row.identity.decided_by != "nothing"]
    routes = {route(row): row for row in nothing}
    limiters = [(routes[route(row)], row) for row in deciding if route(row) in routes]
    usual = [(routes.get((None, row.identity.node)), row) for row in nothing if row.identity.framework]
    return limiters, [(base, row) for base, row in usual if base]


def _table(table_id: str, title: str, pairs: Pairs) -> section.Table:
    fields = texts.varying_fields([new for _, new in pairs])
    by_cpu, by_rate = (
        {pair.new.id: pair.comparison for pair in compare_pairs(pairs, figure)}
        for figure in (consumer_cpu, throughput)
    )
    rows = []
    for base, new in pairs:
        cells = [*section.named(texts.name(new), texts.load_text(new.identity, fields), texts.name(base))]
        for found in (by_cpu.get(new.id), None if new.identity.open_loop else by_rate.get(new.id)):
            cells += (section.number(texts.interval_of(found), found.ratio),) if found else section.named("")
            cells += section.named(WORD[found.status][True] if found else "")
        rows.append(section.TableRow(new.id, tuple(cells), colour=new.id))
    columns = (
        *section.words("Target", "Load", "Beside"),
        section.Column("Server CPU", "ratio"),
        *section.words("CPU conclusion"),
        section.Column("Requests/s", "ratio"),
        *section.words("Rate conclusion"),
    )
    return section.table_of(table_id, columns, rows, title)


def _answer(pairs: Pairs) -> str:
    compared = compare_pairs(pairs, consumer_cpu)
    found = sorted(pair.comparison.ratio for pair in compared if pair.comparison.ratio)
    if not found:
        return ""
    range_text = " to ".join(dict.fromkeys(map(ratio, (found[0], found[-1]))))
    return f"With a limiter a request takes {range_text} the CPU of one without."


def limiter_cost(analysis: Analysis) -> section.Section | None:
    found = [_pairs(cell) for cell in analysis.cells]
    limiters, frameworks = ([pair for each in found for pair in each[index]] for index in (0, 1))
    compared = {
        "limiter-cost-rows": ("A limiter over the same route without one", limiters),
        "framework-cost-rows": ("A framework over the usual one, without a limiter", frameworks),
    }
    tables = tuple(_table(table_id, *each) for table_id, each in compared.items() if each[1])
    if not tables:
        return None
    title = "What a limiter costs"
    return section.Section("limiter-cost", title, _answer(limiters), text=(TEXT,), tables=tables)


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
    fields = texts.varying_fields(summaries)
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
        names = section.named(summary.identity.label, texts.load_text(summary.identity, fields))
        rows.append(section.TableRow(summary.id, (*names, *_cells(figures, kinds)), colour=summary.id))
    return section.Section(
        "resources",
        "CPU: used, waited for, taken by others",
        counted=tuple(row.ids for row in rows),
        counted_as="configurations",
        tables=(section.table_of("resource-rows", columns, rows, caption=CAPTION),),
    )
