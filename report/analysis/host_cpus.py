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
    cpus_by_kind = {kind: cpus_in(cap.get("cpuset", "")) for kind, cap in caps_of(run).items()}
    places = sorted(
        {(run.placement.get(role, ""), resources.kind) for role, resources in roles.items()}
    )
    apart = all(
        place != other_place
        or (
            cpus_by_kind.get(kind)
            and cpus_by_kind.get(other)
            and cpus_by_kind[kind].isdisjoint(cpus_by_kind[other])
        )
        for (place, kind), (other_place, other) in combinations(places, 2)
    )
    return not apart if roles else None


def host_cpus(run: Run) -> int | None:
    load = run.measured.record.host_load if run.measured else None
    return load.cpus if load else None


def cpus_sentence(rows: Iterable[Summary]) -> str:
    """`2 CPUs, shared by the roles; caps: store 2 CPUs, 2.0 GiB.`; of rows that differ, each in
    turn."""
    caps_by_head: list[tuple[str, dict[str, Any]]] = []
    for run in (row.selected for row in rows if row.selected):
        shared = shares_cpus(run)
        cpus = host_cpus(run)
        caps = caps_of(run)
        if shared is None:
            continue
        how = "shared by the roles" if shared else "each kind of role on its own"
        head = f"{plural(cpus, 'CPU') if cpus else 'CPUs'}, {how}"
        # A row without a store has no other caps.
        for other, known in caps_by_head:
            if other == head and all(known.get(kind, cap) == cap for kind, cap in caps.items()):
                known |= caps
                break
        else:
            caps_by_head.append((head, dict(caps)))
    return " ".join(f"{head}; caps: {caps_text(caps)}." for head, caps in caps_by_head)
