"""Tables of campaigns side by side, and the history of each configuration: versions and changes of level."""

from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from statistics import median
from typing import Any, NamedTuple

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
from report.campaigns.records import CampaignRecord, Record, differences, group_numbers, ranked
from report.results.model import LAYERS
from report.sections import section
from report.sections.verdict_text import FEW_SAMPLES, MERGED
from report.statistics.instability import ALPHA, MIN_POINTS, ChangePoint, change_points, smallest_p

#: More columns are not readable. The newest campaigns and the baseline stay.
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


def _metrics(layer: str) -> list[_Metric]:
    """What has a table: at the limiter layer nothing of a server."""
    found = [
        _Metric("throughput", "Throughput", layer_text(layer).rate_unit, "requests_per_second", rate),
        _Metric("p99", "Latency p99", "ms", "latency_p99_ms", milliseconds),
        _Metric("cpu", "Server CPU", "µs/request", "server_cpu_us_per_request", microseconds),
    ]
    return found if layer == "server" else found[:2]


def _counted(record: Record) -> str:
    counted = record["served_runs"] + record["spoiled_runs"]
    return counted_runs_text(counted, record["planned_runs"], record["suspect_runs"])


def _figure(metric: _Metric, record: Record | None) -> section.TableCell:
    if record is None:
        return section.number(ABSENT, None, hint="not measured in this campaign")
    value, failed = record[metric.column], record["spoiled_runs"]
    if value is None:
        if record["hole"]:
            text = "failed its load" if failed else "no run counts"
        else:
            text = "not identified" if metric.id == "p99" else ABSENT
        return section.TableCell(text, kind="no-figures", sort="", hint=record["hole"])
    runs = f"runs that count: {_counted(record)}; {record['verdict']}"
    low, high = record[f"{metric.column}_min"], record[f"{metric.column}_max"]
    span = "" if low is None or high is None else f"{metric.show(low)}–{metric.show(high)} {metric.unit}"
    few = metric.id == "p99" and not record["latency_p99_supported"]
    merged = record["latency_p99_merged"]
    closed_p99 = metric.id == "p99" and not record["identity"].open_loop
    group = record["group_text"] if closed_p99 else ""
    loaded = plural(failed + record["served_runs"], "run")
    return section.TableCell(
        metric.show(value),
        kind="number",
        sort=section.sort_key(value),
        hint=", ".join(filter(None, (span, runs))),
        range=", ".join(filter(None, (group, f"failed its load in {failed} of {loaded}" if failed else ""))),
        marks=(FEW_SAMPLES,) if few else (MERGED,) if metric.id == "p99" and merged else (),
    )


def _ratio(value: float | None) -> section.TableCell:
    return section.number(ratio(value), value)


def _parts(metric: _Metric, records: Sequence[Record]) -> list[list[Record]]:
    """Costs and latencies at full load apart from those at a rate."""
    if metric.id == "throughput":
        return [list(records)]
    parts = [[each for each in records if each["identity"].open_loop is loop] for loop in (False, True)]
    return list(filter(None, parts))


def _table(
    metric: _Metric, id_: str, every: Sequence[Record], shown: Sequence[CampaignRecord], baseline: str | None
) -> section.Table:
    columns: list[section.Column] = []
    for campaign in shown:
        below = "baseline" if campaign.name == baseline else campaign.started_at[:10]
        columns.append(section.Column(campaign.name, below))
        if baseline and campaign.name != baseline:
            columns.append(section.Column("to baseline"))
    if metric.id == "throughput":
        columns.append(section.Column("Highest ÷ lowest", "runs of two campaigns"))
    by_row: dict[tuple[Any, ...], dict[str, Record]] = {}
    for record in every:
        by_row.setdefault((record["identity"].key, record["versions"]), {})[record["campaign"]] = record
    rows = []
    for alike in by_row.values():
        first = next(iter(alike.values()))
        cells: list[section.TableCell] = []
        for campaign in shown:
            own = alike.get(campaign.name)
            cells.append(_figure(metric, own))
            if baseline and campaign.name != baseline:
                cells.append(_ratio(own[f"{metric.column}_to_baseline"] if own else None))
        if metric.id == "throughput":
            several = sum(each["requests_per_second"] is not None for each in alike.values()) > 1
            cells.append(_ratio(first["highest_to_lowest"] if several else None))
        label = f"{first['label']} (control)" if first["control"] else first["label"]
        topology = "" if first["control"] else str(first["topology"])
        named = section.named(label, topology, first["load"], first["versions"])
        rows.append(section.TableRow("", (*named, *cells)))
    layer, open_loop = every[0]["layer"], every[0]["identity"].open_loop
    ending = "" if layer == "server" else f"-{layer}"
    name = metric.name
    if metric.id != "throughput":
        name = f"{name} at a rate" if open_loop else at_its_load(name, open_loop)
        ending += "-at-rate" if open_loop else ""
    title = f"{name}{'' if layer == 'server' else f', {layer} layer'}, {metric.unit}"
    headers = section.words("Client", "Topology", "Load", "Versions")
    id_ += f"-{metric.id}{ending}"
    return section.table_of(id_, (*headers, *columns), rows, title, caption=CAPTION)


def _title(facts: Mapping[str, str]) -> str:
    runtime = facts.get("Runtime", "runtime not known").split(",")[0]
    return f"{runtime} · {facts.get('CPU') or facts.get('Machine')}"


