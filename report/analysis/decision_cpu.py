"""Where the CPU time of a decision goes: to the Node process that asks, to the service, to the store.

A decision is an answer, allowed or limited, to a consume of one descriptor, as the processes counted it that
call the limiter. Its CPU time is what the counters of a role grew by, divided by the decisions between the
same two readings: lead-in and window. At the server layer the Node part is the servers', with HTTP and the
endpoint's work; at the limiter layer it is the load generator's, which is the client.
"""

from collections.abc import Mapping, Sequence

from report.analysis.cells import Cell
from report.analysis.comparison_text import interval_of, name
from report.analysis.figures import Figure
from report.analysis.layer_text import layer_text
from report.analysis.rankings import compare_rows
from report.analysis.summary import Summary
from report.results.model import MEASURED_KINDS, Identity, Measured

#: What limits the client's side: then the service could have decided more.
CLIENT_LIMITS = ("server loop", "server CPU", "client", "generator")

#: Below it a dearer protocol is not worth a sentence.
_NAMED_RATIO = 2.0


def node_kind(layer: str) -> str:
    return "server" if layer_text(layer).has_servers else "generator"


def part_kinds(identity: Identity) -> tuple[str, ...]:
    has_service = identity.service is not None
    has_store = identity.store not in (None, "none", "memory")
    wanted = {
        node_kind(identity.layer),
        *(["service"] if has_service else []),
        *(["store"] if has_store else []),
    }
    return tuple(kind for kind in MEASURED_KINDS if kind in wanted)


def decision_cpu_us(figures: Measured) -> Mapping[str, float]:
    """µs per decision by kind of role, all roles of a kind together; empty without a count of decisions. The
    load generator takes part only where it is the client."""
    if not figures.decisions:
        return {}
    kinds = (node_kind(figures.layer), "service", "store")
    found: dict[str, int] = {}
    for role in figures.record.resources.values():
        if role.kind in kinds:
            found[role.kind] = found.get(role.kind, 0) + role.cpu_us
    return {kind: found[kind] / figures.decisions for kind in MEASURED_KINDS if kind in found}


def _part(kind: str) -> Figure:
    return Figure(lambda figures: decision_cpu_us(figures).get(kind))


#: Figures by kind of role.
PARTS: Mapping[str, Figure] = {kind: _part(kind) for kind in MEASURED_KINDS}

#: The CPU time of the Node process that asks.
node_cpu = Figure(lambda figures: decision_cpu_us(figures).get(node_kind(figures.layer)))


def total_of(kinds: Sequence[str]) -> Figure:

    def total(figures: Measured) -> float | None:
        found = decision_cpu_us(figures)
        return sum(found[kind] for kind in kinds) if found and all(kind in found for kind in kinds) else None

    return Figure(total)


def limited_by_client(summary: Summary) -> bool:
    """The service was not used up: nothing is claimed about what it can do."""
    identity, figures = summary.identity, summary.figures
    served = identity.service is not None or identity.decided_by == "service"
    return bool(served and figures and figures.limiting_resource in CLIENT_LIMITS)


def dearer_clients(cells: Sequence[Cell]) -> list[str]:
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
                        f"{name(pair.new)} costs Node {interval_of(pair.comparison)} the CPU time of "
                        f"{name(cheapest)} per decision on {store}."
                    )
    return list(dict.fromkeys(found))
