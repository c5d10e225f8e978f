"""Draws a chart of lines as SVG, for a page without scripts and for files.

It draws the figure that the page would draw with scripts, so that both show the same. Colours are
those of the light palette, which `light-dark()` exchanges where it is known."""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from msgspec import Struct

from report.charts.colours import DARK, INK, MUTED, RULE

_WIDTH = 480
_HEIGHT = 270
_LEFT = 52
_RIGHT = 14
_TOP = 12
_BOTTOM = 44
_LEGEND_LINE = 18
#: A legend has this many columns, because the names of targets are long.
_LEGEND_COLUMNS = 2
_MAX_TICKS = 6

_DASHES = {"dash": "7 4", "dot": "2 3", "dashdot": "7 3 2 3", "longdash": "11 4"}


class Picture(Struct, frozen=True):
    title: str
    """The view that it shows. Empty if the figure has one view."""
    height: int
    content: str
    """The elements of the SVG, which is 480 units wide."""

    @property
    def width(self) -> int:
        return _WIDTH

    def svg(self, label: str, **attributes: str) -> str:
        """The whole element with further attributes. `label` says what it is a picture of."""
        attribute_text = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
        return (
            f'<svg viewBox="0 0 {_WIDTH} {self.height}" role="img" '
            f'aria-label="{escape(label)}"{attribute_text}>{self.content}</svg>'
        )


class _Axis(Struct, frozen=True):
    low: float
    high: float
    is_log: bool
    from_px: float
    to_px: float

    def at(self, value: float) -> float:
        low, value, high = (
            math.log(max(number, 1e-12)) if self.is_log else number
            for number in (self.low, value, self.high)
        )
        share = (value - low) / (high - low) if high > low else 0.5
        return round(self.from_px + share * (self.to_px - self.from_px), 1)

    def ticks(self) -> list[float]:
        return _log_ticks(self.low, self.high) if self.is_log else _ticks(self.low, self.high)


