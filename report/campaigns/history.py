"""The history of each configuration on one machine and runtime: its points, versions and changes of level."""

from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from statistics import median
from typing import Any

from report.analysis.layer_text import layer_text
from report.base.format import milliseconds, rate
from report.campaigns.records import Record, ranked
from report.statistics.change_points import ALPHA, MIN_POINTS, ChangePoint, change_points, smallest_p

#: A page with more charts loads slowly; compare.csv has all.
MAX_HISTORIES = 200
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 720, 170, 64, 14, 30

History = Mapping[str, Any]
"""What `trends.html.j2` draws. A point is a record with its texts and its place, `y`: None without a run that
counts, and at 0 where the target failed its load in the median run."""


def _remark(measured: int, histories: int) -> str:
    if measured < MIN_POINTS:
        return f"{measured} campaigns with a valid run: a change of the level takes at least {MIN_POINTS}."
    if smallest_p(measured) > ALPHA / histories:
        return (
            f"{measured} campaigns are too few to show a change of the level in one of {histories} histories "
            "that are searched together."
        )
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
            "runs": f"{record['valid_runs']} of {record['planned_runs']}"
            + (f", {failed} failed the load" if failed else ""),
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
        else "no campaign with a valid run",
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
    }


def histories(records: Sequence[Record]) -> tuple[tuple[History, ...], int]:
    """Histories in the order of the records, and how many are left out because there are too many.

    Every one is searched for changes of the level as one of all, also of those that are left out."""
    groups = [list(group) for _, group in groupby(records, key=lambda record: record["history"])]
    shown = [
        _history(number, group, len(groups)) for number, group in enumerate(groups[:MAX_HISTORIES], start=1)
    ]
    return tuple(shown), len(groups) - len(shown)
