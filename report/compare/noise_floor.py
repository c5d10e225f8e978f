"""The floor of a comparison: a difference counts only beyond it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.compare.comparability import machine_differences, other_machine
from report.statistics.noise import floor_from_spread, runs_for_floor

NOISE_FOLDER = "noise"
NOISE_SCHEMA = "ratelimit-bench/noise"
NOISE_SCHEMA_VERSION = 1


#: If chance alone moves a figure by this share, a target that became half as fast would not be noticed: such
#: runs are not compared.
MAX_NOISE = 0.5

#: What a noise floor should be for a comparison across campaigns to be of use.
_USEFUL = 0.1

#: More runs per side than this are no useful advice.
_MAX_RUNS = 200


@dataclass(frozen=True, slots=True)
class Floor:
    """`share` of the base, 0.02 is ± 2 %; `text` names its source."""

    share: float
    text: str
    unsteady: str = ""
    """Why nothing can be compared, and what would help; empty where it can."""


def percent_text(share: float) -> str:
    """`2 %`, `0.51 %`, `more than 100 %`: never with an exponent."""
    if share > 1:
        return "more than 100 %"
    percent = 100 * share
    return f"{percent:.3g} %" if percent >= 0.001 else "0 %"


def measured_noise(
    root: Path, machine: dict[str, Any] | None, runtime: str, metric: str
) -> tuple[float, str] | None:
    """The newest noise floor that was measured on this machine in this runtime, and where.

    Files that are not such results are passed over: they cannot make a floor, and another one is taken.
    """
    if machine is None:
        return None
    found: list[tuple[str, float, str]] = []
    for path in sorted((root / NOISE_FOLDER).glob("*.json")):
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            if (document["schema"], document["schema_version"]) != (NOISE_SCHEMA, NOISE_SCHEMA_VERSION):
                continue
            there = document["machine"]
            if other_machine(there, machine) or machine_differences(there, machine):
                continue
            if document["runtime"] == runtime:
                floor = float(document["metrics"][metric]["noise_floor"])
                found.append((document["measured_at"], floor, document["campaign"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
    if not found:
        return None
    _, floor, campaign = max(found)
    return floor, campaign


def floor_of(
    requested: float,
    drift_excluded: bool,
    noise: tuple[float, str] | None,
    pairs: Sequence[tuple[Sequence[float], Sequence[float]]],
) -> Floor:
    """The requested floor; across campaigns, the larger of it and the host's noise.

    Args:
        requested: a share.
        drift_excluded: both sides are of one interleaved campaign.
        noise: measured on this host, with the name of the campaign; else the spread of the runs is used.
        pairs: all that is compared; the noisiest counts.
    """
    if drift_excluded:
        return Floor(requested, f"±{percent_text(requested)}")
    by_spread, runs = _by_spread(pairs)
    if noise:
        share, source = noise[0], f"measured in campaign {noise[1]}"
    elif by_spread is not None:
        share, source = by_spread, "by the spread of these runs, as no `noise` was measured here"
    else:
        return Floor(requested, f"±{percent_text(requested)} (noise of this host: not known)")
    if share > requested and share >= MAX_NOISE:
        return Floor(share, "", _unsteady(noise, runs))
    larger = max(requested, share)
    if larger == requested:
        return Floor(
            requested, f"±{percent_text(requested)} (noise of this host: ±{percent_text(share)}, {source})"
        )
    return Floor(share, f"the noise of this host (±{percent_text(share)}, {source})")


def _by_spread(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> tuple[float | None, int]:
    """The noise of the noisiest pair, and how many runs per side make it useful; None: unknown spread."""
    measured = [(new, base) for new, base in pairs if new and base]
    shares = [found for new, base in measured if (found := floor_from_spread(new, base)) is not None]
    runs = [found for new, base in measured if (found := runs_for_floor(new, base, _USEFUL)) is not None]
    return max(shares, default=None), max(runs, default=0)


def _unsteady(noise: tuple[float, str] | None, runs: int) -> str:
    """Why these runs are not compared, and what would help."""
    if noise:
        why = f"chance alone moves a figure by half and more (`noise` in campaign {noise[1]})"
        more = "measure `noise` again then"
    elif runs <= _MAX_RUNS:
        why = "chance alone moves a figure by half and more"
        more = f"about {runs} such runs per side would bring that down to {percent_text(_USEFUL)}"
    else:
        why = "chance alone moves a figure by half and more"
        more = "more runs like these would not do"
    return (
        f"these runs are too unsteady to compare: {why}. What helps: stop other work on this machine, or "
        f"measure both sides in one campaign; {more}"
    )
