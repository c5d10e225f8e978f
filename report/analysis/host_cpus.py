"""The CPUs behind the figures of a run: how many, whether roles share them, and the caps that
held."""

import json
from collections.abc import Iterable
from itertools import combinations
from typing import Any

from report.analysis.machines import cpus_in
from report.analysis.summary import Summary
from report.analysis.texts import caps_text
from report.base.format import plural
from report.results.model import Run


def caps_of(run: Run) -> dict[str, Any]:
    """By kind of role; empty where the runtime applies none."""
    runtime = run.record.runtime
    return json.loads(run.identity.caps) if runtime and runtime.caps_applied else {}


def shares_cpus(run: Run) -> bool | None:
    """Whether two kinds of role may run on one CPU of one machine; None where no roles are on
    record."""
    roles = run.measured.record.resources if run.measured else {}
    own = {kind: cpus_in(cap.get("cpuset", "")) for kind, cap in caps_of(run).items()}
    places = sorted({(run.placement.get(role, ""), found.kind) for role, found in roles.items()})
    apart = all(
        place != other_place
        or (own.get(kind) and own.get(other) and own[kind].isdisjoint(own[other]))
        for (place, kind), (other_place, other) in combinations(places, 2)
    )
    return not apart if roles else None


def host_cpus(run: Run) -> int | None:
    load = run.measured.record.host_load if run.measured else None
    return load.cpus if load else None


def cpus_sentence(rows: Iterable[Summary]) -> str:
    """`2 CPUs, shared by the roles; caps: store 2 CPUs, 2.0 GiB.`; of rows that differ, each in
    turn."""
    found: list[tuple[str, dict[str, Any]]] = []
    for run in (row.selected for row in rows if row.selected):
        shared = shares_cpus(run)
        cpus = host_cpus(run)
        caps = caps_of(run)
        if shared is None:
            continue
        how = "shared by the roles" if shared else "each kind of role on its own"
        head = f"{plural(cpus, 'CPU') if cpus else 'CPUs'}, {how}"
        # A row without a store has no other caps.
        for other, known in found:
            if other == head and all(known.get(kind, cap) == cap for kind, cap in caps.items()):
                known |= caps
                break
        else:
            found.append((head, dict(caps)))
    return " ".join(f"{head}; caps: {caps_text(caps)}." for head, caps in found)
