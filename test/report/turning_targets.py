"""Simulates targets that take turns, from how fast they are after idling and over the window."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np
from msgspec import structs

from builder import configuration, result
from report.base.contract import CONSTANTS
from report.results.generated.records import (
    MeasuredResult,
    SinceBegan,
    SinceBeganLeadIn,
    Slices,
    Turns,
)
from report.results.model import Campaign
from report.results.turn_parts import TurnParts, turn_parts
from report.results.validate import validate_result
from simulated_campaigns import campaign, plan

_SLICE_MS = 100
_CYCLES = 50
_EDGES_MS = [*CONSTANTS["turn_bin_edges_ms"], float("inf")]


@dataclass(frozen=True)
class Target:
    """Rates as shares of its typical one."""

    typical: float = 1.0
    after_idling: float = 1.0
    """In the first 50 ms of each turn."""
    second_half: float = 1.0
    """From the middle of the window on."""


def _share_of_time(from_ms: float, to_ms: float, low_ms: float, high_ms: float) -> float:
    return max(0.0, min(to_ms, high_ms) - max(from_ms, low_ms))


def _bins(target: Target, lead_in_ms: float, noise: Sequence[float]) -> SinceBeganLeadIn:
    """The slices of all turns, each from `lead_in_ms` on since its turn began."""
    seconds = []
    answers = []
    for (low_ms, high_ms), factor in zip(pairwise(_EDGES_MS), noise, strict=True):
        parts_ms = [
            _share_of_time(
                lead_in_ms, lead_in_ms + _SLICE_MS, max(low_ms, start), min(high_ms, end)
            )
            for start, end in ((0, 50), (50, float("inf")))
        ]
        seconds.append(_CYCLES * sum(parts_ms) / 1000)
        weighted_ms = target.after_idling * parts_ms[0] + parts_ms[1]
        answers.append(round(10_000 * target.typical * factor * _CYCLES * weighted_ms / 1000))
    return SinceBeganLeadIn(seconds, answers, [100 * count for count in answers])


@cache
def _record() -> MeasuredResult:
    record = validate_result(result(configuration()))
    assert isinstance(record, MeasuredResult)
    return record


def parts_of(rng: np.random.Generator, target: Target, lead_in_ms: float, cv: float) -> TurnParts:
    """The parts of one run, whose bins and halves deviate by `cv`."""
    bins = _bins(target, lead_in_ms, np.exp(cv * rng.standard_normal(6)).tolist())
    none = SinceBeganLeadIn([0] * 6, [0] * 6, [0] * 6)
    halves = np.repeat([1.0, target.second_half], _CYCLES // 2)
    halves *= np.repeat(np.exp(cv * rng.standard_normal(2)), _CYCLES // 2)
    allowed = [round(share) for share in 1000 * target.typical * halves]
    turned = structs.replace(
        _record(),
        turns=Turns(
            group=3,
            turns=_CYCLES,
            lead_in_ms=lead_in_ms,
            slice_ms=_SLICE_MS,
            drained_s=0,
            since_began=SinceBegan(from_ms=0, lead_in=none, slice=bins),
        ),
        slices=Slices(
            width_ms=100,
            allowed=allowed,
            limited=[0] * _CYCLES,
            failed=[0] * _CYCLES,
            latency_sum_us=[0] * _CYCLES,
        ),
    )
    return turn_parts(turned)


def campaign_by_turns(  # long: the parameters are what a test varies
    rng: np.random.Generator,
    targets: Mapping[str, Target],
    reference: str,
    rounds: int,
    *,
    lead_in_ms: float = 5,
    cv: float = 0.02,
) -> Campaign:
    """A campaign in which all targets are in each round, by turns."""
    others = [label for label in targets if label != reference]
    slots = plan(rng, reference, others, rounds)
    rates = [
        1000 * targets[slot.label].typical * float(np.exp(0.01 * rng.standard_normal()))
        for slot in slots
    ]
    planned = campaign(slots, rates, reference)
    runs = []
    for slot, run in zip(slots, planned.counted, strict=True):
        assert run.measured is not None
        parts = parts_of(rng, targets[slot.label], lead_in_ms, cv)
        runs.append(replace(run, measured=replace(run.measured, parts=parts)))
    return replace(
        planned,
        planned=tuple(structs.replace(entry, by_turns=True) for entry in planned.planned),
        counted=tuple(runs),
    )
