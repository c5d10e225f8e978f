"""Tables of campaigns side by side, and the history of each configuration with its versions and
changes of level."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

import pandas as pd

from report.analysis.texts import AT_FULL_LOAD, at_its_load, layer_text
from report.base.format import (
    ABSENT,
    Show,
    counted_runs_text,
    microseconds,
    milliseconds,
    plural,
    rate,
    ratio,
)
from report.campaigns.records import CampaignRecord, Properties, differences, group_numbers
from report.campaigns.rows import Record
from report.results.catalog import LAYERS
from report.sections import section
from report.sections.figure_cells import FEW_SAMPLES, MERGED
from report.statistics.instability import ALPHA, MIN_POINTS, ChangePoint, change_points, smallest_p

#: A table with columns of more campaigns is not readable. The newest ones and the baseline stay.
MAX_CAMPAIGNS = 12
CAPTION = (
    "Each figure is the median over the runs of a campaign; hover for the range and the runs that count. "
    "Ratios are the median of all ratios of a run to a run. Each version of client, limiter or "
    f"store has a row of its own. {' '.join(FEW_SAMPLES)}. {' '.join(MERGED)}."
)


class _Metric(NamedTuple):
    id: str
    name: str
    unit: str
    column: str
    show: Show


def _metrics(layer: str) -> tuple[_Metric, ...]:
    """The figures that have a table. No server takes part at the limiter layer."""
    common = (
        _Metric(
            "throughput", "Throughput", layer_text(layer).rate_unit, "requests_per_second", rate
        ),
        _Metric("p99", "Latency p99", "ms", "latency_p99_ms", milliseconds),
    )
    cpu = _Metric("cpu", "Server CPU", "µs/request", "server_cpu_us_per_request", microseconds)
    return (*common, cpu) if layer == "server" else common


def _counted(record: Record) -> str:
    counted = record["served_runs"] + record["spoiled_runs"]
    return counted_runs_text(counted, record["planned_runs"], record["suspect_runs"])


def _without_figure(metric: _Metric, record: Record) -> section.TableCell:
    text = "not identified" if metric.id == "p99" else ABSENT
    if record["hole"]:
        text = "failed its load" if record["spoiled_runs"] else "no run counts"
    return section.TableCell(text, kind="no-figures", sort="", hint=record["hole"])


def _range_text(metric: _Metric, record: Record) -> str:
    low = record[f"{metric.column}_min"]
    high = record[f"{metric.column}_max"]
    if low is None or high is None:
        return ""
    return f"{metric.show(low)}–{metric.show(high)} {metric.unit}"


def _p99_marks(record: Record) -> tuple[section.Mark, ...]:
    if not record["latency_p99_supported"]:
        return (FEW_SAMPLES,)
    return (MERGED,) if record["latency_p99_merged"] else ()


def _figure(metric: _Metric, record: Record | None) -> section.TableCell:
    if record is None:
        return section.number(ABSENT, None, hint="not measured in this campaign")

    value = record[metric.column]
    if value is None:
        return _without_figure(metric, record)

    failed = record["spoiled_runs"]
    is_p99 = metric.id == "p99"
    runs = f"runs that count: {_counted(record)}; {record['verdict']}"
    loaded = plural(failed + record["served_runs"], "run")
    remarks = (
        record["group_text"] if is_p99 and not record["open_loop"] else "",
        f"failed its load in {failed} of {loaded}" if failed else "",
    )
    return section.TableCell(
        metric.show(value),
        kind="number",
        sort=section.sort_key(value),
        hint=", ".join(filter(None, (_range_text(metric, record), runs))),
        range=", ".join(filter(None, remarks)),
        marks=_p99_marks(record) if is_p99 else (),
    )


def _ratio(value: float | None) -> section.TableCell:
    return section.number(ratio(value), value)


def _parts(metric: _Metric, rows: pd.DataFrame) -> list[pd.DataFrame]:
    """The rows of each table. Costs and latencies at full load and at a rate have separate
    tables."""
    if metric.id == "throughput":
        return [rows]
    return [part for _, part in rows.groupby("open_loop")]


def _columns(
    metric: _Metric, campaigns: Sequence[CampaignRecord], baseline: str | None
) -> Iterator[section.Column]:
    for campaign in campaigns:
        is_baseline = campaign.name == baseline
        yield section.Column(campaign.name, "baseline" if is_baseline else campaign.started_at[:10])
        if baseline and not is_baseline:
            yield section.Column("to baseline")
    if metric.id == "throughput":
        yield section.Column("Highest ÷ lowest", "runs of two campaigns")


def _cells(
    metric: _Metric,
    rows: pd.DataFrame,
    campaigns: Sequence[CampaignRecord],
    baseline: str | None,
) -> Iterator[section.TableCell]:
    """The cells of one configuration in the same versions, one or two for each campaign. `rows` has
    a row for each campaign that measured it."""
    by_campaign: dict[str, Record] = dict(zip(rows["campaign"], rows["record"], strict=True))
    for campaign in campaigns:
        record = by_campaign.get(campaign.name)
        yield _figure(metric, record)
        if baseline and campaign.name != baseline:
            yield _ratio(record[f"{metric.column}_to_baseline"] if record else None)
    if metric.id == "throughput":
        first = next(iter(by_campaign.values()))
        has_several_figures = rows["requests_per_second"].count() > 1
        yield _ratio(first["highest_to_lowest"] if has_several_figures else None)


def _label(record: Record) -> str:
    return f"{record['label']} (control)" if record["control"] else str(record["label"])


def _topology(record: Record) -> str:
    return "" if record["control"] else str(record["topology"])


def _name_cells(rows: pd.DataFrame) -> tuple[section.TableCell, ...]:
    first = rows["record"].iloc[0]
    return section.named(_label(first), _topology(first), first["load"], first["versions"])


def _table(
    metric: _Metric,
    section_id: str,
    rows: pd.DataFrame,
    campaigns: Sequence[CampaignRecord],
    baseline: str | None,
) -> section.Table:
    columns = (
        *section.words("Client", "Topology", "Load", "Versions"),
        *_columns(metric, campaigns, baseline),
    )
    lines = [
        section.TableRow(
            "",
            (*_name_cells(same_versions), *_cells(metric, same_versions, campaigns, baseline)),
        )
        for _, same_versions in rows.groupby(["key", "versions"], sort=False)
    ]

    layer = rows["layer"].iloc[0]
    open_loop = bool(rows["open_loop"].iloc[0])
    ending = "" if layer == "server" else f"-{layer}"
    name = metric.name
    if metric.id != "throughput":
        name = f"{name} at a rate" if open_loop else at_its_load(name, open_loop)
        ending += "-at-rate" if open_loop else ""

    layer_name = "" if layer == "server" else f", {layer} layer"
    title = f"{name}{layer_name}, {metric.unit}"
    return section.table_of(
        f"{section_id}-{metric.id}{ending}", columns, lines, title, caption=CAPTION
    )


def _title(campaign: CampaignRecord) -> str:
    environment = dict(campaign.environment)
    return f"{campaign.runtime} · {environment.get('CPU') or environment.get('Machine')}"


def _shown_of(
    group: Sequence[CampaignRecord], baseline: CampaignRecord | None
) -> tuple[CampaignRecord, ...]:
    """The newest campaigns of a group, and the baseline where it is older."""
    older = group[:-MAX_CAMPAIGNS]
    if baseline is not None and baseline in older:
        return (baseline, *group[-MAX_CAMPAIGNS + 1 :])
    return tuple(group[-MAX_CAMPAIGNS:])


def _not_comparable(
    group: Sequence[CampaignRecord], newest: CampaignRecord, baseline: CampaignRecord | None
) -> Iterator[str]:
    """Sentences that say how a group differs from that of the newest campaign, and from the
    baseline."""
    properties = _properties(group[0])
    if differing := differences(properties, _properties(newest)):
        yield f"Not comparable with the first section, which differs in: {differing}."

    if baseline is not None and baseline not in group:
        differing = differences(properties, _properties(baseline))
        yield f"No ratios here. The baseline {baseline.name} was measured elsewhere: {differing}."


def _properties(campaign: CampaignRecord) -> Properties:
    return (*campaign.environment, *campaign.software)


def sections(
    campaigns: Sequence[CampaignRecord], rows: pd.DataFrame, baseline: str | None
) -> tuple[section.Section, ...]:
    """A section for each group of campaigns that may share a table, beginning with that of the
    newest campaign."""
    numbers = group_numbers(campaigns)
    members: dict[int, list[CampaignRecord]] = {}
    for campaign in campaigns:
        members.setdefault(numbers[campaign.name], []).append(campaign)
    ordered = sorted(members.items(), key=lambda member: member[1][-1].order, reverse=True)
    base_campaign = next((campaign for campaign in campaigns if campaign.name == baseline), None)
    newest = ordered[0][1][0]
    return tuple(
        _section(f"group{position}", group, rows[rows["group"].eq(number)], newest, base_campaign)
        for position, (number, group) in enumerate(ordered, start=1)
    )


def _section(
    section_id: str,
    group: Sequence[CampaignRecord],
    rows: pd.DataFrame,
    newest: CampaignRecord,
    baseline: CampaignRecord | None,
) -> section.Section:
    shown_campaigns = _shown_of(group, baseline)
    baseline_name = baseline.name if baseline and baseline in group else None
    tables = [
        _table(metric, section_id, part, shown_campaigns, baseline_name)
        for layer in LAYERS
        if len(layer_rows := rows[rows["layer"].eq(layer)])
        for metric in _metrics(layer)
        for part in _parts(metric, layer_rows)
    ]

    hidden_count = len(group) - len(shown_campaigns)
    notes = (
        f"{hidden_count} older campaigns are not shown; compare.csv has them."
        if hidden_count
        else "",
        "" if tables else "No row of these campaigns has a configuration hash.",
    )
    return section.Section(
        section_id,
        _title(group[0]),
        " ".join(_not_comparable(group, newest, baseline)),
        tables=tuple(tables),
        properties=(section.Properties("Machine, runtime and software", _properties(group[0])),),
        notes=tuple(filter(None, notes)),
        open=True,
    )


#: A page with more charts loads slowly. compare.csv has all histories.
MAX_HISTORIES = 200
_WIDTH = 720
_HEIGHT = 170
_LEFT = 64
_TOP = 14
_BOTTOM = 30

History = Mapping[str, Any]
"""What `trends.html.j2` draws.

