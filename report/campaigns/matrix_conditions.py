"""The conditions of the matrix. A condition is what a campaign asked of its targets."""

from collections.abc import Iterator
from dataclasses import replace

from msgspec import Struct

from report.analysis.campaign_analysis import Analysis
from report.analysis.texts import LOAD_FIELDS, load_text
from report.campaigns.matrix_targets import shown_rows
from report.campaigns.questions import STATED_RATE
from report.results.identity import Identity

#: The text of the condition of answers that do not depend on the load.
ANY = ""

#: The text of the condition that is shown first.
DEFAULT_CONDITION = "light · realistic · 50 connections"

#: The connections of a closed loop unless a command names others.
_CONNECTIONS = 50

#: The fields of a load except its length, on which no answer depends.
_FIELDS = tuple(
    field for field in LOAD_FIELDS if field.name != "Length" and not field.only_if_differing
)


class Condition(Struct, frozen=True):
    text: str
    """A text such as `light · realistic · 50 connections`."""
    text_without_load: str | None
    """A text such as `light · realistic`. None if the condition has no load."""
    flags: str
    """The flags with which a command measures under this condition."""


def conditions_of(analysis: Analysis) -> Iterator[Condition]:
    """The conditions of the rows of a campaign. A condition can come several times."""
    for row in shown_rows(analysis):
        identity = row.summary.identity
        without_load = condition_text_without_load(identity)
        flags = _flags(identity)
        if identity.rate_per_second == STATED_RATE:
            yield Condition(without_load, None, flags)
        else:
            yield Condition(_text(identity), without_load, flags)
    for curve in analysis.load_curves:
        for target in curve.targets:
            # The connections of an open loop are no part of the command.
            flags = _flags(replace(target.identity, connections=_CONNECTIONS))
            yield Condition(condition_text_without_load(target.identity), None, flags)


def condition_text(identity: Identity) -> str:
    """The text of the condition of a row. It has no load at the stated rate, because figures at
    this rate are shown beside those of other loads."""
    if identity.rate_per_second == STATED_RATE:
        return condition_text_without_load(identity)
    return _text(identity)


def condition_text_without_load(identity: Identity) -> str:
    return load_text(
        identity,
        [
            field
            for field in _FIELDS
            if field.name != "Load" and field.read(identity) != field.default
        ],
    )


def _text(identity: Identity) -> str:
    fields = [field for field in _FIELDS if field.read(identity) != field.default]
    return load_text(identity, fields)


def _flags(identity: Identity) -> str:
    """The flags that differ from their default. The rate is not among them, because CPU times are
    those of closed loops."""
    flags = {
        "layer": (identity.layer, "server"),
        "workload": (identity.workload, "light"),
        "traffic": (identity.traffic, "realistic"),
        "concurrency": (identity.connections, _CONNECTIONS),
        **{name: (number or 1, 1) for name, number in identity.counts.items()},
        "cost": (identity.limits[3] if identity.limits else 1, 1),
    }
    return "".join(
        f" --{name} {value}" for name, (value, default) in flags.items() if value != default
    )
