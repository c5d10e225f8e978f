"""Keys of what was measured, without the parts in which rows may differ."""

from dataclasses import replace
from typing import Any

from report.results.identity import Identity


def subject(identity: Identity, **ignored: Any) -> str:
    """A key that is equal for rows that differ in nothing but the ignored fields."""
    return repr(replace(identity, key="", configuration_hash=None, load_text="", **ignored))


def target_key(identity: Identity) -> str:
    """A key that is equal for the rows of a target in a load curve, which differ in their load."""
    return subject(identity, rate_per_second=None, arrivals=None, connections=0)