A point is a row with its texts and its place. Its `y` is None without a run that counts, and that
of 0 requests per second where the target typically failed its load."""


def _remark(measured: int, histories: int) -> str:
    if measured < MIN_POINTS:
        return (
            f"{measured} campaigns with a run that counts: "
            f"a change of the level takes at least {MIN_POINTS}."
        )
    if smallest_p(measured) > ALPHA / histories:
        family = f"one of {histories} histories that are searched together"
        return f"{measured} campaigns are too few to show a change of the level in {family}."
    return ""


def _change_text(change: ChangePoint | None, unit: str) -> str:
    """The text of a change of level, which is empty where the level does not change."""
    if change is None:
        return ""

    if change.before > 0 and change.after > 0:
        levels = f"{rate(change.before)} to {rate(change.after)} {unit}"
    else:
        levels = " to ".join(
            f"{rate(level)} {unit}" if level > 0 else "failed loads"
            for level in (change.before, change.after)
        )
    return f"level from {levels}, p = {change.p:.4f}"


def _line(points: Sequence[History]) -> str:
    """The path through the points, with a gap at each campaign without a figure."""
    parts = []
    pen = "M"
    for point in points:
        if point["y"] is None:
            pen = "M"
            continue
        parts.append(f"{pen}{point['x']:g} {point['y']:g}")
        pen = "L"
    return "".join(parts)


class _Scale(NamedTuple):
    """Converts the points of a history to coordinates in its drawing."""

    step: float
    """The distance between two campaigns."""
    height: float
    """The height of one request per second."""

    def x_of(self, index: int) -> float:
        return round(_LEFT + index * self.step, 1)

    def y_of(self, value: float | None) -> float | None:
        return None if value is None else round(_HEIGHT - _BOTTOM - value * self.height, 1)


def _scale(rows: pd.DataFrame, highest: float) -> _Scale:
    step = (_WIDTH - _LEFT - 20) / max(1, len(rows) - 1)
    height = (_HEIGHT - _TOP - _BOTTOM) / highest if highest > 0 else 0
    return _Scale(step, height)


def _point(
    index: int, record: Record, scale: _Scale, unit: str, change: ChangePoint | None
) -> History:
    throughput = record["requests_per_second"]
    failed = record["spoiled_runs"]
    return {
        **record,
        "throughput": rate(throughput),
        "text": record["hole"] if throughput is None else f"{rate(throughput)} {unit}",
        "p99": milliseconds(record["latency_p99_ms"]),
        "group": "" if record["open_loop"] else record["group_text"],
        "runs": _counted(record) + (f", {failed} failed the load" if failed else ""),
        "versions": "; ".join(filter(None, (record["versions"], record["software"]))),
        "change": _change_text(change, unit),
        "x": scale.x_of(index),
        "y": scale.y_of(record["ranked"]),
        "low": scale.y_of(record["requests_per_second_min"]),
        "high": scale.y_of(record["requests_per_second_max"]),
    }


def _history(number: int, rows: pd.DataFrame, histories: int) -> History:
    """`histories` is the number of histories that are searched together for changes."""
    records: list[Record] = list(rows["record"])
    first = records[0]
    unit = layer_text(first["layer"]).rate_unit
    values = [record["ranked"] for record in records if record["ranked"] is not None]
    measured = [index for index, record in enumerate(records) if record["ranked"] is not None]
    changes = change_points(values, histories)
    change_at = {measured[change.index]: change for change in changes}

    highest = max(
        (top for record in records if (top := record["requests_per_second_max"])), default=0.0
    )
    scale = _scale(rows, highest)
    points = [
        _point(index, record, scale, unit, change_at.get(index))
        for index, record in enumerate(records)
    ]
    texts = [points[index]["text"] for index in measured]
    described = "no campaign with a run that counts"
    if texts:
        described = f"from {texts[0]} to {texts[-1]} over {len(points)} campaigns"

    cuts = [0, *(change.index for change in changes), len(values)]
    return {
        "id": f"history{number}",
        "place": first["place"],
        "label": _label(first),
        "load": first["load"],
        "topology": _topology(first),
        "described": described,
        "points": points,
        "line": _line(points),
        # Each level is the median between two changes, drawn from the first x to the second at y.
        "levels": [
            (
                scale.x_of(measured[start]),
                scale.x_of(measured[end - 1]),
                scale.y_of(median(values[start:end])),
            )
            for start, end in (pairwise(cuts) if changes else ())
        ],
        "axis": ((_HEIGHT - _BOTTOM, "0"), (scale.y_of(highest), rate(highest))),
        "remark": _remark(len(values), histories),
        "unit": unit,
        "latency_unit": "ms" if first["open_loop"] else f"ms {AT_FULL_LOAD}",
    }


def histories(rows: pd.DataFrame) -> tuple[tuple[History, ...], int]:
    """Returns histories in the order of the rows, and how many more there are than a page can show.

    The search for changes of level takes each history as one of all, including those that are not
    shown."""
    groups = [history for _, history in rows.groupby("history")]
    shown = tuple(
        _history(number, history, len(groups))
        for number, history in enumerate(groups[:MAX_HISTORIES], start=1)
    )
    return shown, len(groups) - len(shown)
