"""Ranks the rows of campaigns whose plan does not name rankings, and runs that no plan holds.

Each plan of version 4 names its rankings in `plan.rankings`. Plans of versions 2 and 3 named at
most the references. `older_documents.py` converts everything else that former formats had. The rule
here is the one that the report had before. Campaigns of version 4 do not need it, and nothing else
in this project knows it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from report.results.catalog import COPY, FRAMEWORK, STORE_LAYER, separations_of
from report.results.identity import Identity
from report.results.model import PlannedRanking


def older_rankings(
    identities: Iterable[Identity], plan: Mapping[str, Any], first_number: int = 1
) -> tuple[PlannedRanking, ...]:
    """The rankings of these rows, with the references that an older plan names."""
    across_frameworks = bool(plan.get("compare_frameworks"))
    references = frozenset(plan.get("references", ()))

    rows_by_key: dict[str, list[Identity]] = {}
    for identity in identities:
        rows_by_key.setdefault(_ranking_key(identity, across_frameworks), []).append(identity)

    groups = [group for rows in rows_by_key.values() for group in _by_condition(rows)]
    return tuple(
        _ranking(f"ranking-{number}", client, members, references, across_frameworks)
        for number, (client, members) in enumerate(groups, start=first_number)
    )


def _conditions(identity: Identity, across_frameworks: bool) -> tuple[str, ...]:
    return tuple(
        option
        for option, separation in separations_of(identity.options, "others")
        if not (across_frameworks and separation.what == FRAMEWORK)
    )


def _ranking_key(identity: Identity, across_frameworks: bool) -> str:
    """A key that the rows of a ranking share. A control is alone, as are a row with faults and one
    of a load program."""
    if identity.ceiling or identity.faults or identity.program is not None:
        return identity.key

    if identity.layer == STORE_LAYER:
        work = replace(
            identity,
            key="",
            configuration_hash=None,
            label="",
            store=None,
            store_version=None,
            external_store=False,
        )
        return repr(work)

    load = (
        identity.layer,
        identity.topology,
        sorted(identity.counts.items()),
        identity.caps,
        identity.workload,
        identity.complexity,
        identity.traffic,
        identity.limits,
        identity.connections,
        identity.rate_per_second,
        identity.arrivals,
        identity.duration_s,
        identity.requests,
    )
    limiter = identity.limiter if identity.algorithm is None else None
    decision = (
        identity.store,
        identity.external_store,
        identity.decided_by,
        identity.algorithm,
        limiter,
    )
    return repr((load, decision, _conditions(identity, across_frameworks)))


def _client_conditions(identity: Identity) -> dict[str, str]:
    """The conditions in which a client can be compared with itself, by what they are about."""
    conditions = {}
    if identity.store_version:
        conditions["store version"] = identity.store_version
    for option, separation in separations_of(identity.options, "itself"):
        conditions[separation.what] = option
    return conditions


def _varying(members: Collection[Identity]) -> tuple[str, ...]:
    conditions = [_client_conditions(identity) for identity in members]
    names = dict.fromkeys(name for condition in conditions for name in condition)
    return tuple(
        name for name in names if len({condition.get(name) for condition in conditions}) > 1
    )


def _client_in(identity: Identity) -> str:
    """The client without its copy and without the conditions in which it is compared with
    itself."""
    ignored_options = {COPY, *_client_conditions(identity).values()}
    return "+".join(part for part in identity.variant.split("+") if part not in ignored_options)


def _by_condition(members: list[Identity]) -> list[tuple[str, list[Identity]]]:
    """The rankings of rows by client. A client in several versions, or with and without TLS, is
    ranked only with itself."""
    if members[0].layer == STORE_LAYER or not _varying(members):
        return [("", members)]
    identities_by_client: dict[str, list[Identity]] = {}
    for identity in members:
        identities_by_client.setdefault(_client_in(identity), []).append(identity)
    return list(identities_by_client.items())


def _ranking(
    ranking_id: str,
    client: str,
    members: list[Identity],
    references: Collection[str],
    across_frameworks: bool,
) -> PlannedRanking:
    reference = next((identity for identity in members if identity.key in references), None)
    copies = (identity for identity in members if reference and identity.copy)
    copy = next((copy for copy in copies if reference and copy.copy_of == reference.label), None)
    originals = [identity for identity in members if not identity.copy]
    return PlannedRanking(
        id=ranking_id,
        members=tuple(identity.key for identity in members),
        reference=reference.key if reference else None,
        copy=copy.key if copy else None,
        family=len(originals or members) - 1,
        conditions=_conditions(members[0], across_frameworks),
        client=client,
        varies=_varying(members) if client else (),
    )
