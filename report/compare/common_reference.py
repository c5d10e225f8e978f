"""Two campaigns through the reference that both measured: the host cancels within its rounds (rule M22)."""

import math
from collections.abc import Sequence

from report.analysis.cells import load_key
from report.analysis.figures import Figure, throughput
from report.analysis.summary import Summary, sample_between

Thing = tuple[object, ...]

#: A reference of another version is another thing.
_VERSIONS = ("client", "limiter", "store")


def _thing(row: Summary) -> Thing:
    runs = [run for run in row.runs if run.measured]
    versions = (frozenset(run.versions.get(part) for run in runs) for part in _VERSIONS)
    return (row.identity.key, *versions, row.scripts)


def references_of(row: Summary, every: Sequence[Summary]) -> dict[Thing, Summary]:
    """The references that were measured in a row's rounds under its load, without itself; first that of its
    own ranking."""
    own = row.identity
    found = [
        each
        for each in every
        if each.reference
        and each.id != row.id
        and load_key(each.identity) == load_key(own)
        and sample_between(row, each, throughput).pairs
    ]
    found.sort(key=lambda each: (each.identity.store, each.identity.topology) != (own.store, own.topology))
    return {_thing(each): each for each in found}


def ratios_to(
    reference: Summary, row: Summary, figure: Figure, rounds: int | None = None
) -> tuple[float, ...]:
    """By round. One in which the reference failed its load tells nothing about the row."""
    pairs = sample_between(row, reference, figure, rounds).pairs
    return tuple(value / other for value, other in pairs if 0 < other < math.inf)
