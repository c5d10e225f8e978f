"""The load of a row in words, and which parts of it differ between rows."""

from collections.abc import Callable, Iterable, Sequence

from report.analysis.summary import Summary
from report.base.format import plural
from report.results.model import Identity


def load_name(identity: Identity) -> str:
    """`50 connections`, or `5000/s constant, up to 200 connections`."""
    connections = plural(identity.connections, "connection")
    if identity.rate_per_second is None:
        return connections
    return f"{identity.rate_per_second:,g}/s {identity.arrivals}, up to {connections}"


LoadField = tuple[str, Callable[[Identity], str]]

LOAD_FIELDS: tuple[LoadField, ...] = (
    ("Workload", lambda identity: identity.workload_text),
    ("Traffic", lambda identity: identity.traffic),
    ("Load", lambda identity: load_name(identity)),
    ("Length", lambda identity: identity.extent_text),
)


def varying_fields(summaries: Sequence[Summary]) -> tuple[LoadField, ...]:
    """The parts that are not the same in all rows."""
    return tuple(
        part for part in LOAD_FIELDS if len({part[1](summary.identity) for summary in summaries}) > 1
    )


def load_text(identity: Identity, parts: Iterable[LoadField] = LOAD_FIELDS) -> str:
    """`light · realistic · 50 connections · 30 s`, or only the given parts of it."""
    return " · ".join(read(identity) for _, read in parts)
