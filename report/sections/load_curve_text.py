"""What a load curve says, in sentences and as lines for a terminal."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from textwrap import TextWrapper

from msgspec import Struct

from report.analysis.figures import p99, throughput
from report.analysis.load_curve import (
    AtRate,
    CurvePoint,
    Estimate,
    LoadCurve,
    Part,
    TargetCurve,
)
from report.analysis.texts import AT_FULL_LOAD
from report.base.format import ABSENT, cores, cut_labels, plural, rate, ratio
from report.sections.figure_cells import marks_note, spread_figure
from report.sections.section import TableCell

WIDTH = 80
#: A name keeps at least so many characters.
_LABEL = 16
#: A name stays whole, so that it can be found and copied.
_wrapped = TextWrapper(WIDTH, break_on_hyphens=False).wrap


def rate_text(rate_per_second: float) -> str:
    """A rate as it was asked for, such as `2,500/s` or `0.5/s`."""
    return f"{rate_per_second:,.12g}/s"


def target_name(target: TargetCurve) -> str:
    return target.identity.short_label


def estimate_text(estimate: Estimate | None) -> str:
    """The cores with their interval, such as `0.121 (0.119–0.123)`."""
    if estimate is None:
        return ABSENT
    interval = interval_text(estimate)
    return f"{cores(estimate.value)} ({interval})" if interval else cores(estimate.value)


def interval_text(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{cores(estimate.low)}–{cores(estimate.high)}"


def curve_sentences(curve: LoadCurve) -> list[str]:
    """What each part of the targets costs, compared with the reference, and the rate at full
    load."""
    ratios = [text for part in curve.parts if (text := _ratio_sentence(curve, part))]
    full_load = _full_load_sentence(curve)
    return [*(ratios or [_cores_sentence(curve)]), *([full_load] if full_load else [])]


def titled_sentences(curve: LoadCurve) -> list[str]:
    """The same for a list with sentences of several curves."""
    beginning = f"{curve.title}: " if curve.title else ""
    return [f"{beginning}{sentence}" for sentence in curve_sentences(curve)]


def _cores_sentence(curve: LoadCurve) -> str:
    """The cores of a curve that compares nothing."""
    if not curve.parts:
        return f"No run tells what a {curve.text.request} costs."

    texts = []
    for target in curve.targets:
        points = [
            f"{estimate_text(point.cores(curve.parts[0]))} at {rate_text(point.rate_per_second)}"
            for point in _ends(target.measured)
        ]
        texts.append(f"{target_name(target)} {' and '.join(points) or 'has no run that counts'}")
    return f"{curve.parts[0].name.capitalize()} cores: {'; '.join(texts)}."


def _ratio_sentence(curve: LoadCurve, part: Part) -> str:
    """`Server CPU of a request, to ioredis@valkey: iovalkey 1.11× at 100/s and 1.30× at 5,000/s
    (worse at 5 of 5 rates).`. Empty where nothing is compared."""
    texts = [
        _ratios_text(target, part.kind)
        for target in curve.targets
        if not target.identity.copy and not target.is_reference
    ]
    known = [text for text in texts if text]
    if not known or curve.reference is None:
        return ""
    return (
        f"{part.name.capitalize()} CPU of a {curve.text.request}, to "
        f"{target_name(curve.reference)}: {'; '.join(known)}."
    )


def _ends(points: Sequence[CurvePoint]) -> Sequence[CurvePoint]:
    """The points at the lowest and at the highest rate."""
    return (points[0], points[-1]) if len(points) > 1 else points


def _ratios_text(target: TargetCurve, name: str) -> str:
    compared = [point for point in target.points if name in point.ratios]
    with_ratio = [point for point in compared if point.ratios[name].ratio is not None]
    if not with_ratio:
        return ""
    texts = [
        f"{ratio(point.ratios[name].ratio)} at {rate_text(point.rate_per_second)}"
        for point in _ends(with_ratio)
    ]
    words = Counter(point.ratios[name].conclusion for point in compared)
    most, *rest = words.most_common()
    conclusions = [f"{most[0]} at {most[1]} of {plural(len(compared), 'rate')}"]
    conclusions += [f"{word} at {count}" for word, count in rest]
    return f"{target_name(target)} {' and '.join(texts)} ({', '.join(conclusions)})"


def _full_load_sentence(curve: LoadCurve) -> str:
    """The rate of each target at full load, and what limited it."""
    texts = []
    for target in (target for target in curve.targets if not target.identity.copy):
        for row in target.full_loads:
            per_second = row.figure_of(throughput).value
            if per_second is not None:
                limited = f" ({row.limit.resource})" if row.limit and row.limit.is_named else ""
                texts.append(f"{target_name(target)} {rate(per_second)}/s{limited}")
    if not texts:
        return ""
    return (
        f"{AT_FULL_LOAD.capitalize()}, with what was the limit: {', '.join(texts)}. "
        "Nothing is extrapolated from there."
    )


def curve_lines(curves: Sequence[LoadCurve]) -> list[str]:
    """The last lines of a campaign: the cores of each target by rate, its p99, and what was
    shown."""
    lines: list[str] = []
    for curve in curves:
        lines += _wrapped(curve.title)
        for part in curve.parts:
            lines += _block(curve, f"{part.name.capitalize()} cores at", partial(_cores_cell, part))
        p99_cells = partial(_p99_cell, curve)
        if any(
            p99_cells(point).text != ABSENT for target in curve.targets for point in target.points
        ):
            lines += _block(curve, f"p99 in {curve.text.latency_unit} at", p99_cells)
        for sentence in curve_sentences(curve):
            lines += _wrapped(sentence)
    return lines


def _cores_cell(part: Part, point: CurvePoint) -> TableCell:
    estimate = point.cores(part)
    return TableCell(ABSENT if estimate is None else cores(estimate.value))


def _p99_cell(curve: LoadCurve, point: CurvePoint) -> TableCell:
    return spread_figure(point.summary, p99, curve.text.latency)


def _block(
    curve: LoadCurve, title: str, cell_of: Callable[[CurvePoint], TableCell]
) -> Iterator[str]:
    """A line for each target with a column for each rate, as many as fit."""
    rows = []
    for target in curve.targets:
        cells = {point.rate_per_second: cell_of(point) for point in target.points}
        rows.append((target_name(target), cells))

    texts = [[rate_text(value) for value in curve.rates]]
    for _, cells in rows:
        texts.append([_marked(cells[value]) if value in cells else ABSENT for value in curve.rates])
    width = 2 + max(len(text) for line in texts for text in line)
    shown = min(len(curve.rates), (WIDTH - _LABEL) // width)
    names = [title, *(name for name, _ in rows)]
    label_width = min(WIDTH - shown * width, max(map(len, names)))
    labels = cut_labels(names, label_width)
    for name, line in zip(names, texts, strict=True):
        columns = "".join(f"{text:>{width}}" for text in line[:shown])
        yield f"{labels[name]:<{label_width}}{columns}"

    if shown < len(curve.rates):
        yield f"and {plural(len(curve.rates) - shown, 'rate')} more in the report"
    yield from _wrapped(marks_note(cell for _, cells in rows for cell in cells.values()))


def _marked(cell: TableCell) -> str:
    return cell.text + "".join(mark for mark, _ in cell.marks)


class Sizing(Struct, frozen=True):
    """The cores of a target at a rate."""

    target: TargetCurve
    text: str
    """The cores of each part and where they come from, or why they are not known."""
    known: bool


def sizings(curves: Sequence[LoadCurve], rate_per_second: float) -> list[Sizing]:
    """The cores of each target at a rate. Copies, which are no targets to plan for, are left
    out."""
    return [
        _sizing(curve, target, rate_per_second)
        for curve in curves
        for target in curve.targets
        if not target.identity.copy
    ]


def _sizing(curve: LoadCurve, target: TargetCurve, rate_per_second: float) -> Sizing:
    title = f"{curve.title}, " if curve.title else ""
    beginning = f"{title}{target_name(target)}"
    figures_of_parts = [(part, target.at(part, rate_per_second)) for part in curve.parts]
    known = [(part, at_rate) for part, at_rate in figures_of_parts if at_rate.estimate]
    if not known:
        reasons = [at_rate.reason for _, at_rate in figures_of_parts[:1]]
        return Sizing(target, f"{beginning}: not known, {''.join(reasons) or 'no figure'}", False)

    cores_of_parts = [f"{part.name} {estimate_text(at_rate.estimate)}" for part, at_rate in known]
    return Sizing(target, f"{beginning}: {', '.join(cores_of_parts)}, {_source(known[0][1])}", True)


def _source(at_rate: AtRate) -> str:
    if at_rate.between is None:
        return "measured"
    low, high = map(rate_text, at_rate.between)
    return f"interpolated between {low} and {high}"


def sizing_title(rate_per_second: float) -> str:
    return f"Cores at {rate_text(rate_per_second)}, with the interval of 95 %"


def sizing_lines(curves: Sequence[LoadCurve], rate_per_second: float) -> list[str]:
    """The cores of each target at a rate, as lines for a terminal."""
    lines = [f"{sizing_title(rate_per_second)}:"]
    for sizing in sizings(curves, rate_per_second):
        lines += _wrapped(sizing.text)
    return lines
