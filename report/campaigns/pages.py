"""The pages over several campaigns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from report.base.paths import STATIC
from report.campaigns.campaign_record import CampaignRecord, store_notices
from report.campaigns.history import History, histories
from report.campaigns.records import Record
from report.campaigns.tables import sections
from report.html.template import render_template
from report.results.model import Excluded

STYLES = (STATIC / "campaigns.css",)
_SECTION_STYLES = (*STYLES, STATIC / "report.css")

DRIFT = (
    "These campaigns ran one after the other, not interleaved. What changed on the machine between them "
    "(temperature, other programs, updates) looks like a change of the software, so no ratio here has an "
    "interval or a verdict. To show a difference, measure "
    "both sides in one campaign."
)


@dataclass(frozen=True, slots=True)
class ListedCampaign:
    record: CampaignRecord
    environment: Mapping[str, str]
    links: Mapping[str, str]
    """Addresses of what its own report holds, by name."""


def _links(campaign: CampaignRecord) -> dict[str, str]:
    """Addresses of what a campaign's own report holds, relative to the folder of the report on several."""
    report = campaign.folder / "report"
    base = f"../{quote(campaign.folder.name)}/report"
    names = ("index.html", "summary.csv", "runs.csv", "summary.md", "summary.json")
    return {name: f"{base}/{name}" for name in names if (report / name).is_file()}


def compare_page(
    campaigns: Sequence[CampaignRecord],
    records: Sequence[Record],
    baseline: str | None,
    excluded: Sequence[tuple[str, Excluded]],
    trends: bool,
) -> str:
    """compare.html: campaigns side by side."""
    return render_template(
        "compare.html.j2",
        styles=_SECTION_STYLES,
        sections=sections(campaigns, records, baseline),
        row_colours={},
        charts={},
        campaigns=campaigns,
        baseline=baseline,
        excluded=excluded,
        drift=DRIFT,
        stores=store_notices(campaigns),
        by_hand=sum(campaign.by_hand for campaign in campaigns),
        trends=trends,
    )


def trends_page(
    campaigns: Sequence[CampaignRecord], records: Sequence[Record], excluded: Sequence[tuple[str, Excluded]]
) -> str:
    found, left_out = histories(records)
    environments = list(dict.fromkeys(campaign.environment for campaign in campaigns))
    by_environment: dict[int, list[History]] = {}
    for history in found:
        by_environment.setdefault(history.place, []).append(history)
    parts = [
        (number, environments[number - 1], members) for number, members in sorted(by_environment.items())
    ]
    return render_template(
        "trends.html.j2",
        styles=STYLES,
        parts=parts,
        left_out=left_out,
        count=len(found) + left_out,
        campaigns=campaigns,
        excluded=excluded,
        drift=DRIFT,
    )


def index_page(
    campaigns: Sequence[CampaignRecord],
    empty: Sequence[Path],
    excluded: Sequence[tuple[str, Excluded]],
    trends: bool,
) -> str:
    return render_template(
        "campaigns.html.j2",
        styles=STYLES,
        listed=[
            ListedCampaign(campaign, dict(campaign.environment), _links(campaign))
            for campaign in reversed(campaigns)
        ],
        empty=[path.name for path in empty],
        excluded=excluded,
        trends=trends,
    )
