"""Draws the files of `--images`, which are SVG for a README or a slide: the answer, and throughput
and latency of each cell.

They need no browser and no script, and follow the reader's light or dark setting."""

from collections.abc import Callable, Iterator, Sequence
from html import escape

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.figures import p50, p99, throughput
from report.analysis.summary import Summary
from report.analysis.texts import at_its_load
from report.base.errors import one_line
from report.base.format import cut_labels, rate
from report.charts.chart_data import chart_data_of
from report.charts.cores_over_rate import CORES_OVER_RATE
from report.charts.line_picture import Picture, line_pictures
from report.sections.forest import Forest, ForestRow, forests
from report.sections.headings import cell_title

#: A picture with more bars is not readable.
MAX_BARS = 40
MAX_CELLS = 50

_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1f2328}.t{font-weight:600;font-size:15px}.q{fill:#59636e}"
    ".a{fill:#2f6fb5}.b{fill:#9dbfe3}.l{stroke:#1f2328;fill:none}.d{fill:#1f2328;stroke:#fff}.g{stroke:#d1d9e0}"
    "rect.p{fill:#fff}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.q{fill:#9198a1}.a{fill:#58a6ff}"
    ".b{fill:#1f4e85}.l{stroke:#e6edf3}.d{fill:#e6edf3;stroke:#0d1117}.g{stroke:#3d444d}rect.p{fill:#0d1117}}"
)
_WIDTH = 860
_LEFT = 270
_RIGHT = 110
_TOP = 64
_ROW = 30
_BAR = 16
#: Width of the column with the texts of intervals.
_TEXT = 240
#: Width of a character in the texts behind bars.
_CHARACTER = 7

Lengths = tuple[float | None, float | None, tuple[float, ...]]
"""The length of a bar, that of a longer bar behind it, and the points on it, all in one unit."""

Bar = tuple[str, str, *Lengths]
"""The label of a row, its text and its lengths."""


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    mark = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{mark}>{escape(text)}</text>'


#: Characters of a label that fit beside the bars.
_LABEL = 38


def _label(text: str, y: float) -> str:
    return _text(_LEFT - 10, y, one_line(text), anchor="end")


def _document(
    title: str, subtitle: str, rows: Sequence[tuple[str, str]], height: int, parts: Sequence[str]
) -> str:
    """The whole SVG. `rows` are the labels and texts that describe the picture in words."""
    row_texts = "; ".join(f"{label}: {text}" for label, text in rows)
    description = escape(one_line(f"{title}. {subtitle}. {row_texts}", 4000))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
            f'viewBox="0 0 {_WIDTH} {height}" role="img">',
            f"<title>{escape(one_line(title))}</title><desc>{description}</desc>",
            f"<style>{_STYLE}</style>",
            f'<rect class="p" width="{_WIDTH}" height="{height}"/>',
            _text(16, 26, one_line(title, 110), "t"),
            _text(16, 46, one_line(subtitle, 130), "q"),
            *parts,
            "</svg>",
            "",
        ]
    )


def _bar(bar: Bar, label: str, top: float, scale: float) -> list[str]:
    _, text, value, behind, points = bar
    middle = top + _BAR / 2
    name = _label(label, middle + 4)
    if value is None:
        return [name, _text(_LEFT, middle + 4, one_line(text, 70), "q")]

    parts = [
        f'<rect class="{kind}" x="{_LEFT}" y="{top:g}" width="{scale * length:.1f}" height="{_BAR}"/>'
        for kind, length in (("b", behind), ("a", value))
        if length is not None
    ]

    if len(points) > 1:
        xs = [_LEFT + scale * point for point in points]
        parts.append(f'<path class="l" d="M{min(xs):.1f} {middle:g}H{max(xs):.1f}"/>')
        parts += [f'<circle class="d" cx="{x:.1f}" cy="{middle:g}" r="3"/>' for x in xs]

    end = _LEFT + scale * max(value, behind or 0, *points)
    return [name, *parts, _text(end + 10, middle + 4, text)]


def _bar_chart(title: str, subtitle: str, bars: Sequence[Bar]) -> str:
    """Horizontal bars over one axis from zero."""
    highest = max(
        (max(value or 0, behind or 0, *points) for _, _, value, behind, points in bars), default=0
    )
    texts = [len(text) for _, text, value, _, _ in bars if value is not None]
    right = max(_RIGHT, 20 + _CHARACTER * max(texts, default=0))
    scale = (_WIDTH - _LEFT - right) / highest if highest > 0 else 0

    height = _TOP + _ROW * len(bars) + 10
    labels = cut_labels((label for label, *_ in bars), _LABEL)
    rows = [
        part
        for index, bar in enumerate(bars)
        for part in _bar(bar, labels[bar[0]], _TOP + index * _ROW, scale)
    ]
    axis = f'<path class="g" d="M{_LEFT} {_TOP - 6}V{height - 10}"/>'
    return _document(title, subtitle, [bar[:2] for bar in bars], height, [axis, *rows])


def _row_label(cell: Cell, summary: Summary) -> str:
    label = summary.identity.short_label
    if summary.identity.ceiling:
        return f"{label} (control)"
    return f"{label}, {summary.identity.store_text}" if cell.stores_differ else label


def _bars(cell: Cell, read: Callable[[Summary], tuple[str, Lengths]]) -> Iterator[Bar]:
    for row in [*cell.rows, *cell.controls][:MAX_BARS]:
        label = _row_label(cell, row)
        if not row.has_figures:
            yield label, row.no_figures_reason, None, None, ()
            continue

        text, lengths = read(row)
        if row.spoiled_runs:
            text += f", failed {row.spoiled_runs} of {row.counted_runs}"
        yield label, text, *lengths


