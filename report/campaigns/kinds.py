"""Tells from its plan what a campaign is for."""

from collections.abc import Mapping
from typing import Any

BENCHMARK = "benchmark"
FAULTS = "campaign of faults"
MEMORY = "campaign of memory per key"
RATE_SEARCH = "search for the highest rate"
INSTRUMENTS = "campaign with instruments"
KINDS = (BENCHMARK, FAULTS, MEMORY, RATE_SEARCH, INSTRUMENTS)


def campaign_kind(manifest: Mapping[str, Any]) -> str:
    """One of `KINDS`. Only a benchmark compares targets under a load, so a front page may show no
    other kind."""
    plan = manifest["plan"]
    configurations = [planned["configuration"] for planned in plan["configurations"]]

    if "max_rate" in plan:
        return RATE_SEARCH
    if any(configuration.get("faults") for configuration in configurations):
        return FAULTS
    if all("requests" in configuration["extent"] for configuration in configurations):
        return MEMORY
    if all(run.get("diagnose") for run in plan["runs"]):
        return INSTRUMENTS
    return BENCHMARK
