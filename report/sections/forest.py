"""The pictures of all ratios: one of the throughput, and one of the p99 of open loops."""

import math
from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from report.analysis.campaign_analysis import Analysis
from report.analysis.rankings import Ranking
from report.analysis.summary import Summary
from report.analysis.texts import NO_RATIO, decimals_of_ends
from report.sections.headings import scope_text, scopes
from report.statistics.comparison import Comparison

#: The axis ends here, so that one row does not squeeze the others. An arrow marks an interval that
#: is cut.
LEAST = 0.2
MOST = 5.0
#: The axis shows at least this much around 1.
_AROUND = 0.1
#: The possible ticks of the axis, the finest first.
_STEPS = (
    (0.9, 0.92, 0.94, 0.96, 0.98, 1, 1.02, 1.04, 1.06, 1.08, 1.1),
    (0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2),
    (0.25, 0.33, 0.5, 0.67, 1, 1.5, 2, 3, 4),
)
#: At most so many rows are drawn, while the table has all of them.
MAX_ROWS = 40

#: The mark of a row by its conclusion. Marks differ in shape and not only in colour.
SHAPES = {
    "faster": "▶",
    "better": "▶",
    "slightly faster": "▸",
    "slightly better": "▸",
    "faster, size open": "▷",
    "better, size open": "▷",
    "slower": "◀",
    "worse": "◀",
    "slightly slower": "◂",
    "slightly worse": "◂",
    "slower, size open": "◁",
    "worse, size open": "◁",
    "no difference": "■",
    "not decided": "○",
}


class ForestRow(Struct, frozen=True):
    """A drawn row. Places are in % of the axis, and None where there is no ratio."""

    summary_id: str
    label: str
    status: str
    statement: str
    """The status with what the interval bounds."""
    text: str
    shape: str
    at: float | None = None
    low: float | None = None
    high: float | None = None
    cut_low: bool = False
    cut_high: bool = False


class ForestGroup(Struct, frozen=True):
    """Rows that share a reference."""

    heading: str
    """Empty where there is only one group."""
    rows: tuple[ForestRow, ...]


class Forest(Struct, frozen=True):
    figure: str
    """`Throughput`, `p99`."""
    better: str
    """Which way is better: `more` or `less`."""
    groups: tuple[ForestGroup, ...]
    ticks: tuple[tuple[float, str], ...]
    """The place and text of each tick."""
    one: float
    """The place of the ratio 1."""
    margin: tuple[float, float]
    """The places between which a difference does not matter."""
    margin_text: str
    """The margin as text, such as `± 2 %`."""
    resolution: tuple[float, float] | None
    """The places between which copies of references lie; None without a copy."""
    left_out: int

    @property
    def rows(self) -> tuple[ForestRow, ...]:
        return tuple(row for group in self.groups for row in group.rows)


class _Axis(Struct, frozen=True):
    """A logarithmic axis, on which half as much is as far from 1 as twice as much."""

    low: float
    high: float

    def place(self, ratio: float) -> float:
        inside = min(max(ratio, self.low), self.high)
        return round(100 * math.log(inside / self.low) / math.log(self.high / self.low), 2)

    def ticks(self) -> tuple[tuple[float, str], ...]:
        """The finest marks of which at most seven fit."""
        for steps in _STEPS:
            visible = [step for step in steps if self.low <= step <= self.high]
            if len(visible) <= 7:
                break
        return tuple((self.place(step), f"{step:g}×") for step in visible)


def _ends(comparison: Comparison) -> list[float]:
    """The ratio and the ends of its interval, as far as they are known and drawn."""
    ends = [comparison.ratio]
    if comparison.interval:
        ends += [comparison.interval.low, comparison.interval.high]
    return [min(max(end, LEAST), MOST) for end in ends if end is not None]


def _axis(comparisons: Sequence[Comparison]) -> _Axis:
    ends = [end for comparison in comparisons for end in _ends(comparison)]
    low = min([1 - _AROUND, *ends])
    high = max([1 + _AROUND, *ends])
    return _Axis(low / 1.03, high * 1.03)


