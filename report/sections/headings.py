"""The headings of a page, of its cells and of its rankings."""

from collections.abc import Collection, Iterator, Sequence

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell, RuntimeResults
from report.analysis.rankings import Ranking
from report.analysis.texts import load_text, varying_fields
from report.results.identity import Identity
from report.results.model import Campaign
from report.sections.script_text import mode_text

#: The store of targets that have none.
NO_STORE = "none"


def node_texts(campaign: Campaign) -> list[str]:
    """The version of Node.js of the measured servers, or each of several: `Node.js 22.14.0`."""
    versions = {run.versions["node"] for run in campaign.counted if "node" in run.versions}
    return [f"Node.js {', '.join(sorted(versions))}"] if versions else []


def page_heading(analysis: Analysis) -> str:
    """The question that the page answers, which depends on what its rows differ in."""
    if analysis.only_memory:
        return "What does a key take in memory?"

    targets = [row.identity for row in analysis.summaries if not row.identity.control]
    if not targets and analysis.faults:
        return "What do faults do to an API?"
    if not targets and analysis.store_operations:
        return "What does an operation cost, by store?"

    if targets and all(target.app for target in targets):
        return "Which app is faster, and what does a request cost?"

    limiters = {(target.decided_by, target.algorithm, target.limiter) for target in targets}
    subject = "rate limiter" if len(limiters) > 1 else "client"
    return f"Which {subject} should I take, and what does it cost?"


def cell_title(cell: Cell, layer_named: bool = False) -> str:
    """`Cluster · light · realistic · 50 connections · 30 s`, with limits and caps where they differ
    between cells."""
    identity = cell.identity
    topology = _topology_title(identity)
    load = load_text(identity, layer_named=layer_named)
    return " · ".join(filter(None, [topology, load, cell.limits, cell.caps]))


def _topology_title(identity: Identity) -> str:
    if identity.app:
        return "Apps"
    return identity.topology.capitalize() if identity.topology else "Other addresses"


def ranking_heading(ranking: Ranking) -> str:
    """`On valkey 9.1.2, one script for all`, `On redis 7.0.15, decided by a module (GCRA), …`."""
    return ", ".join(_heading_parts(ranking))


def _heading_parts(ranking: Ranking) -> list[str]:
    if ranking.properties.store is None:
        return ["Store not known"]

    runs = [run for row in ranking.summaries for run in row.runs]
    versions = {run.versions["store"] for run in runs if "store" in run.versions}
    store = " ".join(["On", ranking.properties.store, ", ".join(sorted(versions))]).strip()
    if ranking.base.identity.app:
        return [_apps_text(ranking, versions)]
    if ranking.properties.external:
        store += " (already ran)"
    return list(filter(None, [store, ranking.decider_text, mode_text(ranking)]))


def _apps_text(ranking: Ranking, versions: Collection[str]) -> str:
    """`Apps`, or `Apps, each on a valkey 8.1.4 of its own`."""
    store = ranking.properties.store
    if store == NO_STORE:
        return "Apps"
    return f"Apps, each on a {' '.join(filter(None, [store, *sorted(versions)]))} of its own"


def scopes(runtimes: Sequence[RuntimeResults]) -> Iterator[tuple[list[str], Ranking]]:
    """Every ranking with the texts that set it apart from the others: runtime, topology, load,
    store and what decides."""
    cells = [(runtime, cell) for runtime in runtimes for cell in runtime.cells]
    varying = varying_fields([cell.summaries[0] for _, cell in cells]) if cells else ()
    has_several_topologies = len({cell.identity.topology for _, cell in cells}) > 1
    for runtime, cell in cells:
        topology = cell.identity.topology or "other addresses"
        for ranking in cell.rankings:
            parts = [
                runtime.runtime,
                topology if has_several_topologies else "",
                load_text(cell.identity, varying),
                *_parts_in_cell(cell, ranking),
                cell.caps,
            ]
            yield list(filter(None, parts)), ranking


def _parts_in_cell(cell: Cell, ranking: Ranking) -> list[str]:
    """The texts that set a ranking apart from the others of its cell, for use within a sentence."""
    if len(cell.rankings) <= 1:
        return []
    first, *further_parts = _heading_parts(ranking)
    return [f"{first[:1].lower()}{first[1:]}", *further_parts]


def scope_text(parts: Sequence[str]) -> str:
    """The parts of a scope as the beginning of a sentence."""
    text = ", ".join(parts)
    return f"{text[:1].upper()}{text[1:]}"
