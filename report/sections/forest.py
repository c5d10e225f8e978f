"""The picture of the first screen: each target's ratio to the reference, with its interval, on one axis."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from report.analysis.campaign_analysis import Analysis
from report.analysis.rankings import Ranking
from report.analysis.summary import Summary
from report.base.format import plural
from report.sections.first_screen import copy_status, row_status, scopes
from report.statistics.decision import DEFAULT_FLOOR, Comparison

#: Beyond these an end of an interval is cut, and an arrow says so: one row must not squeeze the others.
LEAST, MOST = 0.2, 5.0
#: The axis shows at least this much around 1.
_AROUND = 0.1
_STEPS = (
    (0.9, 0.92, 0.94, 0.96, 0.98, 1, 1.02, 1.04, 1.06, 1.08, 1.1),
    (0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2),
    (0.25, 0.33, 0.5, 0.67, 1, 1.5, 2, 3, 4),
)
#: So many rows are drawn; the table has all.
MAX_ROWS = 40

#: The mark of a row by its conclusion: they differ in shape too.
SHAPES = {"faster": "▶", "better": "▶", "slower": "◀", "worse": "◀", "no difference": "■", "not decided": "○"}


@dataclass(frozen=True, slots=True)
class ForestRow:
    """Places are in % of the axis; None where there is no ratio."""

    summary_id: str
    label: str
    status: str
    text: str
    shape: str
    at: float | None = None
    low: float | None = None
    high: float | None = None
    cut_low: bool = False
    cut_high: bool = False


@dataclass(frozen=True, slots=True)
class ForestGroup:
    """Rows with one reference."""

    heading: str
    """Empty where there is one group alone."""
    rows: tuple[ForestRow, ...]


@dataclass(frozen=True, slots=True)
class Forest:
    figure: str
    """`Throughput`, `p99`."""
    better: str
    """`more`, `less`: which way is better."""
    groups: tuple[ForestGroup, ...]
    ticks: tuple[tuple[float, str], ...]
    """Place and text."""
    one: float
    """The place of 1."""
    floor: tuple[float, float]
    """The places within which a difference is none."""
    resolution: tuple[float, float] | None
    """Those within which the copy of a reference came out; None without a copy."""
    left_out: int

    @property
    def rows(self) -> tuple[ForestRow, ...]:
        return tuple(row for group in self.groups for row in group.rows)


@dataclass(frozen=True, slots=True)
class _Axis:
    """Logarithmic: half as much is as far from 1 as twice as much."""

    low: float
    high: float

    def place(self, ratio: float) -> float:
        inside = min(max(ratio, self.low), self.high)
        return round(100 * math.log(inside / self.low) / math.log(self.high / self.low), 2)

    def ticks(self) -> tuple[tuple[float, str], ...]:
        """The finest marks of which at most seven fit."""
        for steps in _STEPS:
            found = [step for step in steps if self.low <= step <= self.high]
            if len(found) <= 7:
                break
        return tuple((self.place(step), f"{step:g}×") for step in found)


def _ends(found: Comparison) -> list[float]:
    interval = found.interval
    known = [found.ratio, interval.low if interval else None, interval.high if interval else None]
    return [min(max(end, LEAST), MOST) for end in known if end is not None]


def _axis(comparisons: Sequence[Comparison]) -> _Axis:
    ends = [end for found in comparisons for end in _ends(found)]
    low, high = min([1 - _AROUND, *ends]), max([1 + _AROUND, *ends])
    return _Axis(low / 1.03, high * 1.03)


def _row(summary: Summary, found: Comparison | None, status: str, axis: _Axis) -> ForestRow:
    label, shape, why = summary.identity.short_label, SHAPES.get(status, "○"), summary.no_figures_reason
    if found is None:
        return ForestRow(summary.id, label, status, "" if summary.figures else why, "◆", axis.place(1))
    interval = found.interval
    if not found.ratio:
        return ForestRow(summary.id, label, status, why or found.reason, shape)
    text, at = f"{found.ratio:.2f}×", axis.place(found.ratio)
    if interval is None:
        return ForestRow(summary.id, label, status, text, shape, at)
    if interval.high < math.inf:
        text += f" ({interval.low:.2f}–{interval.high:.2f})"
    ends = axis.place(interval.low), axis.place(interval.high)
    cut = interval.low < axis.low, interval.high > axis.high
    return ForestRow(summary.id, label, status, text, shape, at, *ends, *cut)


def _forest(members: Sequence[tuple[str, Ranking]]) -> Forest:
    """Of rankings by one figure."""
    copies = [ranking.resolution for _, ranking in members if ranking.resolution]
    compared = [ranking.versus_base(row) for _, ranking in members for row in ranking.summaries]
    axis = _axis([*filter(None, compared), *(each.comparison for each in copies)])
    groups, room = [], MAX_ROWS
    for scope, ranking in members:
        rows = [
            _row(row, ranking.versus_base(row), row_status(row, ranking), axis) for row in ranking.summaries
        ]
        if found := ranking.resolution:
            rows.append(_row(found.copy, found.comparison, copy_status(found), axis))
        if room > 0:
            groups.append(ForestGroup(scope if len(members) > 1 else "", tuple(rows[:room])))
        room -= len(rows)
    ends = [end for each in copies for end in _ends(each.comparison)]
    open_loop = members[0][1].open_loop
    return Forest(
        figure="p99" if open_loop else "Throughput",
        better="less" if open_loop else "more",
        groups=tuple(groups),
        ticks=axis.ticks(),
        one=axis.place(1),
        floor=(axis.place(1 - DEFAULT_FLOOR), axis.place(1 + DEFAULT_FLOOR)),
        resolution=(axis.place(min(ends)), axis.place(max(ends))) if ends else None,
        left_out=max(0, -room),
    )


def forests(analysis: Analysis) -> tuple[Forest, ...]:
    """One by throughput, and one by p99 where there is an open loop; none where nothing is compared."""
    found = [(scope, ranking) for scope, ranking in scopes(analysis.runtimes) if ranking.compared]
    if analysis.max_rates or analysis.only_memory:
        return ()
    kinds = [[each for each in found if each[1].open_loop is loop] for loop in (False, True)]
    return tuple(_forest(members) for members in kinds if members)


def forest_lines(forest: Forest, width: int = 80) -> list[str]:
    """The same for a terminal or a text, e.g. `valkey-glide ├──◀──┤ ┊ 0.64× (0.59–0.69) slower`."""
    labels = min(28, max(len(row.label) for row in forest.rows))
    texts = max(len(f"{row.text} {row.status}") for row in forest.rows if row.at is not None)
    axis = max(16, width - labels - texts - 4)

    def column(place: float) -> int:
        return round(place / 100 * (axis - 1))

    lines = []
    for group in forest.groups:
        if group.heading:
            lines.append(group.heading)
        for row in group.rows:
            cells = [" "] * axis
            cells[column(forest.one)] = "┊"
            if row.low is not None and row.high is not None:
                low, high = column(row.low), column(row.high)
                cells[low : high + 1] = ["─"] * (high - low + 1)
                cells[low], cells[high] = ("←" if row.cut_low else "├"), ("→" if row.cut_high else "┤")
            if row.at is not None:
                cells[column(row.at)] = row.shape
            label = row.label if len(row.label) <= labels else f"{row.label[: labels - 1]}…"
            said = f"{row.text} {row.status}".strip()
            lines.append(f"{label:<{labels}}  {''.join(cells)}  {said}".rstrip())
    if forest.left_out:
        lines.append(f"and {plural(forest.left_out, 'row')} more")
    return lines
