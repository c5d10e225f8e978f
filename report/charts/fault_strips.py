"""Draws one strip for each target, with how requests ended around a fault and the p99, on axes that
all strips share."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import plotly.graph_objects as go
from msgspec import Struct

from report.analysis.fault_figures import (
    NEVER,
    FaultCase,
    FaultedRun,
    FaultGroup,
    fault_words,
    seconds_text,
)
from report.base.format import milliseconds
from report.charts.chart_data import literal
from report.charts.colours import BAND, FAILED, INK, LIMITED, SERVED
from report.charts.layout import Chart, figure, value_axis
from report.results.generated.records import Timeline

MAX_STRIPS = 12
_STRIP_PX = 84
_TITLE_PX = 24
_TOP_PX = 34
_BOTTOM_PX = 46
#: The approximate width of the labels of the left axis.
_LABELS_PX = 34
#: A strip begins this long before the injection.
_BEFORE_S = 5.0
#: The axis ends at this multiple of the typical rate, because a backlog that is served at once
#: would dwarf everything else. It is not round, so that the title of a strip and a tick do not
#: meet.
_MAX_RATE = 1.9
#: The width of a slice.
_WIDTH_S = 0.1


def _moment_text(at_s: float) -> str:
    return "never" if at_s == NEVER else f"{seconds_text(at_s)} s"


class _Strip(Struct, frozen=True):
    case: FaultCase
    drawn: FaultedRun
    timeline: Timeline

    @property
    def id(self) -> str:
        return f"fault-{self.case.identity.key}-{self.case.place}"

    @property
    def injected_s(self) -> tuple[float, float]:
        """Beginning and end of the injection, in seconds into the window."""
        injected = self.drawn.record.injected
        return (injected.from_s, injected.to_s) if injected else (0.0, 0.0)

    @property
    def slices(self) -> range:
        first = int(max(0.0, self.injected_s[0] - _BEFORE_S) / _WIDTH_S)
        return range(first, len(self.timeline.allowed))

    @property
    def times_s(self) -> list[float]:
        from_s, _ = self.injected_s
        return [round(index * _WIDTH_S - from_s, 3) for index in self.slices]

    @property
    def typical_rate(self) -> float:
        line = self.timeline
        columns = (line.allowed, line.limited, line.failed, line.timed_out)
        ended_counts = [sum(column_values) for column_values in zip(*columns, strict=True)]
        counts_before = ended_counts[: int(self.injected_s[0] / _WIDTH_S)]
        typical_counts = counts_before if sum(counts_before) else ended_counts
        return sum(typical_counts) / len(typical_counts) / _WIDTH_S if typical_counts else 0.0

    @property
    def title(self) -> str:
        served = self.drawn.served_again_s
        settled = self.drawn.settled_again_s
        if served == settled == 0 and not self.drawn.figures.outage_seen_s:
            texts = ["no outage seen"]
        elif served is not None and served == settled:
            texts = [f"served and settled again {_moment_text(served)}"]
        else:
            moments = (("served again", served), ("settled", settled))
            texts = [
                f"{moment} {_moment_text(at_s)}" for moment, at_s in moments if at_s is not None
            ]
        return " · ".join([f"<b>{literal(self.case.identity.label)}</b>", *texts])


def _strips(group: FaultGroup) -> list[_Strip]:
    cases_with_runs = [(case, case.typical) for case in group.cases]
    return [
        _Strip(case, run, run.timeline) for case, run in cases_with_runs if run and run.timeline
    ]


def _traces(strip: _Strip, number: int) -> list[go.Scatter]:
    """The traces of how requests ended, stacked, and of the p99 over them."""
    line = strip.timeline

    def trace(
        name: str, values: Sequence[float | None], axis: int, line: dict[str, Any], **more: Any
    ) -> Any:
        legend_entry = {
            "name": name,
            "legendgroup": name,
            "showlegend": number == 0,
            "meta": strip.id,
        }
        return go.Scatter(
            **legend_entry,
            x=strip.times_s,
            y=values,
            yaxis=_axis(axis),
            mode="lines",
            line={**line, "shape": "hv"},
            **more,
        )

    def ended(name: str, colour: str, *columns: Sequence[int]) -> go.Scatter:
        return trace(
            name,
            [
                round(sum(column[index] for column in columns) / _WIDTH_S, 1)
                for index in strip.slices
            ],
            2 * number + 1,
            {"width": 0, "color": colour},
            stackgroup=f"strip{number}",
            fillcolor=colour,
            hovertemplate=f"%{{x:.1f}} s: %{{y:,.0f}}/s {name}<extra></extra>",
        )

    p99s_us = [line.p99_us[index] for index in strip.slices]
    p99_ms = [None if us is None else round(us / 1000, 3) for us in p99s_us]
    return [
        ended("admitted", SERVED, line.allowed),
        ended("limited", LIMITED, line.limited),
        ended("failed or given up", FAILED, line.failed, line.timed_out),
        trace(
            "p99",
            p99_ms,
            2 * number + 2,
            {"width": 1.3, "color": INK},
            customdata=[milliseconds(value) for value in p99_ms],
            hovertemplate="%{x:.1f} s: p99 %{customdata} ms<extra></extra>",
        ),
    ]


def _axis(number: int) -> str:
    return "y" if number == 1 else f"y{number}"


def _shapes(strip: _Strip, number: int) -> list[dict[str, Any]]:
    """Shapes for the time of the fault and for the moments when requests were served again (dotted)
    and settled (dashed). The time of the fault is drawn wide enough to be seen."""

    def shape(kind: str, x0: float, x1: float, **more: Any) -> dict[str, Any]:
        place = {"xref": "x", "yref": f"{_axis(2 * number + 1)} domain", "y0": 0, "y1": 1}
        return {"type": kind, "x0": x0, "x1": x1, **place, **more}

    from_s, to_s = strip.injected_s
    lasted_s = max(0.15, round(to_s - from_s, 3))
    shapes = [shape("rect", 0, lasted_s, fillcolor=BAND, line={"width": 0}, layer="below")]
    moments = (("dot", strip.drawn.served_again_s), ("dash", strip.drawn.settled_again_s))
    for dash, moment_s in moments:
        if moment_s and moment_s != NEVER:
            shapes.append(
                shape("line", moment_s, moment_s, line={"width": 1, "dash": dash, "color": INK})
            )
    return shapes


def _p99_range(strips: Sequence[_Strip]) -> list[float]:
    values = [us / 1000 for strip in strips for us in strip.timeline.p99_us if us]
    if not values:
        return [0, 1]
    low = math.floor(math.log10(min(values)))
    high = math.ceil(math.log10(max(values)))
    return [low, max(high, low + 1)]


def _shared_axes(strips: Sequence[_Strip]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The axes of time, of rates at the left, and of the p99 at the right."""
    first = min(strip.times_s[0] for strip in strips)
    last = max(strip.times_s[-1] + _WIDTH_S for strip in strips)
    top_rate = _MAX_RATE * max(strip.typical_rate for strip in strips)
    time = {"rangemode": "normal", "range": [first, last], "showgrid": False, "zeroline": False}
    p99 = {"type": "log", "rangemode": "normal", "dtick": 1, "tickformat": "~g", "showgrid": False}
    return (
        value_axis("seconds from the fault", **time),
        value_axis("", range=[0, top_rate], nticks=3, anchor="x"),
        value_axis("", **p99, range=_p99_range(strips), side="right", anchor="x"),
    )


