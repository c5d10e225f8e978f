"""Small charts as SVG files: no browser, no script, light and dark by the reader's own setting."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from report.base.errors import one_line

_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1f2328}.t{font-weight:600;font-size:15px}.q{fill:#59636e}"
    ".a{fill:#2f6fb5}.b{fill:#9dbfe3}.l{stroke:#1f2328;fill:none}.d{fill:#1f2328;stroke:#fff}.g{stroke:#d1d9e0}"
    "rect.p{fill:#fff}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.q{fill:#9198a1}.a{fill:#58a6ff}"
    ".b{fill:#1f4e85}.l{stroke:#e6edf3}.d{fill:#e6edf3;stroke:#0d1117}.g{stroke:#3d444d}rect.p{fill:#0d1117}}"
)
_WIDTH, _LEFT, _RIGHT, _TOP, _ROW, _BAR = 860, 270, 110, 64, 30, 16
#: Room for the words of an interval.
_TEXT = 240
#: Width of a character of the texts behind bars.
_CHARACTER = 7
_LONGEST_LABEL = 38


@dataclass(frozen=True, slots=True)
class Bar:
    """One row: a bar from zero, a second and longer one behind it, and points on it, all of one unit."""

    label: str
    value: float | None
    text: str
    behind: float | None = None
    points: tuple[float, ...] = ()


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    mark = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{mark}>{escape(text)}</text>'


def _row(bar: Bar, top: float, scale: float) -> list[str]:
    middle = top + _BAR / 2
    label = _text(_LEFT - 10, middle + 4, one_line(bar.label, _LONGEST_LABEL), anchor="end")
    if bar.value is None:
        return [label, _text(_LEFT, middle + 4, one_line(bar.text, 70), "q")]
    end = _LEFT + scale * max(bar.value, bar.behind or 0, *bar.points)
    parts = [label]
    for kind, value in (("b", bar.behind), ("a", bar.value)):
        if value is not None:
            parts.append(
                f'<rect class="{kind}" x="{_LEFT}" y="{top:g}" width="{scale * value:.1f}" height="{_BAR}"/>'
            )
    if len(bar.points) > 1:
        low, high = (_LEFT + scale * value for value in (min(bar.points), max(bar.points)))
        parts.append(f'<path class="l" d="M{low:.1f} {middle:g}H{high:.1f}"/>')
        parts += [
            f'<circle class="d" cx="{_LEFT + scale * value:.1f}" cy="{middle:g}" r="3"/>'
            for value in bar.points
        ]
    return [*parts, _text(end + 10, middle + 4, bar.text)]


def bar_chart(title: str, subtitle: str, bars: Sequence[Bar]) -> str:
    """Horizontal bars over one axis from zero."""
    highest = max((max(bar.value or 0, bar.behind or 0, *bar.points) for bar in bars), default=0)
    texts = [len(bar.text) for bar in bars if bar.value is not None]
    right = max(_RIGHT, 20 + _CHARACTER * max(texts, default=0))
    scale = (_WIDTH - _LEFT - right) / highest if highest > 0 else 0
    height = _TOP + _ROW * len(bars) + 10
    rows = [part for index, bar in enumerate(bars) for part in _row(bar, _TOP + index * _ROW, scale)]
    axis = f'<path class="g" d="M{_LEFT} {_TOP - 6}V{height - 10}"/>'
    return _document(
        title, subtitle, "; ".join(f"{bar.label}: {bar.text}" for bar in bars), height, [axis, *rows]
    )


def _document(title: str, subtitle: str, described: str, height: int, parts: Sequence[str]) -> str:
    whole = escape(one_line(f"{title}. {subtitle}. {described}", 4000))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
            f'viewBox="0 0 {_WIDTH} {height}" role="img">',
            f"<title>{escape(one_line(title))}</title><desc>{whole}</desc>",
            f"<style>{_STYLE}</style>",
            f'<rect class="p" width="{_WIDTH}" height="{height}"/>',
            _text(16, 26, one_line(title, 110), "t"),
            _text(16, 46, one_line(subtitle, 130), "q"),
            *parts,
            "</svg>",
            "",
        ]
    )


@dataclass(frozen=True, slots=True)
class Interval:
    """One row: a point with its interval, places in % of the axis; None for what is not known."""

    label: str
    text: str
    shape: str
    at: float | None
    low: float | None
    high: float | None


def interval_chart(
    title: str,
    subtitle: str,
    rows: Sequence[Interval],
    one: float,
    band: tuple[float, float],
    ticks: Sequence[tuple[float, str]],
) -> str:
    """Rows with their intervals on one axis."""
    wide = _WIDTH - _LEFT - _TEXT
    height = _TOP + _ROW * len(rows) + 26

    def x(place: float) -> float:
        return _LEFT + wide * place / 100

    parts = [
        f'<rect class="b" opacity="0.5" x="{x(band[0]):.1f}" y="{_TOP - 6}" '
        f'width="{x(band[1]) - x(band[0]):.1f}" height="{_ROW * len(rows)}"/>',
        f'<path class="g" d="M{x(one):.1f} {_TOP - 6}V{height - 30}"/>',
    ]
    for index, row in enumerate(rows):
        middle = _TOP + index * _ROW + 9
        parts.append(_text(_LEFT - 10, middle + 4, one_line(row.label, _LONGEST_LABEL), anchor="end"))
        if row.low is not None and row.high is not None:
            low, high = x(row.low), x(row.high)
            ends = f"M{low:.1f} {middle - 5}v10M{high:.1f} {middle - 5}v10"
            parts.append(f'<path class="l" stroke-width="2" d="M{low:.1f} {middle}H{high:.1f}{ends}"/>')
        if row.at is not None:
            parts.append(_text(x(row.at), middle + 5, row.shape, "t", "middle"))
        parts.append(_text(_WIDTH - _TEXT + 14, middle + 4, one_line(row.text, 60)))
    parts += [_text(x(place), height - 12, text, "q", "middle") for place, text in ticks]
    described = "; ".join(f"{row.label}: {row.text}" for row in rows)
    return _document(title, subtitle, described, height, parts)
