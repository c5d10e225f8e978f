"""The sort keys of rows, deciders and algorithms."""

from report.results.catalog import ALGORITHMS, DECIDERS, LAYERS
from report.results.identity import Identity

_TOPOLOGIES = ("standalone", "cluster")
_WORKLOADS = ("light", "heavy")


def _known_first(text: str, known: tuple[str, ...]) -> tuple[int, str]:
    return (known.index(text) if text in known else len(known), text)


def decider_order(decided_by: str | None) -> tuple[int, str]:
    """A sort key in the order of the contract, with an unknown decider last."""
    return _known_first(decided_by or "~", DECIDERS)


def algorithm_order(algorithm: str | None) -> tuple[int, str]:
    return _known_first(algorithm or "~", ALGORITHMS)


def row_order(identity: Identity) -> tuple[object, ...]:
    """A sort key that puts clients before controls, then follows layer, topology, workload,
    traffic, load, dimensions, decider, algorithm and store."""
    return (
        identity.control,
        LAYERS.index(identity.layer),
        *_known_first(identity.topology or "~", _TOPOLOGIES),
        *_known_first(identity.workload, _WORKLOADS),
        identity.complexity or 0,
        identity.traffic,
        identity.open_loop,
        identity.rate_per_second or 0,
        identity.arrivals or "",
        identity.connections,
        identity.duration_s or 0,
        identity.requests or 0,
        identity.limits or (),
        *identity.counts.values(),
        *decider_order(identity.decided_by),
        *algorithm_order(identity.algorithm),
        identity.store or "~",
        identity.label,
        identity.key,
    )