def _layout(strips: Sequence[_Strip], all_strips: Sequence[_Strip]) -> dict[str, Any]:
    time, rate, p99 = _shared_axes(all_strips)
    strip_px = _TITLE_PX + _STRIP_PX
    plot_px = strip_px * len(strips)
    axes: dict[str, Any] = {"xaxis": {**time, "anchor": _axis(2 * len(strips) - 1)}}
    annotations = []
    shapes = []
    # Titles start at the edge of the page, because labels are long and phones narrow.
    title = {"xref": "paper", "yref": "paper", "x": 0, "xshift": -_LABELS_PX, "xanchor": "left"}
    title |= {"yanchor": "bottom", "showarrow": False, "borderpad": 2}
    for number, strip in enumerate(strips):
        bottom = 1 - (number + 1) * strip_px / plot_px
        top = bottom + _STRIP_PX / plot_px
        left_axis = _axis(2 * number + 1)
        right_axis = _axis(2 * number + 2)
        axes[f"yaxis{left_axis[1:]}"] = {**rate, "domain": [bottom, top]}
        axes[f"yaxis{right_axis[1:]}"] = {**p99, "overlaying": left_axis}
        annotations.append({**title, "text": strip.title, "y": top})
        shapes.extend(_shapes(strip, number))
    ids = [strip.id for strip in strips]
    height = plot_px + _TOP_PX + _BOTTOM_PX
    views = [{"text": "", "rows": ids, "own": len(ids)}]
    return {
        **axes,
        "annotations": annotations,
        "shapes": shapes,
        "showlegend": True,
        "margin": {"l": 10, "r": 10, "t": _TOP_PX, "b": _BOTTOM_PX},
        "height": height,
        "meta": {"views": views, "max_rows": MAX_STRIPS, "narrow_px": height},
    }


def fault_charts(
    groups: Sequence[FaultGroup],
) -> Iterator[tuple[Chart, dict[str, Any], tuple[str, ...]]]:
    """One chart for each fault with a timeline, its figure and the ids of its strips.

    Of more than `MAX_STRIPS` targets only the first are drawn."""
    strips_of_groups = [_strips(group) for group in groups]
    all_strips = [strip for strips in strips_of_groups for strip in strips]
    for number, (group, strips) in enumerate(zip(groups, strips_of_groups, strict=True), start=1):
        if not strips:
            continue
        drawn = strips[:MAX_STRIPS]
        caption = "Left: requests/s by how they ended. Right: their p99 in ms."
        caption += (
            f" Drawn: the first {len(drawn)} of {len(strips)} targets."
            if strips[MAX_STRIPS:]
            else ""
        )
        chart = Chart(f"fault{number}", f"When {fault_words(group.fault)}", caption, lambda _: None)
        traces = [trace for place, strip in enumerate(drawn) for trace in _traces(strip, place)]
        yield chart, figure(traces, _layout(drawn, all_strips)), tuple(strip.id for strip in drawn)
