"""One strip per target: how requests ended around a fault, with the p99, on axes that all strips share."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from report.analysis.faults import FaultCase, FaultedRun, FaultGroup, fault_words, seconds_text
from report.base.format import milliseconds
from report.charts.chart_data import literal
from report.charts.layout import BAND, FAILED, INK, LIMITED, SERVED, Chart, figure, value_axis
from report.results.records import Timeline

MAX_STRIPS = 12
_STRIP_PX, _TITLE_PX, _TOP_PX, _BOTTOM_PX = 84, 24, 34, 46
#: About what the labels of the left axis take.
_LABELS_PX = 34
#: Drawn before the injection.
_BEFORE_S = 5.0
#: A backlog that is served at once would dwarf all else: the axis ends at this multiple of the usual rate. It
#: is not round, so that the title of a strip and a tick do not meet.
_MAX_RATE = 1.9
#: The width of a slice.
_WIDTH_S = 0.1


@dataclass(frozen=True, slots=True)
class _Strip:
    case: FaultCase
    timeline: Timeline
    faulted: FaultedRun

    @property
    def from_s(self) -> float:
        injected = self.faulted.record.injected
        return injected.from_s if injected else 0.0

    @property
    def to_s(self) -> float:
        injected = self.faulted.record.injected
        return injected.to_s if injected else 0.0

    @property
    def slices(self) -> range:
        first = int(max(0.0, self.from_s - _BEFORE_S) / _WIDTH_S)
        return range(first, len(self.timeline.allowed))

    @property
    def times_s(self) -> list[float]:
        return [round(index * _WIDTH_S - self.from_s, 3) for index in self.slices]

    @property
    def usual_rate(self) -> float:
        line = self.timeline
        until = int(self.from_s / _WIDTH_S)
        ended = [
            sum(each) for each in zip(line.allowed, line.limited, line.failed, line.timed_out, strict=True)
        ]
        before = ended[:until] if sum(ended[:until]) else ended
        return sum(before) / len(before) / _WIDTH_S if before else 0.0

    @property
    def title(self) -> str:
        figures = self.faulted.figures
        shown = ""
        if figures.recovery == "never":
            shown = "no recovery"
        elif figures.recovery_s is not None:
            seen = figures.outage_seen_s or figures.recovery_s
            shown = f"recovery {seconds_text(figures.recovery_s)} s" if seen else "no outage seen"
        label = f"<b>{literal(self.case.identity.label)}</b>"
        return f"{label} · {shown}" if shown else label


def _strips(group: FaultGroup) -> list[_Strip]:
    found = ((case, case.typical) for case in group.cases)
    return [_Strip(case, each.timeline, each) for case, each in found if each and each.timeline]


def _areas(strip: _Strip, number: int, legend: bool) -> list[go.Scatter]:
    line, times_s = strip.timeline, strip.times_s

    def per_second(*columns: Sequence[int]) -> list[float]:
        return [round(sum(column[index] for column in columns) / _WIDTH_S, 1) for index in strip.slices]

    kinds = (
        ("admitted", SERVED, per_second(line.allowed)),
        ("limited", LIMITED, per_second(line.limited)),
        ("failed or given up", FAILED, per_second(line.failed, line.timed_out)),
    )
    return [
        go.Scatter(
            name=name,
            legendgroup=name,
            showlegend=legend,
            meta=strip_id(strip.case),
            x=times_s,
            y=values,
            yaxis=_axis(2 * number + 1),
            mode="lines",
            line={"width": 0, "shape": "hv", "color": colour},
            stackgroup=f"strip{number}",
            fillcolor=colour,
            hovertemplate=f"%{{x:.1f}} s: %{{y:,.0f}}/s {name}<extra></extra>",
        )
        for name, colour, values in kinds
    ]


def _p99(strip: _Strip, number: int, legend: bool) -> go.Scatter:
    values = [
        None if (us := strip.timeline.p99_us[index]) is None else round(us / 1000, 3)
        for index in strip.slices
    ]
    return go.Scatter(
        name="p99",
        showlegend=legend,
        legendgroup="p99",
        meta=strip_id(strip.case),
        x=strip.times_s,
        y=values,
        yaxis=_axis(2 * number + 2),
        mode="lines",
        line={"width": 1.3, "color": INK, "shape": "hv"},
        customdata=[milliseconds(value) for value in values],
        hovertemplate="%{x:.1f} s: p99 %{customdata} ms<extra></extra>",
    )


def _axis(number: int) -> str:
    return "y" if number == 1 else f"y{number}"


def strip_id(case: FaultCase) -> str:
    return f"fault-{case.identity.key}-{case.place}"


def _band(strip: _Strip, number: int) -> dict[str, Any]:
    """The time of the fault; at least wide enough to be seen."""
    return {
        "type": "rect",
        "xref": "x",
        "yref": f"{_axis(2 * number + 1)} domain",
        "x0": 0,
        "x1": max(0.15, round(strip.to_s - strip.from_s, 3)),
        "y0": 0,
        "y1": 1,
        "fillcolor": BAND,
        "line": {"width": 0},
        "layer": "below",
    }


def _recovery_line(strip: _Strip, number: int) -> list[dict[str, Any]]:
    figures = strip.faulted.figures
    if not figures.recovery_s:
        return []
    return [
        {
            "type": "line",
            "xref": "x",
            "yref": f"{_axis(2 * number + 1)} domain",
            "x0": figures.recovery_s,
            "x1": figures.recovery_s,
            "y0": 0,
            "y1": 1,
            "line": {"width": 1, "dash": "dot", "color": INK},
        }
    ]


@dataclass(frozen=True, slots=True)
class _Axes:
    times_s: tuple[float, float]
    top_rate: float
    p99_range: list[float]


def _axes(strips: Sequence[_Strip]) -> _Axes:
    return _Axes(
        times_s=(
            min(strip.times_s[0] for strip in strips),
            max(strip.times_s[-1] + _WIDTH_S for strip in strips),
        ),
        top_rate=_MAX_RATE * max(strip.usual_rate for strip in strips),
        p99_range=_p99_range(strips),
    )


def _p99_range(strips: Sequence[_Strip]) -> list[float]:
    values = [us / 1000 for strip in strips for us in strip.timeline.p99_us if us]
    if not values:
        return [0, 1]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return [low, max(high, low + 1)]


def _layout(strips: Sequence[_Strip], shared: _Axes) -> dict[str, Any]:
    each_px = _TITLE_PX + _STRIP_PX
    plot_px = each_px * len(strips)
    axes: dict[str, Any] = {}
    annotations, shapes = [], []
    for number, strip in enumerate(strips):
        bottom = 1 - (number + 1) * each_px / plot_px
        domain = [bottom, bottom + _STRIP_PX / plot_px]
        left, right = 2 * number + 1, 2 * number + 2
        axes[f"yaxis{left if left > 1 else ''}"] = value_axis(
            "", domain=domain, range=[0, shared.top_rate], nticks=3, anchor="x"
        )
        axes[f"yaxis{right}"] = value_axis(
            "",
            type="log",
            rangemode="normal",
            overlaying=_axis(left),
            side="right",
            range=shared.p99_range,
            dtick=1,
            tickformat="~g",
            showgrid=False,
            anchor="x",
        )
        annotations.append(
            {
                "text": strip.title,
                "xref": "paper",
                "yref": "paper",
                "x": 0,
                # From the edge of the page on: labels are long, and phones narrow.
                "xshift": -_LABELS_PX,
                "y": domain[1],
                "xanchor": "left",
                "yanchor": "bottom",
                "showarrow": False,
                "borderpad": 2,
            }
        )
        shapes.extend([_band(strip, number), *_recovery_line(strip, number)])
    ids = [strip_id(strip.case) for strip in strips]
    height = plot_px + _TOP_PX + _BOTTOM_PX
    return {
        "xaxis": value_axis(
            "seconds from the fault",
            rangemode="normal",
            range=list(shared.times_s),
            anchor=_axis(2 * len(strips) - 1),
            showgrid=False,
            zeroline=False,
        ),
        **axes,
        "annotations": annotations,
        "shapes": shapes,
        "showlegend": True,
        "margin": {"l": 10, "r": 10, "t": _TOP_PX, "b": _BOTTOM_PX},
        "height": height,
        "meta": {
            "views": [{"text": "", "rows": ids, "own": len(ids)}],
            "max_rows": MAX_STRIPS,
            "narrow_px": height,
        },
    }


@dataclass(frozen=True, slots=True)
class FaultChart:
    chart: Chart
    figure: dict[str, Any]
    rows: tuple[str, ...]


def _chart(group: FaultGroup, number: int, found: Sequence[_Strip], shared: _Axes) -> FaultChart:
    strips = found[:MAX_STRIPS]
    traces = [
        trace
        for place, strip in enumerate(strips)
        for trace in (*_areas(strip, place, place == 0), _p99(strip, place, place == 0))
    ]
    left_out = len(found) > len(strips)
    caption = f"Drawn: the first {len(strips)} of {len(found)} targets." if left_out else ""
    chart = Chart(f"fault{number}", f"When {fault_words(group.fault)}", caption, lambda _: None)
    return FaultChart(
        chart, figure(traces, _layout(strips, shared)), tuple(strip_id(strip.case) for strip in strips)
    )


def fault_charts(groups: Sequence[FaultGroup]) -> list[FaultChart]:
    """One a fault, of those with a timeline; beyond `MAX_STRIPS` targets, the first are drawn."""
    drawn = [
        (group, number, strips) for number, group in enumerate(groups, start=1) if (strips := _strips(group))
    ]
    if not drawn:
        return []
    shared = _axes([strip for _, _, strips in drawn for strip in strips])
    return [_chart(group, number, strips, shared) for group, number, strips in drawn]
