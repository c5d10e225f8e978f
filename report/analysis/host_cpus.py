"""The CPUs on which the roles of a run ran: their number, whether roles share them, and the
caps."""

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
    """The caps by kind of role. Empty if the runtime applies none."""
    runtime = run.record.runtime
    return json.loads(run.identity.caps) if runtime and runtime.caps_applied else {}


def shares_cpus(run: Run) -> bool | None:
    """Whether two kinds of role may run on one CPU of one machine. None if fewer than two are on
    record."""
    roles = run.measured.record.resources if run.measured else {}
    if len({resources.kind for resources in roles.values()}) < 2:
        return None

    cpus_by_kind = {kind: cpus_in(cap.get("cpuset", "")) for kind, cap in caps_of(run).items()}
    places = sorted(
        {(run.placement.get(role, ""), resources.kind) for role, resources in roles.items()}
    )

    def may_share(place: tuple[str, str], other_place: tuple[str, str]) -> bool:
        machine, kind = place
        other_machine, other_kind = other_place
        if machine != other_machine:
            return False
        cpus = cpus_by_kind.get(kind)
        other_cpus = cpus_by_kind.get(other_kind)
        return not cpus or not other_cpus or not cpus.isdisjoint(other_cpus)

    return any(may_share(place, other_place) for place, other_place in combinations(places, 2))


def host_cpus(run: Run) -> int | None:
    load = run.measured.record.host_load if run.measured else None
    return load.cpus if load else None


def cpus_sentence(rows: Iterable[Summary]) -> str:
    """A sentence such as `2 CPUs, shared by the roles; caps: store 2 CPUs, 2.0 GiB.` Rows that
    differ have a sentence each."""
    caps_by_head: list[tuple[str, dict[str, Any]]] = []
    for run in (row.selected for row in rows if row.selected):
        is_shared = shares_cpus(run)
        if is_shared is None:
            continue

        cpus = host_cpus(run)
        caps = caps_of(run)
        sharing = "shared by the roles" if is_shared else "each kind of role on its own"
        head = f"{plural(cpus, 'CPU') if cpus else 'CPUs'}, {sharing}"

        # A row without a store has no cap of a store, which is no difference.
        for known_head, known_caps in caps_by_head:
            agrees = all(known_caps.get(kind, cap) == cap for kind, cap in caps.items())
            if known_head == head and agrees:
                known_caps |= caps
                break
        else:
            caps_by_head.append((head, dict(caps)))

    return " ".join(f"{head}; caps: {caps_text(caps)}." for head, caps in caps_by_head)
