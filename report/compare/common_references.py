"""The references that rows of two campaigns have in common, and the ratios to them."""

import math
from collections.abc import Sequence

from report.analysis.cells import load_key
from report.analysis.figures import Figure, throughput
from report.analysis.row_pairs import sample_between
from report.analysis.summary import Summary

ReferenceKey = tuple[object, ...]
"""Identifies a reference across campaigns: its configuration, its versions and its scripts."""

#: The parts whose versions tell two references apart.
_VERSIONS = ("client", "limiter", "store")


def _reference_key(row: Summary) -> ReferenceKey:
    runs = [run for run in row.runs if run.measured]
    versions = (frozenset(run.versions.get(part) for run in runs) for part in _VERSIONS)
    return (row.identity.key, *versions, row.scripts)


def references_of(row: Summary, summaries: Sequence[Summary]) -> dict[ReferenceKey, Summary]:
    """The references that were measured in the rounds of a row under its load, without the row
    itself. The reference of its ranking comes first."""
    identity = row.identity
    references_of_load = [
        reference
        for reference in summaries
        if reference.reference and load_key(reference.identity) == load_key(identity)
    ]
    references = [
        reference
        for reference in references_of_load
        if reference.id != row.id and sample_between(row, reference, throughput).pairs
    ]
    references.sort(
        key=lambda reference: (
            (reference.identity.store, reference.identity.topology)
            != (identity.store, identity.topology)
        )
    )
    return {_reference_key(reference): reference for reference in references}


def ratios_to(
    base: Summary, row: Summary, figure: Figure, rounds: int | None = None
) -> tuple[float, ...]:
    """The ratio to the base in each round, without rounds in which the base failed its load: these
    show nothing about the row."""
    pairs = sample_between(row, base, figure, rounds).pairs
    return tuple(value / base_value for value, base_value in pairs if 0 < base_value < math.inf)
