"""Reduces a campaign to what is compared with other campaigns, so that many fit into memory, and
decides which campaigns share a place and a table."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from report.analysis.machines import is_key_property, key_properties
from report.analysis.row_order import row_order
from report.analysis.summary import Summary
from report.base.errors import one_line
from report.campaigns.rows import CampaignRow, PlacedRow, campaign_row
from report.compare.comparability import PART_NAMES
from report.results.model import Campaign, Excluded
from report.sections.environment import machine_properties

Properties = tuple[tuple[str, str], ...]
"""Names and texts, e.g. `CPU` and its model."""

#: The versions that all rows of a campaign share. Those of client, limiter and store belong to a
#: row.
_SHARED_VERSIONS = {
    part: PART_NAMES.get(part, part) for part in ("node", "fastify", "autocannon", "harness")
}

#: How the names of the settings begin that say, besides the machine, where a campaign ran.
#: Campaigns are never kept apart by what is measured, dated or random.
_SETTINGS = ("Runtime", "Engine", "Cap of ", "Load generator")


class CampaignRecord(Struct, frozen=True, kw_only=True):
    """A campaign without its runs."""

    name: str
    """The name of its folder, which is unique among the campaigns of one report."""
    campaign: str
    """The name in its manifest."""
    folder: Path
    started_at: str
    status: str
    environment: Properties
    """Its machine and runtime."""
    software: Properties
    """The versions that all its rows share."""
    rows: tuple[CampaignRow, ...]
    runs: int
    valid_runs: int
    counted_runs: int
    """Runs that are valid or suspect, and those in which the target failed its load."""
    by_hand: int
    """The number of rows without a configuration hash, which match no row of another campaign."""
    unranked: int
    """The number of configurations that no table of speed has, because they have faults or are
    those of load programs."""
    excluded: tuple[Excluded, ...]

    @property
    def order(self) -> tuple[str, str]:
        return (self.started_at, self.name)

    @property
    def runtime(self) -> str:
        """The runtime without its version and caps."""
        return dict(self.environment).get("Runtime", "runtime not known").split(",")[0]


def _versions(summaries: Iterable[Summary]) -> dict[str, str]:
    """The versions of each part, separated by commas where there are several."""
    parts_and_versions = {
        item for summary in summaries for run in summary.runs for item in run.versions.items()
    }

    by_part: dict[str, list[str]] = {}
    for part, version in sorted(parts_and_versions):
        by_part.setdefault(part, []).append(version)
    return {part: ", ".join(versions) for part, versions in by_part.items()}


def _environment(campaign: Campaign, summaries: Sequence[Summary]) -> Properties:
    """The properties by which the machine and runtime of campaigns differ.

    Nothing is known of the machine without a manifest, so such a campaign is comparable with no
    other."""
    if campaign.manifest is None:
        runtimes = ", ".join(sorted({summary.runtime for summary in summaries if summary.runtime}))
        return (
            ("Machine", f"not known ({campaign.name})"),
            *([("Runtime", runtimes)] if runtimes else []),
        )

    settings = [
        (name, text)
        for name, text in machine_properties(campaign, summaries)
        if name.startswith(_SETTINGS)
    ]
    return (*key_properties(campaign), *settings)


def _row(
    summary: Summary, summaries: Sequence[Summary], manifest: Mapping[str, Any]
) -> CampaignRow:
    versions = _versions([summary])
    store = manifest["stores"].get(summary.identity.store_program, {})
    if "store" in versions and store.get("embedded"):
        # The embedded store is another build of the same version.
        versions["store"] += " embedded"

    parts = ("client", "limiter", "store")
    row_versions = {str(part): versions[part] for part in parts if part in versions}
    return campaign_row(summary, summaries, row_versions)


def record_of(campaign: Campaign, summaries: Sequence[Summary], folder: Path) -> CampaignRecord:
    versions = _versions(summaries)
    manifest = campaign.manifest
    hashed = [summary for summary in summaries if summary.identity.configuration_hash]
    hashed.sort(key=lambda row: row_order(row.identity))
    unranked = [run for run in campaign.counted if not run.identity.ranked]
    started_at = (
        manifest["started_at"]
        if manifest
        else min(run.record.started_at for run in (*campaign.counted, *campaign.beside))
    )
    return CampaignRecord(
        name=one_line(folder.name),
        campaign=campaign.name,
        folder=folder,
        started_at=started_at,
        status=manifest["status"] if manifest else "no manifest",
        environment=_environment(campaign, summaries),
        software=tuple(
            (name, versions[part]) for part, name in _SHARED_VERSIONS.items() if part in versions
        ),
        rows=tuple(_row(summary, summaries, manifest or {"stores": {}}) for summary in hashed),
        runs=len(campaign.counted),
        valid_runs=sum(summary.valid_runs for summary in summaries)
        + sum(run.verdict == "valid" and run.failure is None for run in unranked),
        counted_runs=sum(summary.counted_runs for summary in summaries)
        + sum(run.verdict != "invalid" and run.failure is None for run in unranked),
        by_hand=len(summaries) - len(hashed),
        unranked=len({run.identity.key for run in unranked}),
        excluded=campaign.excluded,
    )


def differences(ours: Iterable[tuple[str, str]], theirs: Iterable[tuple[str, str]]) -> str:
    """How two environments differ: `CPU: A, there B`."""
    left = dict(ours)
    right = dict(theirs)
    return "; ".join(
        f"{name}: {left.get(name, 'not known')}, there {right.get(name, 'not known')}"
        for name in dict.fromkeys([*left, *right])
        if _differs(name, left, right)
    )


def _differs(name: str, left: Mapping[str, str], right: Mapping[str, str]) -> bool:
    """Older campaigns have fewer properties of their machine on record, so a property that only one
    side knows is no difference."""
    if is_key_property(name) and not (name in left and name in right):
        return False
    return left.get(name) != right.get(name)


def place_numbers(campaigns: Sequence[CampaignRecord]) -> dict[str, int]:
    """The number of the place of each campaign by name. It is that of the first place from which no
    property on record differs."""
    places: list[dict[str, str]] = []
    numbers = {}
    for campaign in campaigns:
        properties = dict(campaign.environment)
        place_differences = [differences(place.items(), properties.items()) for place in places]
        is_new = "" not in place_differences
        number = len(places) if is_new else place_differences.index("")

        if is_new:
            places.append({})
        places[number] |= properties
        numbers[campaign.name] = number + 1
    return numbers


def group_numbers(campaigns: Sequence[CampaignRecord]) -> dict[str, int]:
    """The number of the group of each campaign by name. Campaigns of a group ran in one place with
    the same software, so they may share a table."""
    places = place_numbers(campaigns)
    keys = [(places[campaign.name], campaign.software) for campaign in campaigns]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys), start=1)}
    return {campaign.name: numbers[key] for campaign, key in zip(campaigns, keys, strict=True)}


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
