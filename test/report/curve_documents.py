"""Builds the campaign of a load curve, whose targets have a known cost at each rate."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from builder import Document, configuration, hash_of, result
from campaign_writer import manifest
from evidence import latency

RATES = (100, 500, 1000, 2000, 5000)
ROUNDS = 8
SLICE_S = 2
LEAD_IN_MS = 200
REFERENCE = "ioredis@valkey"

#: A cost in µs of CPU time per request, by the rate.
Cost = Callable[[float], float]


@dataclass(frozen=True)
class CurveTarget:
    """A target of known cost. It wakes up less often per request where more requests share a
    wake."""

    request_us: float = 60
    wake_us: float = 100
    store_us: float = 25
    most_per_second: int = 8000
    p99_us: int = 2000

    def server_us(self, rate: float) -> float:
        return self.request_us + self.wake_us * math.exp(-rate / 2000)

    def server_cores(self, rate: float) -> float:
        return self.server_us(rate) * rate / 1e6


TARGETS: Mapping[str, CurveTarget] = {
    REFERENCE: CurveTarget(),
    "iovalkey": CurveTarget(request_us=80),
    "valkey-glide": CurveTarget(request_us=110, wake_us=200, store_us=20, most_per_second=5000),
}
COPIES = {"iovalkey+copy": "iovalkey"}


def open_load(per_second: float, connections: int = 200) -> Document:
    return {
        "model": "open",
        "rate_per_second": per_second,
        "arrivals": "constant",
        "connections": connections,
    }


def _schedule(per_second: float) -> Document:
    sent = round(SLICE_S * per_second)
    gap_ms = 1000 / per_second
    return {
        "rate_per_second": per_second,
        "arrivals": "constant",
        "offered": sent,
        "sent": sent,
        "late": 0,
        "blocked": 0,
        "dropped": 0,
        "unsent": 0,
        "achieved_per_second": per_second,
        "lateness_ms": {"p50": 0.05, "p90": 0.1, "p99": 0.3, "max": 2.5},
        "late_percentiles": [],
        "gaps_ms": {
            "intended": gap_ms,
            "p10": gap_ms,
            "p50": gap_ms,
            "p90": gap_ms,
            "p99": gap_ms,
            "max": gap_ms,
        },
        "shared_wakes": False,
    }


def curve_run(
    configured: Document, run: int, per_second: int, cost: CurveTarget, factor: float, group: int
) -> Document:
    """A run of one turn, whose CPU time deviates by `factor` from the cost of the target."""
    at_rate = configured["load"]["model"] == "open"
    total = SLICE_S * per_second
    slow = max(1, total // 50)
    document = result(
        configured,
        run,
        per_second,
        window_s=SLICE_S,
        allowed_us={900: total - slow, cost.p99_us: slow},
        limited_us={},
    )
    document["turns"] = {
        "group": group,
        "curve": True,
        "turns": 1,
        "lead_in_ms": LEAD_IN_MS,
        "slice_ms": 1000 * SLICE_S,
        "drained_s": 0.01,
    }
    if at_rate:
        document["schedule"] = _schedule(per_second)
        document["service_time"] = latency({800: total})
    loaded_s = SLICE_S + LEAD_IN_MS / 1000
    costs = {"server-1": cost.server_us(per_second), "store-1": cost.store_us}
    for role, cpu_us_per_request in costs.items():
        if role in document["resources"]:
            cpu_us = round(factor * cpu_us_per_request * per_second * loaded_s)
            document["resources"][role] |= {
                "cpu_us": cpu_us,
                "cpu_percent": round(cpu_us / loaded_s / 10_000, 2),
                "cpu_us_per_request": round(cpu_us / per_second / loaded_s, 2),
            }
    return document


def _rankings(
    configured: Mapping[str, Mapping[str, Document]], copies: Mapping[str, str]
) -> list[Document]:
    """A ranking for each load, whose family is that of all rates, and one for each control."""
    rankings: list[Document] = []
    loads = dict.fromkeys(load for by_load in configured.values() for load in by_load)
    labels = [label for label in configured if label != "none"]
    rates = sum(load != "closed" for load in loads)
    for load in loads if labels else ():
        members = {label: hash_of(configured[label][load]) for label in labels}
        copy = next((label for label in copies if label in members), None)
        compared = len(members) - 1 - (copy is not None)
        rankings.append(
            {
                "id": f"ranking-{len(rankings) + 1}",
                "members": list(members.values()),
                "reference": members[labels[0]],
                **({"copy": members[copy]} if copy else {}),
                "family": compared if load == "closed" else compared * rates,
            }
        )
    for by_load in (configured[label] for label in configured if label == "none"):
        for entry in by_load.values():
            ranking_id = f"ranking-{len(rankings) + 1}"
            rankings.append({"id": ranking_id, "members": [hash_of(entry)], "family": 0})
    return rankings


def curve_campaign(  # long: the parameters are what a test varies
    targets: Mapping[str, CurveTarget] = TARGETS,
    rates: Sequence[int] = RATES,
    rounds: int = ROUNDS,
    *,
    copies: Mapping[str, str] | None = None,
    saturation: bool = True,
    cv: float = 0.02,
    seed: int = 1,
    **configured_changes: Any,
) -> tuple[Document, list[Document]]:
    """The manifest and the results. The first target is the reference."""
    rng = np.random.default_rng(seed)
    copies = copies or {}
    loads: dict[str, Document] = {str(rate): open_load(rate) for rate in rates}
    if saturation:
        loads["closed"] = {"model": "closed", "connections": 50}
    configured = {
        label: {
            name: configuration(
                label, load=load, extent={"duration_s": SLICE_S}, **configured_changes
            )
            for name, load in loads.items()
        }
        for label in targets
    }
    entries = []
    results = []
    for number in range(1, rounds + 1):
        for label, cost in targets.items():
            for name, entry in configured[label].items():
                rate = cost.most_per_second if name == "closed" else int(name)
                factor = math.exp(cv * rng.standard_normal())
                key = hash_of(entry)
                file = f"{key}_run{number}.json"
                entries.append(
                    {
                        "configuration_hash": key,
                        "run": number,
                        "file": file,
                        "round": number,
                        "group": 1,
                    }
                )
                results.append(curve_run(entry, number, rate, cost, factor, len(targets)))
    document = manifest([entry for by_load in configured.values() for entry in by_load.values()])
    document["plan"] |= {
        "order": "turns",
        "runs_per_configuration": rounds,
        "runs": entries,
        "rankings": _rankings(configured, copies),
        "load_curve": {"rates": list(rates), "saturation": saturation},
    }
    return document, results
