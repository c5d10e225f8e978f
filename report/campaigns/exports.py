"""The comparison of campaigns for programs and for comments: compare.json and compare.md."""

import json
from collections.abc import Sequence

from report.base.markdown import code, prose, within
from report.campaigns.campaign_record import CampaignRecord, store_notices
from report.campaigns.pages import DRIFT
from report.campaigns.records import Record, published
from report.campaigns.tables import sections
from report.export.section_markdown import section_blocks
from report.export.summary_markdown import MAX_BYTES
from report.results.model import Excluded


def compare_json(
    campaigns: Sequence[CampaignRecord],
    records: Sequence[Record],
    baseline: str | None,
    excluded: Sequence[tuple[str, Excluded]],
) -> str:
    document = {
        "schema": "ratelimit-bench/compare",
        "schema_version": 1,
        "baseline": baseline,
        "campaigns": [
            {
                "name": campaign.name,
                "started_at": campaign.started_at,
                "status": campaign.status,
                "place": dict(campaign.environment),
                "software": dict(campaign.software),
                "runs": campaign.runs,
                "valid_runs": campaign.valid_runs,
            }
            for campaign in campaigns
        ],
        "notices": list(store_notices(campaigns)),
        "excluded": [
            {"campaign": campaign, "file": entry.file, "text": entry.text} for campaign, entry in excluded
        ],
        "rows": published(records),
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def compare_markdown(
    campaigns: Sequence[CampaignRecord],
    records: Sequence[Record],
    baseline: str | None,
    excluded: Sequence[tuple[str, Excluded]],
) -> str:
    blocks = [
        ["## Campaigns side by side"],
        [DRIFT],
        *([prose(text)] for text in store_notices(campaigns)),
        *([[f"Baseline: {code(baseline)}."]] if baseline else []),
        *(
            [[f"- Excluded: {code(campaign)}, {prose(entry)}" for campaign, entry in excluded]]
            if excluded
            else []
        ),
        *(block for each in sections(campaigns, records, baseline) for block in section_blocks(each)),
    ]
    return within(blocks, MAX_BYTES, "More was left out here: compare.csv holds every row.")