def _ticks(low: float, high: float) -> list[float]:
    power = 10 ** math.floor(math.log10(max(high - low, 1e-9)))
    steps = (power * factor for factor in (0.2, 0.5, 1, 2, 5))
    step = next(step for step in steps if (high - low) / step <= _MAX_TICKS)
    first = math.ceil(low / step)
    return [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 of each power of ten, or the powers alone if those are many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    fine = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
    inside = [tick for tick in fine if low <= tick <= high]
    if len(inside) <= 2 * _MAX_TICKS:
        return inside
    return [10.0**power for power in powers if low <= 10.0**power <= high]


def line_pictures(figure: Mapping[str, Any]) -> Iterator[Picture]:
    """A picture for each view of a figure with lines."""
    views = figure["layout"]["meta"]["views"]
    for view in views:
        rows = set(view["rows"])
        traces = [_Line(trace, rows) for trace in figure["data"]]
        lines = [line for line in traces if line.points]
        if lines:
            yield _picture(lines, figure["layout"], view["text"] if len(views) > 1 else "")


class _Line:
    """A trace, as far as it belongs to a view."""

    def __init__(self, trace: Mapping[str, Any], rows: set[str]) -> None:
        self.name: str = trace["name"]
        """Is escaped already."""
        self.colour: str = trace["line"]["color"]
        self.dash = _DASHES.get(trace["line"].get("dash", ""), "")
        error: Mapping[str, Any] = trace.get("error_y") or {}
        above = error.get("array") or [0] * len(trace["x"])
        below = error.get("arrayminus") or [0] * len(trace["x"])
        self.points = [
            (x, y, y - less, y + more)
            for x, y, row, less, more in zip(
                trace["x"], trace["y"], trace["meta"], below, above, strict=True
            )
            if row in rows and x is not None and y is not None
        ]


def _axis(values: Sequence[float], axis: Mapping[str, Any], from_px: float, to_px: float) -> _Axis:
    """An axis that holds all values. Those at the ends have a little room beyond them."""
    is_log = axis.get("type") == "log"
    low = min(values)
    high = max(values)
    if is_log:
        low = max(low, 1e-9)
        return _Axis(low / 1.15, high * 1.15, is_log, from_px, to_px)
    low = min(0.0, low) if axis.get("rangemode") == "tozero" else low
    return _Axis(low, high * 1.05 or 1.0, is_log, from_px, to_px)


def _picture(lines: Sequence[_Line], layout: Mapping[str, Any], title: str) -> Picture:
    points = [point for line in lines for point in line.points]
    x = _axis([point[0] for point in points], layout["xaxis"], _LEFT, _WIDTH - _RIGHT)
    heights = [height for point in points for height in point[1:]]
    if layout["yaxis"].get("type") == "log":
        heights = [height for height in heights if height > 0]
    y = _axis(heights, layout["yaxis"], _HEIGHT - _BOTTOM, _TOP)
    parts = [*_grid(x, y, layout), *(part for line in lines for part in _drawn(line, x, y))]
    parts += _legend(lines)
    legend_lines = math.ceil(len(lines) / _LEGEND_COLUMNS)
    return Picture(title, _HEIGHT + _LEGEND_LINE * legend_lines + 6, "".join(parts))


def _paint(member: str, colour: str) -> str:
    """The attributes of a colour. A program that does not know `light-dark()` keeps the light
    one."""
    dark = DARK.get(colour, colour)
    return f'{member}="{colour}" style="{member}:light-dark({colour},{dark})"'


def _text(x: float, y: float, text: str, anchor: str, colour: str = MUTED) -> str:
    paint = _paint("fill", colour)
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="12" {paint}>{text}</text>'


def _number(value: float) -> str:
    return f"{value:,.6g}"


def _grid(x: _Axis, y: _Axis, layout: Mapping[str, Any]) -> Iterator[str]:
    bottom = _HEIGHT - _BOTTOM
    rule = f'fill="none" {_paint("stroke", RULE)}'
    for tick in y.ticks():
        yield f'<path d="M{_LEFT} {y.at(tick):g}H{_WIDTH - _RIGHT}" {rule}/>'
        yield _text(_LEFT - 6, y.at(tick) + 4, _number(tick), "end")
    last_px = -math.inf
    for tick in x.ticks():
        yield f'<path d="M{x.at(tick):g} {_TOP}V{bottom}" {rule}/>'
        # Labels that would touch are left out.
        if x.at(tick) - last_px >= 8 + 7 * len(_number(tick)):
            last_px = x.at(tick)
            yield _text(last_px, bottom + 16, _number(tick), "middle")
    titles = [escape(layout[axis]["title"]["text"]) for axis in ("xaxis", "yaxis")]
    yield _text(_WIDTH - _RIGHT, bottom + 34, titles[0], "end")
    yield _text(_LEFT, bottom + 34, f"↑ {titles[1]}", "start")


def _drawn(line: _Line, x: _Axis, y: _Axis) -> Iterator[str]:
    stroke = f'fill="none" {_paint("stroke", line.colour)}'
    dash = f' stroke-dasharray="{line.dash}"' if line.dash else ""
    places = [(x.at(point[0]), y.at(point[1])) for point in line.points]
    path = "L".join(f"{left:g} {top:g}" for left, top in places)
    yield f'<path d="M{path}" stroke-width="2"{dash} {stroke}/>'
    for (left, top), (_, _, low, high) in zip(places, line.points, strict=True):
        if high > low:
            yield f'<path d="M{left:g} {y.at(low):g}V{y.at(high):g}" stroke-width="1.5" {stroke}/>'
        yield f'<circle cx="{left:g}" cy="{top:g}" r="3.5" {_paint("fill", line.colour)}/>'


def _legend(lines: Sequence[_Line]) -> Iterator[str]:
    width = (_WIDTH - 16) / _LEGEND_COLUMNS
    for index, line in enumerate(lines):
        left = 12 + width * (index % _LEGEND_COLUMNS)
        top = _HEIGHT + _LEGEND_LINE * (index // _LEGEND_COLUMNS)
        dash = f' stroke-dasharray="{line.dash}"' if line.dash else ""
        stroke = f'fill="none" {_paint("stroke", line.colour)}'
        yield f'<path d="M{left:g} {top + 8:g}h22" stroke-width="2"{dash} {stroke}/>'
        yield f'<circle cx="{left + 11:g}" cy="{top + 8:g}" r="3.5" {_paint("fill", line.colour)}/>'
        yield _text(left + 28, top + 12, line.name, "start", INK)
