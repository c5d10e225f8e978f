"""Campaigns side by side: a section for each machine, runtime and software, in it a table for each figure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from report.analysis.layer_text import layer_text
from report.base.format import ABSENT, microseconds, milliseconds, plural, rate, ratio
from report.campaigns.campaign_record import CampaignRecord, Facts, differences
from report.campaigns.dataframe import COMPARABLE, group_numbers
from report.results.model import LAYERS
from report.sections.section import TableCell, number, sort_key
from report.sections.spread_text import FEW_SAMPLES, FEW_SAMPLES_MARK

#: More columns are not readable. The newest campaigns and the baseline stay.
MAX_CAMPAIGNS = 12


@dataclass(frozen=True, slots=True)
class _Metric:
    id: str
    name: str
    unit: str
    column: str
    show: Callable[[float | None], str]


def _metrics(layer: str) -> tuple[_Metric, ...]:
    """What has a table: at the limiter layer nothing of a server."""
    found = (
        _Metric("throughput", "Throughput", layer_text(layer).rate_unit, "requests_per_second", rate),
        _Metric("p99", "Latency p99", "ms", "latency_p99_ms", milliseconds),
    )
    cpu = _Metric("cpu", "Server CPU", "µs/request", "server_cpu_us_per_request", microseconds)
    return (*found, cpu) if layer == "server" else found


@dataclass(frozen=True, slots=True)
class CampaignTable:
    """Rows of header cells and figures; `columns` are campaigns, each with a name and what is below it."""

    id: str
    metric: str
    """`throughput`, `p99` or `cpu`."""
    title: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[tuple[str, ...], tuple[TableCell, ...]], ...]


@dataclass(frozen=True, slots=True)
class Section:
    """Campaigns that may share a table."""

    id: str
    title: str
    facts: Facts
    campaigns: tuple[CampaignRecord, ...]
    left_out: int
    """Older campaigns without a column of their own."""
    differences: tuple[str, ...]
    """How it differs from the first section, which has the newest campaign."""
    no_ratio: str
    """Why nothing here relates to the baseline; empty where it does, or none is asked for."""
    tables: tuple[CampaignTable, ...]


def _outcome(record: dict[str, Any]) -> str:
    """`failed its load in 3 of 10 runs`; empty where the target served it in all."""
    failed = record["spoiled_runs"]
    return f"failed its load in {failed} of {plural(failed + record['served_runs'], 'run')}" if failed else ""


def _figure(metric: _Metric, record: dict[str, Any] | None) -> TableCell:
    if record is None:
        return number(ABSENT, None, hint="not measured in this campaign")
    value = record[metric.column]
    if pd.isna(value):
        if record["hole"]:
            text = "failed its load" if record["spoiled_runs"] else "no valid run"
        else:
            text = "not identified" if metric.id == "p99" else ABSENT
        return TableCell(text, kind="no-figures", sort="", hint=str(record["hole"]))
    runs = f"{record['valid_runs']} of {record['planned_runs']} runs valid, {record['verdict']}"
    low, high = record["requests_per_second_min"], record["requests_per_second_max"]
    hint = f"{rate(low)}–{rate(high)} {metric.unit}, {runs}" if metric.id == "throughput" else runs
    few = metric.id == "p99" and not record["latency_p99_supported"]
    return TableCell(
        metric.show(value),
        kind="number",
        sort=sort_key(value),
        hint=hint,
        range=_outcome(record),
        marks=((FEW_SAMPLES_MARK, FEW_SAMPLES),) if few else (),
    )


def _ratio(metric: _Metric, record: dict[str, Any] | None) -> TableCell:
    value = record.get(f"{metric.column}_to_baseline") if record else None
    if value is None or pd.isna(value):
        return number(ABSENT, None)
    return number(ratio(value), value)


def _table(
    metric: _Metric,
    section: str,
    dataframe: pd.DataFrame,
    campaigns: Sequence[CampaignRecord],
    baseline: str | None,
) -> CampaignTable:
    columns: list[tuple[str, str]] = []
    for campaign in campaigns:
        columns.append((campaign.name, "baseline" if campaign.name == baseline else campaign.started_at[:10]))
        if baseline and campaign.name != baseline:
            columns.append(("", "to baseline"))
    rows = []
    for _, alike in dataframe.groupby(COMPARABLE, sort=False):
        records: dict[Any, Any] = {record["campaign"]: record for record in alike.to_dict("records")}
        first = next(iter(records.values()))
        cells: list[TableCell] = []
        for campaign in campaigns:
            cells.append(_figure(metric, records.get(campaign.name)))
            if baseline and campaign.name != baseline:
                cells.append(_ratio(metric, records.get(campaign.name)))
        spread = first["highest_to_lowest"]
        if metric.id == "throughput":
            alone = pd.isna(spread) or alike["requests_per_second"].count() < 2
            cells.append(number(ABSENT, None) if alone else number(ratio(spread), spread))
        label = f"{first['label']} (control)" if first["control"] else str(first["label"])
        topology = "" if first["control"] else str(first["topology"])
        rows.append(((label, topology, str(first["load"]), str(first["versions"])), tuple(cells)))
    if metric.id == "throughput":
        columns.append(("Highest ÷ lowest", "runs of two campaigns"))
    layer = str(dataframe["layer"].iloc[0])
    of_layer = "" if layer == "server" else f", {layer} layer"
    table_id = f"{section}-{metric.id}" + ("" if layer == "server" else f"-{layer}")
    title = f"{metric.name}{of_layer}, {metric.unit}"
    return CampaignTable(table_id, metric.id, title, tuple(columns), tuple(rows))


def _title(campaign: CampaignRecord) -> str:
    facts = dict(campaign.environment)
    runtime = facts.get("Runtime", "runtime not known").split(",")[0]
    return f"{runtime} · {facts.get('CPU') or facts.get('Machine')}"


def _shown(members: Sequence[CampaignRecord], baseline: str | None) -> list[CampaignRecord]:
    newest = list(members[-MAX_CAMPAIGNS:])
    kept = [campaign for campaign in members[:-MAX_CAMPAIGNS] if campaign.name == baseline]
    return [*kept, *newest[len(kept) :]]


def sections(
    campaigns: Sequence[CampaignRecord], dataframe: pd.DataFrame, baseline: str | None
) -> tuple[Section, ...]:
    """What may share a table, the newest campaign's section first.

    Args:
        campaigns: in order of time.
        dataframe: of `dataframe_of`, with the same baseline.
    """
    numbers = group_numbers(campaigns)
    members: dict[int, list[CampaignRecord]] = {}
    for campaign in campaigns:
        members.setdefault(numbers[campaign.environment, campaign.software], []).append(campaign)
    ordered = sorted(members.items(), key=lambda entry: entry[1][-1].order, reverse=True)
    base = next((campaign for campaign in campaigns if campaign.name == baseline), None)
    newest = ordered[0][1][0]
    found = []
    for position, (place, group) in enumerate(ordered, start=1):
        facts = (*group[0].environment, *group[0].software)
        alike = base is not None and base in group
        no_ratio = ""
        if base is not None and not alike:
            other = differences(facts, (*base.environment, *base.software))
            no_ratio = f"The baseline {base.name} was measured elsewhere: {'; '.join(other)}."
        shown = _shown(group, baseline)
        section = f"group{position}"
        rows = dataframe[dataframe["group"] == place] if not dataframe.empty else dataframe
        relative = baseline if alike else None
        tables = [
            _table(metric, section, rows[rows["layer"] == layer], shown, relative)
            for layer in LAYERS
            if not rows.empty and (rows["layer"] == layer).any()
            for metric in _metrics(layer)
        ]
        found.append(
            Section(
                section,
                _title(group[0]),
                facts,
                tuple(shown),
                len(group) - len(shown),
                tuple(differences(facts, (*newest.environment, *newest.software))),
                no_ratio,
                tuple(tables),
            )
        )
    return tuple(found)
