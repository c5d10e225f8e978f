"""The host's speed over the campaign, and what ratios are without its part."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from report.analysis.adjusted import AdjustedPair
from report.analysis.campaign_analysis import Analysis
from report.analysis.comparison_text import interval_of, interval_text, name
from report.analysis.host_speed import MAX_OFF, CampaignHostSpeed
from report.analysis.load_text import load_text
from report.base.format import ABSENT, decimals, percent, plural, ratio
from report.results.model import Campaign
from report.statistics.adjusted import MIN_ROUNDS, Refused


def _range(found: CampaignHostSpeed) -> str:
    return f"{ratio(found.slowest)} to {ratio(found.fastest)} of its median"


def drift_text(found: CampaignHostSpeed | None, host: str = "this host") -> str:
    """A sentence about a host that changes throughout; empty about any other."""
    if found is None or not found.drifts:
        return ""
    return (
        f"The speed of {host} changed throughout the campaign, from {_range(found)}: beside {found.off} "
        f"of {plural(found.runs, 'run')} it was more than {percent(100 * MAX_OFF, 0)} off. More rounds "
        "average that out, fewer programs on the machine prevent it."
    )


def host_speed_facts(campaign: Campaign, found: CampaignHostSpeed | None) -> list[tuple[str, str]]:
    """What the probe measured, and its version; nothing where it did not run."""
    if found is None:
        return []
    probe = campaign.manifest.get("host_speed") if campaign.manifest else None
    return [("Speed of the host", _speed_text(found, probe))]


def machine_speed_facts(campaign: Campaign, found: Mapping[str, CampaignHostSpeed]) -> list[tuple[str, str]]:
    """The same of each of several machines."""
    probes = {each["name"]: each.get("host_speed") for each in (campaign.manifest or {}).get("machines", [])}
    return [(f"Speed of {name}", _speed_text(speed, probes.get(name))) for name, speed in found.items()]


def _speed_text(found: CampaignHostSpeed, probe: Mapping[str, Any] | None) -> str:
    how = f", by {probe['clock']}, probe {probe['version']}" if probe else ""
    return (
        f"{decimals(found.integer_us / 1000, 2)} ms for the integer loop in the median of "
        f"{plural(found.runs, 'run')}, {_range(found)}{how}"
    )


@dataclass(frozen=True, slots=True)
class AdjustedRow:
    """One comparison, plain and adjusted."""

    ids: str
    """Of its two rows, with a space between."""
    rows: str
    """`ioredis ÷ iovalkey`."""
    load: str
    plain: str
    adjusted: str
    explained: str
    """Of the variance between rounds."""
    note: str


def _row(entry: AdjustedPair) -> AdjustedRow:
    pair, found = entry.pair, entry.found
    if isinstance(found, Refused):
        adjusted, explained, note = ABSENT, ABSENT, f"Refused: {found.reason}."
    else:
        adjusted = f"{ratio(found.ratio)}, {interval_text(found.interval)}"
        explained, note = percent(100 * found.explained, 0), plural(found.rounds, "round")
    return AdjustedRow(
        ids=f"{pair.base.id} {pair.new.id}",
        rows=f"{name(pair.new)} ÷ {name(pair.base)}",
        load=load_text(pair.new.identity),
        plain=interval_of(pair.comparison) or ABSENT,
        adjusted=adjusted,
        explained=explained,
        note=note,
    )


def adjusted_rows(analysis: Analysis) -> tuple[AdjustedRow, ...]:
    """Each compared row with its reference; nothing where no pair has enough rounds."""
    if not any(_has_rounds(entry) for entry in analysis.adjusted):
        return ()
    return tuple(map(_row, analysis.adjusted))


def _has_rounds(entry: AdjustedPair) -> bool:
    return not (isinstance(entry.found, Refused) and f"at least {MIN_ROUNDS} rounds" in entry.found.reason)
