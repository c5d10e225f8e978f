"""A campaign reduced to what is compared with others, so that many fit into memory; which of them
share a place and a table."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from report.analysis.machines import is_key_fact, key_facts
from report.analysis.summary import Summary, row_order
from report.base.errors import one_line
from report.campaigns.rows import CampaignRow, PlacedRow, campaign_row
from report.compare.comparability import PART_NAMES
from report.results.model import Campaign, Excluded
from report.sections.environment import machine_facts

Facts = tuple[tuple[str, str], ...]

#: What all rows of a campaign share; client, limiter and store are versions of a row.
_SHARED_VERSIONS = {
    part: PART_NAMES.get(part, part) for part in ("node", "fastify", "autocannon", "harness")
}

#: Beginnings of the facts that say where a campaign ran, besides its machine: they are settings.
#: What is measured, dated or random never parts campaigns.
_SETTINGS = ("Runtime", "Engine", "Cap of ", "Load generator")


class CampaignRecord(Struct, frozen=True, kw_only=True):
    """`environment` is machine and runtime, `software` what all rows share, each as names and
    texts."""

    name: str
    """Of its folder: no two beside each other share it."""
    campaign: str
    folder: Path
    started_at: str
    status: str
    environment: Facts
    software: Facts
    rows: tuple[CampaignRow, ...]
    runs: int
    valid_runs: int
    counted_runs: int
    """Valid and suspect ones, and those in which the target failed its load."""
    by_hand: int
    """Rows without a configuration's hash: they cannot be matched with any other."""
    unranked: int
    """Configurations that are in no table of speed: with faults, and of foreign programs."""
    excluded: tuple[Excluded, ...]

    @property
    def order(self) -> tuple[str, str]:
        return (self.started_at, self.name)

    @property
    def runtime(self) -> str:
        """Without its version and caps."""
        return dict(self.environment).get("Runtime", "runtime not known").split(",")[0]


def _versions(summaries: Iterable[Summary]) -> dict[str, str]:
    """Several of one part with a comma between."""
    seen = {item for summary in summaries for run in summary.runs for item in run.versions.items()}
    by_part: dict[str, list[str]] = {}
    for part, version in sorted(seen):
        by_part.setdefault(part, []).append(version)
    return {part: ", ".join(versions) for part, versions in by_part.items()}


def _environment(campaign: Campaign, summaries: Sequence[Summary]) -> Facts:
    """What tells machines and runtime from others. Without a manifest nothing is known of the
    machine: such a campaign is like no other."""
    if campaign.manifest is None:
        runtimes = ", ".join(sorted({summary.runtime for summary in summaries if summary.runtime}))
        return (
            ("Machine", f"not known ({campaign.name})"),
            *([("Runtime", runtimes)] if runtimes else []),
        )
    settings = (
        fact for fact in machine_facts(campaign, summaries) if fact[0].startswith(_SETTINGS)
    )
    return (*key_facts(campaign), *settings)


def _row(summary: Summary, every: Sequence[Summary], manifest: Mapping[str, Any]) -> CampaignRow:
    seen = _versions([summary])
    if "store" in seen and manifest["stores"].get(summary.identity.store_program, {}).get(
        "embedded"
    ):
        # Another build of the same version.
        seen["store"] += " embedded"
    parts = ("client", "limiter", "store")
    return campaign_row(summary, every, {str(part): seen[part] for part in parts if part in seen})


def record_of(campaign: Campaign, summaries: Sequence[Summary], folder: Path) -> CampaignRecord:
    versions = _versions(summaries)
    manifest = campaign.manifest
    known = [summary for summary in summaries if summary.identity.configuration_hash]
    known.sort(key=lambda row: row_order(row.identity))
    unranked = [run for run in campaign.counted if not run.identity.ranked]
    every = (*campaign.counted, *campaign.beside)
    return CampaignRecord(
        name=one_line(folder.name),
        campaign=campaign.name,
        folder=folder,
        started_at=manifest["started_at"]
        if manifest
        else min(run.record.started_at for run in every),
        status=manifest["status"] if manifest else "no manifest",
        environment=_environment(campaign, summaries),
        software=tuple(
            (name, versions[part]) for part, name in _SHARED_VERSIONS.items() if part in versions
        ),
        rows=tuple(_row(summary, summaries, manifest or {"stores": {}}) for summary in known),
        runs=len(campaign.counted),
        valid_runs=sum(summary.valid_runs for summary in summaries)
        + sum(run.verdict == "valid" and run.failure is None for run in unranked),
        counted_runs=sum(summary.counted_runs for summary in summaries)
        + sum(run.verdict != "invalid" and run.failure is None for run in unranked),
        by_hand=len(summaries) - len(known),
        unranked=len({run.identity.key for run in unranked}),
        excluded=campaign.excluded,
    )


def differences(ours: Iterable[tuple[str, str]], theirs: Iterable[tuple[str, str]]) -> str:
    """How two environments differ: `CPU: A, there B`."""
    one = dict(ours)
    other = dict(theirs)
    return "; ".join(
        f"{name}: {one.get(name, 'not known')}, there {other.get(name, 'not known')}"
        for name in dict.fromkeys([*one, *other])
        if _differs(name, one, other)
    )


def _differs(name: str, one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Older campaigns have less of their machine on record: what one side does not know parts no
    two."""
    if is_key_fact(name) and not (name in one and name in other):
        return False
    return one.get(name) != other.get(name)


def place_numbers(campaigns: Sequence[CampaignRecord]) -> dict[str, int]:
    """Where each campaign ran, by its name: the first place that nothing on record parts it
    from."""
    places: list[dict[str, str]] = []
    numbers = {}
    for campaign in campaigns:
        facts = dict(campaign.environment)
        parted = [differences(place.items(), facts.items()) for place in places]
        number = parted.index("") if "" in parted else len(places)
        if number == len(places):
            places.append({})
        places[number] |= facts
        numbers[campaign.name] = number + 1
    return numbers


def group_numbers(campaigns: Sequence[CampaignRecord]) -> dict[str, int]:
    """What may share a table, by the campaign's name: one place, and the same software."""
    places = place_numbers(campaigns)
    alike = [(places[campaign.name], campaign.software) for campaign in campaigns]
    numbers = {shared: number for number, shared in enumerate(dict.fromkeys(alike), start=1)}
    return {
        campaign.name: numbers[shared] for campaign, shared in zip(campaigns, alike, strict=True)
    }


def placed_rows(campaigns: Sequence[CampaignRecord]) -> list[PlacedRow]:
    groups = group_numbers(campaigns)
    places = place_numbers(campaigns)
    return [
        PlacedRow(
            row=row,
            campaign=campaign.name,
            started_at=campaign.started_at,
            place=places[campaign.name],
            group=groups[campaign.name],
            software=", ".join(f"{name} {version}" for name, version in campaign.software),
            runtime=campaign.runtime,
        )
        for campaign in campaigns
        for row in campaign.rows
    ]
