"""Simulates campaigns with known true ratios on hosts whose speed changes, as the orchestrator
plans them."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from builder import configuration, result
from report.analysis.summary import Summary, summarize
from report.results.convert import run_of
from report.results.model import Campaign, Planned, Run
from report.results.older_rankings import older_rankings
from report.results.validate import validate_result
from report.statistics.samples import Place

Floats = NDArray[np.float64]
#: Returns the logarithms of the speed of a host in one run after the other.
Host = Callable[[np.random.Generator, int], Floats]


def calm(_: np.random.Generator, runs: int) -> Floats:
    return np.zeros(runs)


def ramp(rng: np.random.Generator, runs: int) -> Floats:
    """A host that becomes a fifth slower, or faster, from the first run to the last."""
    direction = 1 if rng.random() < 0.5 else -1
    logarithms: Floats = 0.2 * direction * np.arange(runs) / runs
    return logarithms


@dataclass(frozen=True)
class Slot:
    """One run of a plan."""

    label: str
    place: Place


def plan(
    rng: np.random.Generator, reference: str, others: Sequence[str], rounds: int
) -> list[Slot]:
    """An interleaved plan, in which each round has a run of each target in random order."""
    labels = np.array([reference, *others], dtype=object)
    return [
        Slot(label, (number, 1))
        for number in range(1, rounds + 1)
        for label in rng.permutation(labels).tolist()
    ]


def throughputs(
    rng: np.random.Generator,
    slots: Sequence[Slot],
    host: Host,
    cv: float,
    truth: Mapping[str, float],
) -> list[float]:
    """The throughput of each run, which is 1000 times the true ratio of its target, times the speed
    of the host and a random deviation."""
    speeds = host(rng, len(slots)) + cv * rng.standard_normal(len(slots))
    return [
        1000 * truth.get(slot.label, 1.0) * math.exp(float(speed))
        for slot, speed in zip(slots, speeds, strict=True)
    ]


@cache
def _template(label: str, traffic: str) -> Run:
    return run_of(validate_result(result(configuration(label, traffic=traffic))), "run.json")


def campaign(
    slots: Sequence[Slot], values: Sequence[float], reference: str, traffic: str = "realistic"
) -> Campaign:
    """The campaign as the report would have read it."""
    runs: list[Run] = []
    places: dict[str, dict[int, Place]] = {}
    for time, (slot, value) in enumerate(zip(slots, values, strict=True)):
        run_places = places.setdefault(slot.label, {})
        run_places[len(run_places) + 1] = slot.place
        template = _template(slot.label, traffic)
        assert template.measured is not None
        runs.append(
            replace(
                template,
                run=len(run_places),
                place=slot.place,
                file=f"{traffic}-{time}.json",
                record=structs.replace(template.record, started_at=f"{time:06d}"),
                measured=replace(template.measured, requests_per_second=value),
            )
        )
    planned = tuple(
        Planned(
            identity=_template(label, traffic).identity,
            runs=tuple(run_places),
            places=run_places,
        )
        for label, run_places in places.items()
    )
    rankings = older_rankings(
        [entry.identity for entry in planned],
        {"references": [_template(reference, traffic).identity.key]},
    )
    return Campaign(name="simulated", planned=planned, rankings=rankings, counted=tuple(runs))


def rows(
    rng: np.random.Generator,
    host: Host,
    others: Sequence[str],
    rounds: int,
    cv: float,
    truth: Mapping[str, float],
    reference: str = "iovalkey",
) -> tuple[Summary, ...]:
    """The rows of such a campaign."""
    slots = plan(rng, reference, others, rounds)
    return summarize(campaign(slots, throughputs(rng, slots, host, cv, truth), reference))
