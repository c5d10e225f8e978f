"""What rows must share to be ranked: the store and who started it, what decides, its algorithm, the script
mode, where the clients' settings come from, the web framework (M12), and the client where there are several
versions of store or Node."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from report.analysis.summary import Summary, algorithm_order, decider_order
from report.results.model import OWN_SETTINGS


@dataclass(frozen=True, slots=True)
class Group:
    store: str | None
    """None for an address whose store is not known."""
    external: bool
    """The store is one that the user already ran."""
    same_script: bool
    """True: one script for all. False: each client's own, whatever that is."""
    limiter: str | None = None
    """What stands for the algorithm where it is not on record; None where it is, and for an address."""
    scripts: tuple[str, ...] = ()
    """With `same_script`: sha1s, or names of functions, of what its rows really ran; empty if unknown."""
    decided_by: str | None = None
    algorithm: str | None = None
    settings: str = ""
    """`Identity.settings` of its rows."""
    client: str = ""
    """`Identity.in_any_condition` of rows in several versions of store or Node, or with TLS and without."""
    framework: str | None = None
    """`Summary.framework` of its rows."""

    @property
    def rankable(self) -> bool:
        """The store is known, and if all rows were to run one script, exactly one was recorded."""
        return self.store is not None and (not self.same_script or len(self.scripts) == 1)


def _group_of(summary: Summary) -> Group:
    identity = summary.identity
    ran = {script.name_or_sha1 for script in summary.scripts} if identity.same_script else set()
    return Group(
        store=identity.store,
        external=identity.external_store,
        same_script=identity.same_script,
        limiter=identity.limiter if identity.algorithm is None else None,
        scripts=tuple(sorted(ran)),
        decided_by=identity.decided_by,
        algorithm=identity.algorithm,
        settings=identity.settings,
        framework=summary.framework,
    )


def _by_condition(group: Group, rows: list[Summary]) -> list[tuple[Group, list[Summary]]]:
    """In several versions, or with TLS and without, a client is ranked with itself, as in `rankings.ts`."""
    identities = [row.identity for row in rows]
    conditions = {(each.store_version, each.node, each.is_encrypted) for each in identities}
    if len(conditions) < 2:
        return [(group, rows)]
    found: dict[str, list[Summary]] = {}
    for row in rows:
        found.setdefault(row.identity.in_any_condition, []).append(row)
    return [(replace(group, client=client), own) for client, own in found.items()]


def group_rows(rows: Sequence[Summary]) -> list[tuple[Group, list[Summary]]]:
    """The rows of one cell by what they may be ranked with.

    A row that never ran has no script on record: it stands with the largest group that it was meant for.

    Returns:
        Groups with their rows, by what decides and by algorithm; then those on the store with most rows
        first, then those with the settings that all clients share, then those on Fastify, then
        the largest, then `same_script`."""
    groups: dict[Group, list[Summary]] = {}
    on_store: dict[tuple[str | None, bool], int] = {}
    unmeasured: list[Summary] = []
    for row in rows:
        group = _group_of(row)
        store_key = (group.store, group.external)
        on_store[store_key] = on_store.get(store_key, 0) + 1
        if row.identity.same_script and not any(run.measured for run in row.runs):
            unmeasured.append(row)
        else:
            groups.setdefault(group, []).append(row)
    for row in unmeasured:
        meant = _group_of(row)
        fitting = [
            group
            for group in groups
            if (group.store, group.external, group.same_script, group.settings, group.framework)
            == (meant.store, meant.external, True, meant.settings, meant.framework)
        ]
        groups.setdefault(max(fitting, key=lambda group: len(groups[group]), default=meant), []).append(row)

    groups = {part: own for group, all_rows in groups.items() for part, own in _by_condition(group, all_rows)}

    def order(entry: tuple[Group, list[Summary]]) -> tuple[object, ...]:
        group, members = entry
        store_key = (group.store, group.external)
        return (
            decider_order(group.decided_by),
            algorithm_order(group.algorithm),
            -on_store[store_key],
            group.store or "~",
            group.external,
            OWN_SETTINGS.index(group.settings) if group.settings else -1,
            group.framework or "",
            -len(members),
            not group.same_script,
            group.limiter or "~",
            group.scripts,
            group.client,
        )

    return sorted(groups.items(), key=order)
