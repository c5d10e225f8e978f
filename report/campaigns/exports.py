"""The comparison of campaigns for programs and for comments: compare.json and compare.md."""

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd

from report.base.markdown import code, prose, table, within
from report.campaigns.campaign_record import CampaignRecord, store_notices
from report.campaigns.pages import DRIFT
from report.campaigns.tables import CampaignTable, Section, sections
from report.export.summary_markdown import MAX_BYTES
from report.results.model import Excluded


def _plain(value: Any) -> Any:
    """Absent figures as null; numpy's numbers and booleans as Python's."""
    if pd.isna(value):
        return None
    return value.item() if hasattr(value, "item") else value


def compare_json(
    campaigns: Sequence[CampaignRecord],
    dataframe: pd.DataFrame,
    baseline: str | None,
    excluded: Sequence[tuple[str, Excluded]],
) -> str:
    """compare.json; its shape is `schemas/compare.schema.json`."""
    rows = [
        {str(name): _plain(value) for name, value in record.items() if name not in ("key", "history")}
        for record in dataframe.to_dict("records")
    ]
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
        "rows": rows,
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _table(side: CampaignTable) -> list[str]:
    columns = [f"{code(name) if name else ''} {prose(below)}".strip() for name, below in side.columns]
    rows = [
        [*(code(text) for text in headers), *(prose(cell.text) for cell in cells)]
        for headers, cells in side.rows
    ]
    headers = ("Client", "Topology", "Load", "Versions", *columns)
    return [f"#### {prose(side.title)}", "", *table(headers, rows, 4)]


def _blocks(section: Section) -> list[list[str]]:
    facts = ", ".join(f"{name} {text}" for name, text in section.facts)
    return [
        [f"### {prose(section.title)}", "", prose(facts)],
        *([[prose(section.no_ratio)]] if section.no_ratio else []),
        *(_table(side) for side in section.tables if side.metric != "cpu"),
    ]


def compare_markdown(
    campaigns: Sequence[CampaignRecord],
    dataframe: pd.DataFrame,
    baseline: str | None,
    excluded: Sequence[tuple[str, Excluded]],
) -> str:
    """compare.md: throughput and p99 side by side, at most 60 kB."""
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
        *(block for section in sections(campaigns, dataframe, baseline) for block in _blocks(section)),
    ]
    return within(blocks, MAX_BYTES, "More was left out here: compare.csv holds every row.")
