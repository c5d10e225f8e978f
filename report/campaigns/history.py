"""The history of each configuration on one machine and runtime: its points, versions and changes of level."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median

from report.analysis.layer_text import layer_text
from report.base.format import milliseconds, rate
from report.campaigns.records import Record, ranked
from report.statistics.change_points import ALPHA, MIN_POINTS, ChangePoint, change_points, smallest_p

#: A page with more charts loads slowly; trends.csv has all.
MAX_HISTORIES = 200
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 720, 170, 64, 14, 30


@dataclass(frozen=True, slots=True)
class Point:
    """One campaign; `x` and `y` are where it stands in the drawing, `y` is None without a run that
    counts, and at 0 where the target failed its load in the median run."""

    campaign: str
    started_at: str
    throughput: str
    text: str
    """The throughput with its unit, or why there is none."""
    p99: str
    runs: str
    versions: str
    changed: bool
    """Versions differ from those of the campaign before."""
    change: str
    """A change of the level that begins here, in words; empty where none does."""
    x: float
    y: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class History:
    """One configuration; `line` is the path through its points, `levels` are medians between the changes."""

    id: str
    place: int
    label: str
    load: str
    topology: str
    points: tuple[Point, ...]
    line: str
    levels: tuple[tuple[float, float, float], ...]
    """From x, to x, at y."""
    axis: tuple[tuple[float, str], ...]
    remark: str
    unit: str
    """Of the throughput: `requests/s`, `decisions/s`."""

    @property
    def described(self) -> str:
        known = [point for point in self.points if point.y is not None]
        if not known:
            return "no campaign with a valid run"
        return f"from {known[0].text} to {known[-1].text} over {len(self.points)} campaigns"


def _remark(measured: int, histories: int) -> str:
    if measured < MIN_POINTS:
        return f"{measured} campaigns with a valid run: a change of the level takes at least {MIN_POINTS}."
    if smallest_p(measured) > ALPHA / histories:
        return (
            f"{measured} campaigns are too few to show a change of the level in one of {histories} histories "
            "that are searched together."
        )
    return ""


def _change_text(change: ChangePoint, unit: str) -> str:
    if change.before > 0 and change.after > 0:
        levels = f"{rate(change.before)} to {rate(change.after)} {unit}"
    else:
        levels = " to ".join(
            f"{rate(level)} {unit}" if level > 0 else "failed loads"
            for level in (change.before, change.after)
        )
    return f"level from {levels}, p = {change.p:.4f}"


class _Scale:
    def __init__(self, count: int, highest: float) -> None:
        self._step = (_WIDTH - _LEFT - 20) / max(1, count - 1)
        self._unit = (_HEIGHT - _TOP - _BOTTOM) / highest if highest > 0 else 0

    def x(self, index: int) -> float:
        return round(_LEFT + index * self._step, 1)

    def y(self, value: float | None) -> float | None:
        return None if value is None else round(_HEIGHT - _BOTTOM - value * self._unit, 1)


def _line(points: Sequence[Point]) -> str:
    parts, pen = [], "M"
    for point in points:
        if point.y is not None:
            parts.append(f"{pen}{point.x:g} {point.y:g}")
        pen = "M" if point.y is None else "L"
    return "".join(parts)


def _history(number: int, records: Sequence[Record], histories: int) -> History:
    unit = layer_text(records[0]["layer"]).rate_unit
    figures = [ranked(record["requests_per_second"], record["spoiled_runs"]) for record in records]
    measured = [index for index, value in enumerate(figures) if value is not None]
    values = [value for value in figures if value is not None]
    found = change_points(values, histories)
    begins = {measured[change.index]: change for change in found}
    highest = max((top for record in records if (top := record["requests_per_second_max"])), default=0.0)
    scale = _Scale(len(records), highest)
    points = tuple(
        Point(
            campaign=record["campaign"],
            started_at=record["started_at"],
            throughput=rate(record["requests_per_second"]),
            text=record["hole"]
            if record["requests_per_second"] is None
            else f"{rate(record['requests_per_second'])} {unit}",
            p99=milliseconds(record["latency_p99_ms"]),
            runs=f"{record['valid_runs']} of {record['planned_runs']}"
            + (f", {record['spoiled_runs']} failed the load" if record["spoiled_runs"] else ""),
            versions="; ".join(text for text in (record["versions"], record["software"]) if text),
            changed=record["versions_changed"],
            change=_change_text(begins[index], unit) if index in begins else "",
            x=scale.x(index),
            y=scale.y(figures[index]),
            low=scale.y(record["requests_per_second_min"]),
            high=scale.y(record["requests_per_second_max"]),
        )
        for index, record in enumerate(records)
    )
    cuts = [0, *(change.index for change in found), len(values)]
    levels = []
    for start, end in pairwise(cuts):
        level = scale.y(median(values[start:end])) if found else None
        if level is not None:
            levels.append((scale.x(measured[start]), scale.x(measured[end - 1]), level))
    first = records[0]
    return History(
        id=f"history{number}",
        place=first["place"],
        label=f"{first['label']} (control)" if first["control"] else first["label"],
        load=first["load"],
        topology="" if first["control"] else str(first["topology"]),
        points=points,
        line=_line(points),
        levels=tuple(levels),
        axis=((_HEIGHT - _BOTTOM, "0"), (scale.y(highest) or _HEIGHT - _BOTTOM, rate(highest))),
        remark=_remark(len(values), histories),
        unit=unit,
    )


def histories(records: Sequence[Record]) -> tuple[tuple[History, ...], int]:
    """Histories in the order of the records, and how many are left out because there are too many.

    Every one is searched for changes of the level as one of all, also of those that are left out."""
    groups = [list(group) for _, group in groupby(records, key=lambda record: record["history"])]
    shown = [
        _history(number, group, len(groups)) for number, group in enumerate(groups[:MAX_HISTORIES], start=1)
    ]
    return tuple(shown), len(groups) - len(shown)
