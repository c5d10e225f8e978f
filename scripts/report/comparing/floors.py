"""The floor of a comparison: what a difference has to lie beyond."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..stats import floor_from_spread

NOISE_FOLDER = "noise"
NOISE_SCHEMA = "ratelimit-bench/noise"
NOISE_SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Floor:
    """`share` of the base, 0.02 is ± 2 %; `text` says where it comes from."""

    share: float
    text: str


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
            if document["machine"] == machine and document["runtime"] == runtime:
                floor = float(document["metrics"][metric]["noise_floor"])
                found.append((document["measured_at"], floor, document["campaign"]))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    if not found:
        return None
    _, floor, campaign = max(found)
    return floor, campaign


def floor_of(
    asked: float,
    drift_excluded: bool,
    noise: tuple[float, str] | None,
    pairs: Sequence[tuple[Sequence[float], Sequence[float]]],
) -> Floor:
    """What was asked for; across campaigns, the larger of that and the host's noise.

    Args:
        asked: a share.
        drift_excluded: both sides are of one interleaved campaign.
        noise: measured on this host, with the name of the campaign; else the spread of the runs tells it.
        pairs: all that is compared; the noisiest counts.
    """
    if drift_excluded:
        return Floor(asked, f"±{100 * asked:.3g} %")
    if noise:
        share, source = noise[0], f"measured in campaign {noise[1]}"
    else:
        spreads = [found for new, base in pairs if new and base and (found := floor_from_spread(new, base))]
        share, source = max(spreads, default=0.0), "by the spread of these runs: no `noise` was measured here"
    larger = max(asked, share)
    which = "the noise floor of this host is smaller" if larger == asked else "the noise floor of this host"
    return Floor(larger, f"±{100 * larger:.3g} % ({which}: ±{100 * share:.3g} %, {source})")
