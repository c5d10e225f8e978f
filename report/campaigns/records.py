"""All rows of all campaigns as one long table, with the columns that only several campaigns can have."""

from collections.abc import Iterable, Sequence
from typing import Any

from report.analysis.figures import FIGURES, throughput
from report.analysis.load_text import load_text
from report.base.csv_text import csv_text
from report.campaigns.campaign_record import CampaignRecord, CampaignRow, Facts
from report.export.tables_csv import LATER_DIMENSIONS
from report.statistics.decision import compare_runs

Record = dict[str, Any]
"""`key` and `history`, the number of what is of one history, are in no file."""

_INTERNAL = ("key", "history")


def versions_text(row: CampaignRow) -> str:
    return ", ".join(f"{part} {version}" for part, version in row.versions.items())


def _numbers(facts: Iterable[Any]) -> dict[Any, int]:
    return {each: number for number, each in enumerate(dict.fromkeys(facts), start=1)}


def group_numbers(campaigns: Sequence[CampaignRecord]) -> dict[tuple[Facts, Facts], int]:
    return _numbers((campaign.environment, campaign.software) for campaign in campaigns)


def _ratio(name: str, new: CampaignRow, base: CampaignRow) -> float | None:
    """The one estimate of a ratio (rule M28), through their common reference where they have one (rule M22);
    None below two runs, or rounds, per side."""
    thing = next((each for each in base.ratios if each in new.ratios), None)
    sides = [row.values if thing is None else row.ratios[thing] for row in (new, base)]
    return compare_runs(sides[0][name], sides[1][name]).ratio


def ranked(value: float | None, spoiled_runs: int) -> float | None:
    """A throughput as it is ranked: the worst where the target failed its load in the median run (M24)."""
    return throughput.worst if value is None and spoiled_runs else value


def _highest_to_lowest(rows: Sequence[CampaignRow]) -> float | None:
    """Of what is alike, the campaign with the highest median throughput to that with the lowest; None if the
    lowest failed its load."""
    known = [(ranked(row.requests_per_second, row.spoiled_runs), row) for row in rows]
    ordered = sorted([each for each in known if each[0] is not None], key=lambda each: each[0] or 0)
    return _ratio("requests_per_second", ordered[-1][1], ordered[0][1]) if len(ordered) > 1 else None


def records_of(campaigns: Sequence[CampaignRecord], baseline: str | None) -> list[Record]:
    """One for each campaign and configuration, histories together and in order of time."""
    groups, places = group_numbers(campaigns), _numbers(campaign.environment for campaign in campaigns)
    alike: dict[tuple[object, ...], list[CampaignRow]] = {}
    histories: dict[tuple[object, ...], list[tuple[CampaignRecord, CampaignRow]]] = {}
    base: dict[tuple[object, ...], CampaignRow] = {}

    def alike_key(campaign: CampaignRecord, row: CampaignRow) -> tuple[object, ...]:
        return (groups[campaign.environment, campaign.software], row.identity.key, versions_text(row))

    for campaign in campaigns:
        for row in campaign.rows:
            key = alike_key(campaign, row)
            alike.setdefault(key, []).append(row)
            # Versions may change in a history, and are marked.
            history = (places[campaign.environment], row.identity.key)
            histories.setdefault(history, []).append((campaign, row))
            if campaign.name == baseline:
                base[key] = row
    spreads = {key: _highest_to_lowest(rows) for key, rows in alike.items()}
    records: list[Record] = []
    for number, members in enumerate(histories.values()):
        before: tuple[str, str] | None = None
        for campaign, row in members:
            key, identity, spread = alike_key(campaign, row), row.identity, row.spread
            software = ", ".join(f"{name} {version}" for name, version in campaign.software)
            seen = (software, versions_text(row))
            records.append(
                {
                    "campaign": campaign.name,
                    "started_at": campaign.started_at,
                    "place": places[campaign.environment],
                    "group": key[0],
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
                    "software": software,
                    "hole": row.no_figures_reason,
                    "highest_to_lowest": spreads[key],
                    "history": number,
                    "versions_changed": before is not None and before != seen,
                    **(
                        {
                            f"{name}_to_baseline": _ratio(name, row, base[key]) if key in base else None
                            for name in FIGURES
                        }
                        if baseline is not None
                        else {}
                    ),
                    # What reads columns by their place goes on working: later ones come last.
                    "layer": identity.layer,
                    "servers": identity.counts["servers"],
                    "calls_per_request": row.calls_per_request,
                    "descriptors_per_call": row.descriptors_per_call,
                    "served_runs": row.served_runs,
                    "spoiled_runs": row.spoiled_runs,
                    **{name: identity.counts[name] for name in LATER_DIMENSIONS},
                }
            )
            before = seen
    return records


def published(records: Iterable[Record]) -> list[Record]:
    return [{name: value for name, value in each.items() if name not in _INTERNAL} for each in records]


_DIGITS = {
    **dict.fromkeys((f"requests_per_second{end}" for end in ("", "_min", "_max", "_cv_percent")), 2),
    **dict.fromkeys(("latency_p50_ms", "latency_p99_ms", "server_cpu_us_per_request"), 3),
    **dict.fromkeys(("calls_per_request", "descriptors_per_call"), 3),
    "highest_to_lowest": 4,
    **{f"{name}_to_baseline": 6 for name in FIGURES},
}


def _cell(name: str, value: Any) -> str | None:
    if value is None or isinstance(value, bool):
        return None if value is None else str(value).lower()
    return f"{value:.{_DIGITS[name]}f}" if name in _DIGITS else str(value)


def compare_csv(records: Sequence[Record]) -> str:
    rows = published(records)
    return csv_text(
        list(rows[0]) if rows else [], ([_cell(name, value) for name, value in row.items()] for row in rows)
    )