def _throughput(cell: Cell, runtime: str) -> str:
    def read(row: Summary) -> tuple[str, Lengths]:
        median = row.figure_of(throughput).value
        return rate(median), (median, None, row.values(throughput))

    subtitle = f"Median {cell.text.requests}/s; points are the runs, the line their range"
    title = " · ".join(filter(None, ["Throughput", runtime, cell_title(cell)]))
    return _bar_chart(title, subtitle, list(_bars(cell, read)))


def _latency(cell: Cell) -> str:
    def read(row: Summary) -> tuple[str, Lengths]:
        row_p50 = row.figure_of(p50)
        row_p99 = row.figure_of(p99)
        samples_text = ", few samples" if row_p99.few_samples else ""
        group_text = "" if cell.identity.open_loop else f", {row.group_text}"
        text = " / ".join(figure.text(cell.text.latency) for figure in (row_p50, row_p99))
        return f"{text}{samples_text}{group_text}", (row_p50.value, row_p99.value, ())

    unit = at_its_load(cell.text.latency_unit, cell.identity.open_loop)
    subtitle = f"Median p50 (dark) and p99 (pale) of the runs in {unit}"
    return _bar_chart(f"Latency · {cell_title(cell)}", subtitle, list(_bars(cell, read)))


def _answer(forest: Forest) -> str:
    """Points with their intervals on one axis. The places of a forest are in % of the axis."""
    # The headings stay, because rows of two rankings may have the same name.
    lines: list[str | ForestRow] = []
    for group in forest.groups:
        lines += [group.heading] if group.heading else []
        lines += group.rows
    height = _TOP + _ROW * len(lines) + 26
    labels = cut_labels((row.label for row in forest.rows), _LABEL)

    def x_of(place: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _TEXT) * place / 100

    low, high = map(x_of, forest.margin)
    parts = [
        f'<rect class="b" opacity="0.5" x="{low:.1f}" y="{_TOP - 6}" '
        f'width="{high - low:.1f}" height="{_ROW * len(lines)}"/>',
        f'<path class="g" d="M{x_of(forest.one):.1f} {_TOP - 6}V{height - 30}"/>',
    ]
    rows = [(row.label, f"{row.text} {row.statement}".strip()) for row in forest.rows]
    for index, row in enumerate(lines):
        middle = _TOP + index * _ROW + 9
        if isinstance(row, str):
            parts.append(_text(16, middle + 4, one_line(row, 110), "q"))
            continue

        parts.append(_label(labels[row.label], middle + 4))
        if row.low is not None and row.high is not None:
            low = x_of(row.low)
            high = x_of(row.high)
            ends = f"M{low:.1f} {middle - 5}v10M{high:.1f} {middle - 5}v10"
            parts.append(
                f'<path class="l" stroke-width="2" d="M{low:.1f} {middle}H{high:.1f}{ends}"/>'
            )
        if row.at is not None:
            parts.append(_text(x_of(row.at), middle + 5, row.shape, "t", "middle"))
        conclusion = f"{row.text} {row.statement}".strip()
        parts.append(_text(_WIDTH - _TEXT + 14, middle + 4, one_line(conclusion, 60)))

    parts += [_text(x_of(place), height - 12, text, "q", "middle") for place, text in forest.ticks]
    ratio_text = f"Ratio with its 95 % interval; {forest.better} is better."
    subtitle = f"{ratio_text} The band is {forest.margin_text}, which is no difference."
    return _document(f"{forest.figure} to the reference", subtitle, rows, height, parts)


def images(analysis: Analysis) -> tuple[dict[str, str], int]:
    """Returns the texts of the files by name, and how many cells there are too many to draw.

    A cell has two files, or one in an open loop."""
    cells = [(cell, runtime.runtime) for runtime in analysis.runtimes for cell in runtime.cells]
    files = {
        f"answer-{number}.svg": _answer(forest)
        for number, forest in enumerate(forests(analysis), start=1)
    }
    for cell, runtime in cells[:MAX_CELLS]:
        # The throughput of an open loop is the rate that was offered, so it shows no capacity.
        if not cell.identity.open_loop:
            files[f"throughput-{cell.id}.svg"] = _throughput(cell, runtime)
        files[f"latency-{cell.id}.svg"] = _latency(cell)
    files |= _curves(analysis)
    return files, max(0, len(cells) - MAX_CELLS)


def _curves(analysis: Analysis) -> dict[str, str]:
    """The cores over the rate of each load curve, as the page draws them without scripts. A file
    has one view."""
    files = {}
    if not analysis.load_curves:
        return {}
    for runtime in analysis.runtimes:
        data = chart_data_of([(runtime.runtime, runtime.cells, runtime.controls)])
        for chart in CORES_OVER_RATE:
            figure = chart.build(data)
            worded = chart.worded(data.text)
            for number, picture in enumerate(line_pictures(figure) if figure else (), start=1):
                name = f"{runtime.id}{chart.id}-{number}.svg"
                files[name] = _curve_document(worded.title, picture)
    return files


def _curve_document(title: str, picture: Picture) -> str:
    heading = one_line(" · ".join(filter(None, (title, picture.title))), 80)
    body = picture.svg(
        heading, y=f"{_TOP - 30}", width=f"{picture.width}", height=f"{picture.height}"
    )
    height = picture.height + _TOP - 30
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{picture.width}" height="{height}" '
            f'viewBox="0 0 {picture.width} {height}" role="img" style="color-scheme:light dark">',
            f"<title>{escape(heading)}</title>",
            f"<style>{_STYLE}</style>",
            f'<rect class="p" width="{picture.width}" height="{height}"/>',
            _text(12, 22, heading, "t"),
            body,
            "</svg>",
            "",
        ]
    )