def _compared_row(
    summary: Summary, comparison: Comparison | None, ranking: Ranking, axis: _Axis
) -> ForestRow:
    """A row with the place of its ratio. Without a ratio it has no place."""
    status = ranking.conclusion_of(summary)
    row = ForestRow(
        summary_id=summary.id,
        label=summary.identity.short_label,
        status=status,
        statement=ranking.statement_of(summary),
        text="",
        shape=SHAPES.get(status, "○"),
    )
    if comparison is None or not comparison.ratio:
        reason = comparison.reason if comparison else NO_RATIO
        return structs.replace(row, text=summary.no_figures_reason or reason)

    text = f"{comparison.ratio:.2f}×"
    place = axis.place(comparison.ratio)
    interval = comparison.interval
    if interval is None:
        return structs.replace(row, text=text, at=place)

    if interval.high < math.inf:
        decimals = decimals_of_ends(comparison)
        text += f" ({interval.low:.{decimals}f}–{interval.high:.{decimals}f})"
    return structs.replace(
        row,
        text=text,
        at=place,
        low=axis.place(interval.low),
        high=axis.place(interval.high),
        cut_low=interval.low < axis.low,
        cut_high=interval.high > axis.high,
    )


def _base_row(base: Summary, status: str, axis: _Axis) -> ForestRow:
    """The base of the ratios, which stands at 1."""
    return ForestRow(
        summary_id=base.id,
        label=base.identity.short_label,
        status=status,
        statement=status,
        text=base.no_figures_reason,
        shape="◆",
        at=axis.place(1),
    )


def _rows(row: Summary, ranking: Ranking, axis: _Axis) -> Iterator[ForestRow]:
    """Draws a row of the ranking, and its copy, which stands directly below it."""
    if row is ranking.base:
        yield _base_row(row, ranking.conclusion_of(row), axis)
    else:
        yield _compared_row(row, ranking.versus_base(row), ranking, axis)

    resolution = ranking.resolution
    if resolution and resolution.reference is row:
        yield _compared_row(resolution.copy, resolution.comparison, ranking, axis)


def _forest(scoped_rankings: Sequence[tuple[str, Ranking]]) -> Forest:
    """The picture of rankings of one kind of loop, each with its scope."""
    resolutions = [ranking.resolution for _, ranking in scoped_rankings if ranking.resolution]
    copies = [resolution.comparison for resolution in resolutions]
    compared = [
        ranking.versus_base(row) for _, ranking in scoped_rankings for row in ranking.summaries
    ]
    axis = _axis([*filter(None, compared), *copies])

    groups = []
    room = MAX_ROWS
    for scope, ranking in scoped_rankings:
        rows = [drawn for row in ranking.summaries for drawn in _rows(row, ranking, axis)]
        if room > 0:
            heading = scope if len(scoped_rankings) > 1 else ""
            groups.append(ForestGroup(heading, tuple(rows[:room])))
        room -= len(rows)

    ends_of_copies = [end for comparison in copies for end in _ends(comparison)]
    resolution = None
    if ends_of_copies:
        resolution = (axis.place(min(ends_of_copies)), axis.place(max(ends_of_copies)))
    _, first_ranking = scoped_rankings[0]
    margin = first_ranking.base.margin
    return Forest(
        figure="p99" if first_ranking.open_loop else "Throughput",
        better="less" if first_ranking.open_loop else "more",
        groups=tuple(groups),
        ticks=axis.ticks(),
        one=axis.place(1),
        margin=(axis.place(1 - margin), axis.place(1 + margin)),
        margin_text=f"± {100 * margin:.3g} %",
        resolution=resolution,
        left_out=max(0, -room),
    )


def forests(analysis: Analysis) -> tuple[Forest, ...]:
    """The picture of the throughput, and that of the p99 where there is an open loop; none where
    nothing is compared, and where a load curve has a chart of its own."""
    if analysis.max_rates or analysis.only_memory or analysis.load_curves:
        return ()
    members = [
        (scope_text(parts), ranking)
        for parts, ranking in scopes(analysis.runtimes)
        if ranking.ranked_by
    ]
    by_loop = [
        [member for member in members if member[1].open_loop is open_loop]
        for open_loop in (False, True)
    ]
    return tuple(_forest(members_of_loop) for members_of_loop in by_loop if members_of_loop)
