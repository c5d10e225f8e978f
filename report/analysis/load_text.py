"""The load of a row in words, and which parts of it differ between rows."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from report.analysis.layer_text import layer_text
from report.base.format import gibibytes, plural
from report.results.model import DIMENSIONS, MEASURED_KINDS, Dimension, Identity


class Row(Protocol):
    @property
    def identity(self) -> Identity: ...


def load_name(identity: Identity) -> str:
    """`50 connections`, or `5000/s constant, up to 200 connections`; at the limiter layer `50 at a time`."""
    limiter = identity.layer == "limiter"
    connections = (
        f"{identity.connections:,} at a time" if limiter else plural(identity.connections, "connection")
    )
    if identity.rate_per_second is None:
        return connections
    return f"{identity.rate_per_second:,g}/s {identity.arrivals}, up to {connections}"


def count_text(identity: Identity, dimension: Dimension) -> str:
    count = identity.counts[dimension.key]
    return f"{count} {dimension.one if count == 1 else dimension.other}" if count else ""


def workload_text(identity: Identity) -> str:
    return "" if identity.layer == "limiter" else identity.workload_text


def _limit_text(identity: Identity, index: int, form: str) -> str:
    return form.format(identity.limits[index]) if identity.limits else ""


@dataclass(frozen=True, slots=True)
class LoadField:
    name: str
    read: Callable[[Identity], str]
    usual: str = ""
    """The text that goes without saying, unless rows differ in it."""
    only_if_differing: bool = False
    """It is only in texts that tell rows apart."""
    dimension: Dimension | None = None
    """What it counts, where it is a number of something."""


LOAD_FIELDS: tuple[LoadField, ...] = (
    LoadField("Layer", lambda identity: layer_text(identity.layer).name, usual="server layer"),
    LoadField("Workload", workload_text),
    LoadField("Traffic", lambda identity: identity.traffic),
    *(
        LoadField(
            dimension.other.capitalize(),
            partial(count_text, dimension=dimension),
            usual=f"1 {dimension.one}",
            dimension=dimension,
        )
        for dimension in DIMENSIONS
    ),
    LoadField("Quota", partial(_limit_text, index=0, form="{:,} points"), only_if_differing=True),
    LoadField("Window", partial(_limit_text, index=1, form="{:,} s window"), only_if_differing=True),
    LoadField("Block", partial(_limit_text, index=2, form="{:,} s block"), only_if_differing=True),
    LoadField("Cost", partial(_limit_text, index=3, form="cost {:,}"), usual="cost 1"),
    LoadField("Load", load_name),
    LoadField("Length", lambda identity: identity.extent_text),
)


def _is_named(part: LoadField, identity: Identity) -> bool:
    """Whether a text that does not tell rows apart has this part."""
    return not part.only_if_differing and part.read(identity) != part.usual


def varying_fields(rows: Sequence[Row]) -> tuple[LoadField, ...]:
    return tuple(part for part in LOAD_FIELDS if len({part.read(row.identity) for row in rows}) > 1)


def varying_limits(rows: Sequence[Row]) -> tuple[LoadField, ...]:
    return tuple(part for part in varying_fields(rows) if part.only_if_differing)


def load_text(identity: Identity, parts: Iterable[LoadField] | None = None, layer_named: bool = False) -> str:
    """`light · realistic · 50 connections · 30 s`, without what is usual; or only the given parts."""
    if parts is None:
        parts = [part for part in LOAD_FIELDS if _is_named(part, identity)]
    return " · ".join(
        filter(None, (part.read(identity) for part in parts if not (layer_named and part.name == "Layer")))
    )


def shared_load_text(rows: Sequence[Row], layer_named: bool = False) -> str:
    """The load that all rows share, without what goes without saying; empty where they share nothing."""
    identity, varying = rows[0].identity, varying_fields(rows)
    shared = [part for part in LOAD_FIELDS if part not in varying and _is_named(part, identity)]
    return load_text(identity, shared, layer_named)


def cap_text(cap: Mapping[str, Any]) -> str:
    parts = [
        *([f"{cap['cpus']:g} CPU{'' if cap['cpus'] == 1 else 's'}"] if "cpus" in cap else []),
        *([f"{gibibytes(cap['memory_bytes'])} GiB"] if "memory_bytes" in cap else []),
        *([f"CPUs {cap['cpuset']}"] if "cpuset" in cap else []),
    ]
    return ", ".join(parts) or "none"


def caps_text(caps: Mapping[str, Any]) -> str:
    return "; ".join(f"{kind} {cap_text(caps[kind])}" for kind in MEASURED_KINDS if kind in caps) or "none"


def differing_caps(rows: Iterable[Row]) -> Callable[[Identity], dict[str, Any]]:
    """Gives the caps of a row by kind of role, of the kinds that not all rows with such a role cap alike.

    The cap of a service tells no row apart that has none."""
    identities = [row.identity for row in rows]

    def cap_of(identity: Identity, kind: str) -> str:
        return json.dumps(json.loads(identity.caps).get(kind))

    differing = [
        kind
        for kind in MEASURED_KINDS
        if len({cap_of(row, kind) for row in identities if kind != "service" or row.service}) > 1
    ]
    return lambda identity: {
        kind: cap for kind, cap in json.loads(identity.caps).items() if kind in differing
    }
