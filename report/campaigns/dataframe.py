"""All rows of all campaigns as one long table, with the columns that only several campaigns can have."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from report.analysis.figures import FIGURES, throughput
from report.analysis.load_text import load_text
from report.base.csv_text import csv_text
from report.campaigns.campaign_record import CampaignRecord, CampaignRow, Facts
from report.export.csv_figures import FIRST_DIMENSIONS, LATER_DIMENSIONS
from report.statistics.decision import compare_runs

#: What must be equal for two figures to stand side by side.
COMPARABLE = ["group", "key", "versions"]
#: What must be equal for two figures to be of one history: versions may change, and are marked.
HISTORY = ["place", "key"]


#: Columns that stand at the end: what reads the others by place goes on working.
_LAST = (
    "layer",
    *FIRST_DIMENSIONS,
    "calls_per_request",
    "descriptors_per_call",
    "served_runs",
    "spoiled_runs",
    *LATER_DIMENSIONS,
)


def versions_text(row: CampaignRow) -> str:
    """`client 0.4.0, limiter 11.4.0, store 9.1.2`."""
    return ", ".join(f"{part} {version}" for part, version in row.versions.items())


def _numbers(facts: Sequence[Any]) -> dict[Any, int]:
    """Equal ones have one number, from 1 on, in order of appearance."""
    return {each: number for number, each in enumerate(dict.fromkeys(facts), start=1)}


def group_numbers(campaigns: Sequence[CampaignRecord]) -> dict[tuple[Facts, Facts], int]:
    """One number for each machine, runtime and software together."""
    return _numbers([(campaign.environment, campaign.software) for campaign in campaigns])


#: The column with the row itself: for ratios, and dropped once they are made.
_ROW = "row"


def _ratio(name: str, new: CampaignRow, base: CampaignRow) -> float | None:
    """The one estimate of a ratio (rule M28), through their common reference where they have one (rule M22);
    None below two runs, or rounds, per side."""
    thing = next((each for each in base.ratios if each in new.ratios), None)
    sides = [row.values if thing is None else row.ratios[thing] for row in (new, base)]
    return compare_runs(sides[0][name], sides[1][name]).ratio


def _highest_to_lowest(rows: pd.DataFrame) -> float | None:
    """Of what is alike, the campaign with the highest median throughput to that with the lowest; None if the
    lowest failed its load."""
    ranked = rows["requests_per_second"].astype(float)
    ranked = ranked.mask(ranked.isna() & (rows["spoiled_runs"] > 0), throughput.worst).dropna()
    measured = rows.loc[ranked.sort_values(kind="stable").index]
    if len(measured) < 2:
        return None
    return _ratio("requests_per_second", measured[_ROW].iloc[-1], measured[_ROW].iloc[0])


def _record(campaign: CampaignRecord, row: CampaignRow, environment: int, group: int) -> dict[str, Any]:
    identity, spread = row.identity, row.spread
    return {
        "campaign": campaign.name,
        "started_at": campaign.started_at,
        "place": environment,
        "group": group,
        "key": identity.key,
        "configuration_hash": identity.configuration_hash,
        "label": identity.label,
        "store": identity.store,
        "topology": identity.topology,
        "workload": identity.workload,
        "traffic": identity.traffic,
        "load": load_text(identity),
        "control": identity.control,
        "valid_runs": row.valid_runs,
        "planned_runs": row.planned_runs,
        "verdict": row.verdict,
        "requests_per_second": row.requests_per_second,
        "requests_per_second_min": spread.min if spread else None,
        "requests_per_second_max": spread.max if spread else None,
        "requests_per_second_cv_percent": spread.cv_percent if spread else None,
        "latency_p50_ms": row.p50_ms,
        "latency_p99_ms": row.p99_ms,
        "latency_p99_supported": row.p99_supported,
        "server_cpu_us_per_request": row.server_cpu_us,
        "versions": versions_text(row),
        "software": ", ".join(f"{name} {version}" for name, version in campaign.software),
        "hole": row.no_figures_reason,
        "layer": identity.layer,
        **identity.counts,
        "calls_per_request": row.calls_per_request,
        "descriptors_per_call": row.descriptors_per_call,
        "served_runs": row.served_runs,
        "spoiled_runs": row.spoiled_runs,
        _ROW: row,
    }


def dataframe_of(campaigns: Sequence[CampaignRecord], baseline: str | None) -> pd.DataFrame:
    """One line per campaign and configuration, histories together and in order of time.

    Args:
        campaigns: in order of time.
        baseline: name of the campaign that `…_to_baseline` is relative to, where one is asked for.
    Returns:
        Besides what each campaign says: `highest_to_lowest`, of the throughput of all that is alike;
        `versions_changed`, whether software or versions differ from the campaign before in the history; and
        the ratios to the baseline, absent where it has no figure that is alike.
    """
    groups, environments = (
        group_numbers(campaigns),
        _numbers([campaign.environment for campaign in campaigns]),
    )
    records = [
        _record(
            campaign, row, environments[campaign.environment], groups[campaign.environment, campaign.software]
        )
        for campaign in campaigns
        for row in campaign.rows
    ]
    dataframe = pd.DataFrame.from_records(records)
    if dataframe.empty:
        return dataframe
    spreads = {key: _highest_to_lowest(rows) for key, rows in dataframe.groupby(COMPARABLE, sort=False)}
    alike = [tuple(key) for key in dataframe[COMPARABLE].itertuples(index=False, name=None)]
    dataframe["highest_to_lowest"] = pd.Series(
        [spreads[key] for key in alike], dtype=float, index=dataframe.index
    )
    dataframe["history"] = dataframe.groupby(HISTORY, sort=False).ngroup()
    dataframe = dataframe.sort_values("history", kind="stable", ignore_index=True)
    seen = dataframe["software"] + "; " + dataframe["versions"]
    before = seen.groupby(dataframe["history"]).shift()
    dataframe["versions_changed"] = before.notna() & (before != seen)
    if baseline is not None:
        alike = [tuple(key) for key in dataframe[COMPARABLE].itertuples(index=False, name=None)]
        rows = list(dataframe[_ROW])
        base = {
            key: row
            for key, campaign, row in zip(alike, dataframe["campaign"], rows, strict=True)
            if campaign == baseline
        }
        for name in FIGURES:
            ratios = [
                _ratio(name, new, base[key]) if key in base else None
                for key, new in zip(alike, rows, strict=True)
            ]
            dataframe[f"{name}_to_baseline"] = pd.Series(ratios, dtype=float, index=dataframe.index)
    names = [name for name in dataframe.columns if name not in (_ROW, *_LAST)]
    return dataframe[[*names, *_LAST]]


_DIGITS = {
    "requests_per_second": 2,
    "requests_per_second_min": 2,
    "requests_per_second_max": 2,
    "requests_per_second_cv_percent": 2,
    "latency_p50_ms": 3,
    "latency_p99_ms": 3,
    "server_cpu_us_per_request": 3,
    "highest_to_lowest": 4,
    "calls_per_request": 3,
    "descriptors_per_call": 3,
    **{f"{name}_to_baseline": 6 for name in FIGURES},
}


def _cell(name: str, value: Any) -> str | None:
    if pd.isna(value):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.{_DIGITS[name]}f}" if name in _DIGITS else str(value)


def dataframe_csv(dataframe: pd.DataFrame) -> str:
    """compare.csv: the dataframe, what is absent as an empty cell."""
    names = [name for name in dataframe.columns if name not in ("key", "history")]
    rows = dataframe[names].itertuples(index=False, name=None)
    return csv_text(
        names, ([_cell(name, value) for name, value in zip(names, row, strict=True)] for row in rows)
    )
