"""Where the CPU time of a decision goes, as a table: to the Node process that asks, to service and store."""

from collections.abc import Sequence

from report.analysis import texts
from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.figures import PARTS, Figure, decision_cpu_us, node_cpu, node_kind
from report.analysis.rankings import compare_rows
from report.analysis.summary import Summary
from report.base.format import count, microseconds
from report.results.model import MEASURED_KINDS, Identity, Measured
from report.sections import section
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


def total_of(kinds: Sequence[str]) -> Figure:

    def total(figures: Measured) -> float | None:
        found = decision_cpu_us(figures)
        return sum(found[kind] for kind in kinds) if found and all(kind in found for kind in kinds) else None

    return Figure(total)


def _cell(summary: Summary, read: Figure, wanted: bool = True) -> section.TableCell:
    """A dash for a part that is missing, nothing for one that the row does not have."""
    return spread_figure(summary, read, microseconds, "µs") if wanted else section.number("", None)


def _limited_cell(summary: Summary) -> section.TableCell:
    """Where the service was not used up nothing is claimed about what it can do."""
    identity, figures = summary.identity, summary.figures
    served = identity.service is not None or identity.decided_by == "service"
    if served and figures and figures.limiting_resource in CLIENT_LIMITS:
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
            for pair in compare_rows([cheapest, *services], node_cpu):
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
    rows = [
        row
        for row in analysis.ordered
        if row.figures and row.figures.decisions and row.identity.decided_by != "nothing"
    ]
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
    return section.table_of(
        "decision-cpu-rows",
        columns,
        [section.TableRow(row.id, cells(row), colour=row.id) for row in rows],
        "Where a decision’s CPU goes",
        caption=" ".join([*_dearer_clients(analysis.cells), _caption(rows, service)]),
    )
