"""The criterion of a comparison: the ranges that were set before the data.

Its hash alone is registered, so that a sentence or note of the claim can change later, and a range
cannot. `src/orchestrator/request/criteria.ts` writes the same hash into the manifest."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from msgspec import Struct

Bounds = tuple[float, float]
"""The low and the high end of a range of ratios. They are 0 and infinite where it is open."""

#: Ends of ranges lie between these, so that every language writes them alike.
_LEAST = 0.001
_MOST = 1_000_000.0


class Criterion(Struct, frozen=True):
    """The ranges of the ratio of a comparison."""

    confirms: Bounds
    """The interval confirms the statement where it lies within this range."""
    refutes: Bounds | None
    """The interval refutes it where it lies beyond this wider range. None refutes nothing."""
    attainable: Bounds | None
    """The ratios that this harness could show at all. None where nothing limits them."""

    @property
    def sha256(self) -> str:
        ranges = {
            "attainable": _ends(self.attainable),
            "ratio": _ends(self.confirms),
            "refuted": _ends(self.refutes),
        }
        text = json.dumps(ranges, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def criterion_of(entry: Mapping[str, Any]) -> Criterion | None:
    """The criterion of a comparison in a file of claims. None if it names no range, as in a
    question.

    Raises ValueError if a range is damaged, or `refuted` does not hold `ratio`."""
    if "ratio" not in entry:
        if "refuted" in entry or "attainable" in entry:
            raise ValueError("`refuted` and `attainable` take a `ratio: [low, high]`")
        return None

    confirms = _bounds(entry["ratio"])
    refutes = _bounds(entry["refuted"]) if "refuted" in entry else None
    if confirms == (0, inf):
        raise ValueError("`ratio: [low, high]` needs an end")
    if refutes and not (refutes[0] <= confirms[0] and confirms[1] <= refutes[1]):
        raise ValueError("`refuted: [low, high]` takes a `ratio` that lies within it")

    attainable = _bounds(entry["attainable"]) if "attainable" in entry else None
    return Criterion(confirms, refutes, attainable)


def _bounds(ends: Sequence[float | None]) -> Bounds:
    low, high = ends
    if any(end is not None and not _LEAST <= end <= _MOST for end in ends):
        raise ValueError(f"a range has ends from {_LEAST:g} to {_MOST:g}")
    return (low or 0, inf if high is None else high)


def _ends(bounds: Bounds | None) -> list[float | None] | None:
    """The ends as JSON has them: an open end is null, and a whole number has no fraction."""
    if bounds is None:
        return None
    low, high = bounds
    return [_number(low) if low else None, None if high == inf else _number(high)]


def _number(value: float) -> float:
    return int(value) if float(value).is_integer() else value
