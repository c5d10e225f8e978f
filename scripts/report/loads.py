"""The load of a row in words, and which parts of it tell rows apart."""

from collections.abc import Callable, Iterable, Sequence

from .format import plural
from .model import Identity
from .summarize import Summary

Part = tuple[str, Callable[[Identity], str]]

PARTS: tuple[Part, ...] = (
    ("Workload", lambda identity: identity.workload_text),
    ("Traffic", lambda identity: identity.traffic),
    ("Connections", lambda identity: plural(identity.connections, "connection")),
    ("Length", lambda identity: identity.extent_text),
)


def varying_parts(summaries: Sequence[Summary]) -> tuple[Part, ...]:
    """The parts that are not the same in all rows."""
    return tuple(part for part in PARTS if len({part[1](summary.identity) for summary in summaries}) > 1)


def load_text(identity: Identity, parts: Iterable[Part] = PARTS) -> str:
    """`light · realistic · 50 connections · 30 s`, or only the given parts of it."""
    return " · ".join(read(identity) for _, read in parts)