def sections(
    campaigns: Sequence[CampaignRecord], records: Sequence[Record], baseline: str | None
) -> tuple[section.Section, ...]:
    """What may share a table, the newest campaign's section first."""
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
        others = differences(facts, (*newest.environment, *newest.software))
        said = [f"Not comparable with the first section, which differs in: {others}."] if others else []
        relative = baseline if base in group else None
        if base is not None and relative is None:
            other = differences(facts, (*base.environment, *base.software))
            said.append(f"No ratios here. The baseline {base.name} was measured elsewhere: {other}.")
        older = group[:-MAX_CAMPAIGNS]
        shown = group[-MAX_CAMPAIGNS + (base in older) :]
        shown = [*([base] if base and base in older else []), *shown]
        rows = [each for each in records if each["group"] == place]
        tables = [
            _table(metric, f"group{position}", part, shown, relative)
            for layer in LAYERS
            if (of_layer := [each for each in rows if each["layer"] == layer])
            for metric in _metrics(layer)
            for part in _parts(metric, of_layer)
        ]
        left_out = len(group) - len(shown)
        notes = [
            *([f"{left_out} older campaigns are not shown; compare.csv has them."] if left_out else []),
            *([] if tables else ["No row of these campaigns has a configuration hash."]),
        ]
        texts = (f"group{position}", _title(dict(group[0].environment)), " ".join(said))
        told = (section.Facts("Machine, runtime and software", facts),)
        found.append(section.Section(*texts, tables=tuple(tables), facts=told, notes=tuple(notes), open=True))
    return tuple(found)


#: A page with more charts loads slowly; compare.csv has all.
MAX_HISTORIES = 200
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 720, 170, 64, 14, 30

History = Mapping[str, Any]
"""What `trends.html.j2` draws. A point is a record with its texts and its place, `y`: None without a run that
counts, and at 0 where the target typically failed its load."""


def _remark(measured: int, histories: int) -> str:
    if measured < MIN_POINTS:
        return (
            f"{measured} campaigns with a run that counts: a change of the level takes at least {MIN_POINTS}."
        )
    if smallest_p(measured) > ALPHA / histories:
        together = f"one of {histories} histories that are searched together"
        return f"{measured} campaigns are too few to show a change of the level in {together}."
    return ""


def _change_text(change: ChangePoint | None, unit: str) -> str:
    """Empty where the level does not change."""
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
    """The path through the points; a campaign without a figure is a gap."""
    parts, pen = [], "M"
    for point in points:
        if point["y"] is not None:
            parts.append(f"{pen}{point['x']:g} {point['y']:g}")
        pen = "M" if point["y"] is None else "L"
    return "".join(parts)


def _history(number: int, records: Sequence[Record], histories: int) -> History:
    first, unit = records[0], layer_text(records[0]["layer"]).rate_unit
    figures = [ranked(record) for record in records]
    measured = [index for index, value in enumerate(figures) if value is not None]
    values = [value for value in figures if value is not None]
    found = change_points(values, histories)
    begins = {measured[change.index]: change for change in found}
    highest = max((top for record in records if (top := record["requests_per_second_max"])), default=0.0)
    step = (_WIDTH - _LEFT - 20) / max(1, len(records) - 1)
    scale = (_HEIGHT - _TOP - _BOTTOM) / highest if highest > 0 else 0

    def x_of(index: int) -> float:
        return round(_LEFT + index * step, 1)

    def y_of(value: float | None) -> float | None:
        return None if value is None else round(_HEIGHT - _BOTTOM - value * scale, 1)

    def point(index: int, record: Record) -> History:
        throughput, failed = record["requests_per_second"], record["spoiled_runs"]
        return record | {
            "throughput": rate(throughput),
            "text": record["hole"] if throughput is None else f"{rate(throughput)} {unit}",
            "p99": milliseconds(record["latency_p99_ms"]),
            "group": "" if record["identity"].open_loop else record["group_text"],
            "runs": _counted(record) + (f", {failed} failed the load" if failed else ""),
            "versions": "; ".join(filter(None, (record["versions"], record["software"]))),
            "change": _change_text(begins.get(index), unit),
            "x": x_of(index),
            "y": y_of(figures[index]),
            "low": y_of(record["requests_per_second_min"]),
            "high": y_of(record["requests_per_second_max"]),
        }

    points = [point(index, record) for index, record in enumerate(records)]
    known = [points[index]["text"] for index in measured]
    cuts = [0, *(change.index for change in found), len(values)]
    return {
        "id": f"history{number}",
        "place": first["place"],
        "label": f"{first['label']} (control)" if first["control"] else first["label"],
        "load": first["load"],
        "topology": "" if first["control"] else str(first["topology"]),
        "described": f"from {known[0]} to {known[-1]} over {len(points)} campaigns"
        if known
        else "no campaign with a run that counts",
        "points": points,
        "line": _line(points),
        # Medians between the changes: from x, to x, at y.
        "levels": [
            (x_of(measured[start]), x_of(measured[end - 1]), y_of(median(values[start:end])))
            for start, end in (pairwise(cuts) if found else ())
        ],
        "axis": ((_HEIGHT - _BOTTOM, "0"), (y_of(highest), rate(highest))),
        "remark": _remark(len(values), histories),
        "unit": unit,
        "latency_unit": "ms" if first["identity"].open_loop else f"ms {AT_FULL_LOAD}",
    }


def histories(records: Sequence[Record]) -> tuple[tuple[History, ...], int]:
    """Histories in the order of the records, and how many are left out because there are too many.

    Every one is searched for changes of the level as one of all, also of those that are left out."""
    groups = [list(group) for _, group in groupby(records, key=lambda record: record["history"])]
    shown = enumerate(groups[:MAX_HISTORIES], start=1)
    found = tuple(_history(number, group, len(groups)) for number, group in shown)
    return found, len(groups) - len(found)
