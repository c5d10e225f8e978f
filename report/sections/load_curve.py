"""The load curve: what each target costs at each rate, and how it compares with the reference."""

from collections.abc import Iterator

from report.analysis.campaign_analysis import Analysis
from report.analysis.figure_list import FIGURE_LIST
from report.analysis.figures import p50, p99, store_memory, throughput
from report.analysis.load_curve import (
    P99,
    THROUGHPUT,
    CurvePoint,
    LoadCurve,
    Part,
    TargetCurve,
    estimate_of,
)
from report.analysis.summary import Summary
from report.analysis.texts import AT_FULL_LOAD, interval_of
from report.base.format import ABSENT, cores, mebibytes, microseconds, rate
from report.sections.figure_cells import limit_cell, marks_note, spread_figure, suspect_marks
from report.sections.load_curve_text import (
    interval_text,
    rate_text,
    sizing_title,
    sizings,
    target_name,
    titled_sentences,
)
from report.sections.section import (
    Column,
    Section,
    Table,
    TableCell,
    TableGroup,
    TableRow,
    exact,
    number,
    numbers,
    sort_key,
    words,
)
from report.statistics.comparison import Comparison

TEXT = (
    "Each target was warm and had each rate once in each round, for one turn, in another order each round. "
    "Cores are the CPUs that its processes kept busy: CPU time between two moments without a request in "
    "flight, divided by the seconds of load between them. A cost holds at the rate where it was measured. "
    "Between two of these rates it is interpolated in cores (--plan-for, thresholds with @). Its interval "
    "covers chance, and no bend of the curve. Beyond them nothing is said: full load is no rate. "
    "Latency counts from the moment at which a request was due."
)
_INTERVALS = (
    "In brackets behind cores: the interval of 95 % of the median over the rounds; behind other figures: "
    "their range."
)
_FAMILIES = (
    "The ratio of the CPU time of a {request}, or of p99, to that of {reference} in the same rounds, with "
    "its interval of 95 %. All targets at all rates are one family for each figure."
)

#: The ids of its charts.
CURVE_CHARTS = ("cores", "store-cores", "service-cores", "curve")

#: By how much the generator sent late, at most, in 99 % of its sends.
_LATENESS = FIGURE_LIST["send_lateness_p99_ms"].figure


def load_curve(analysis: Analysis) -> Section | None:
    """The tables and charts of each curve; None without one."""
    curves = analysis.load_curves
    if not curves:
        return None
    tables = [
        table
        for number_of_curve, curve in enumerate(curves, start=1)
        for table in (_figures(curve, number_of_curve), _ratios(curve, number_of_curve))
        if table.rows
    ]
    return Section(
        "load-curve",
        "What it costs at a rate",
        titled_sentences(curves[0])[0],
        text=(TEXT,),
        tables=tuple(tables),
        charts=CURVE_CHARTS,
        notes=tuple(_planned(analysis)),
        open=True,
    )


def _planned(analysis: Analysis) -> Iterator[str]:
    """The cores at the rate of `--plan-for`, if the campaign was asked for one."""
    rate_per_second = (analysis.campaign.manifest or {}).get("plan_for_per_second")
    if rate_per_second:
        yield f"{sizing_title(rate_per_second)}:"
        for sizing in sizings(analysis.load_curves, rate_per_second):
            yield f"{sizing.text}."


def _title(curve: LoadCurve, text: str) -> str:
    return f"{curve.title}: {text[:1].lower()}{text[1:]}" if curve.title else text


def _figures(curve: LoadCurve, number_of_curve: int) -> Table:
    """A group of rows for each target, with a row for each rate and one for full load."""
    text = curve.text
    columns = (
        Column("Rate", text.rate_unit),
        *numbers([(f"{part.name.capitalize()} cores", "CPUs") for part in curve.parts], "number"),
        *numbers([(f"{part.name.capitalize()} CPU", text.cpu_unit) for part in curve.parts]),
        *numbers([("p50", text.latency_unit), ("p99", text.latency_unit)], "number"),
        *numbers([("Late", "p99, ms"), ("Store memory", "MiB")]),
        *words("Runs that count", "Limited by"),
    )
    groups = []
    for target in curve.targets:
        rows = [_point_row(curve, point) for point in target.points]
        rows += [_full_load_row(curve, row) for row in target.full_loads]
        groups.append(TableGroup(tuple(rows), target_name(target), _group_hint(target)))
    cells = (cell for group in groups for row in group.rows for cell in row.cells)
    return Table(
        f"load-curve-{number_of_curve}",
        _title(curve, "Cost and latency by rate"),
        columns,
        tuple(groups),
        " ".join(filter(None, (_INTERVALS, marks_note(cells)))),
        sortable=False,
    )


def _group_hint(target: TargetCurve) -> str:
    if target.identity.ceiling:
        return "control"
    if target.identity.copy:
        return f"copy of {target.identity.copy_of}"
    return "reference" if target.is_reference else ""


def _point_row(curve: LoadCurve, point: CurvePoint) -> TableRow:
    row = point.summary
    rate_cell = number(rate_text(point.rate_per_second).removesuffix("/s"), point.rate_per_second)
    return TableRow(row.id, (rate_cell, *_cells(curve, row)), row.no_figures_reason, colour=row.id)


def _full_load_row(curve: LoadCurve, row: Summary) -> TableRow:
    per_second = row.figure_of(throughput).value
    rate_cell = number(f"{rate(per_second)} {AT_FULL_LOAD}", per_second)
    return TableRow(row.id, (rate_cell, *_cells(curve, row)), row.no_figures_reason, colour=row.id)


def _cells(curve: LoadCurve, row: Summary) -> Iterator[TableCell]:
    text = curve.text
    for part in curve.parts:
        yield _cores_cell(row, part)
    for part in curve.parts:
        yield spread_figure(row, part.cpu, microseconds, "µs")
    for latency in (p50, p99):
        yield spread_figure(row, latency, text.latency, "ms")
    yield spread_figure(row, _LATENESS, text.latency, "ms")
    yield spread_figure(row, store_memory, mebibytes, "MiB")
    yield TableCell(row.counted_text)
    yield limit_cell(row)


def _cores_cell(row: Summary, part: Part) -> TableCell:
    estimate = estimate_of(row, part.cores)
    if estimate is None:
        return number(ABSENT, None)
    return TableCell(
        cores(estimate.value),
        range=interval_text(estimate),
        marks=suspect_marks(row),
        kind="number",
        sort=sort_key(estimate.value),
        hint=exact(estimate.value, "CPUs"),
    )


def _ratios(curve: LoadCurve, number_of_curve: int) -> Table:
    """A group of rows for each figure, with a row for each target and a column for each rate."""
    names = [(part.kind, f"{part.name.capitalize()} CPU") for part in curve.parts]
    names += [(P99, "p99"), (THROUGHPUT, "Throughput")]
    columns = (
        *words("Target"),
        *numbers([(rate_text(value), "") for value in curve.rates], "number"),
        Column(AT_FULL_LOAD.capitalize()),
    )
    groups = []
    for name, heading in names:
        rows = tuple(
            _ratio_row(curve, target, name) for target in curve.targets if _has(target, name)
        )
        if rows:
            groups.append(TableGroup(rows, heading))
    reference = target_name(curve.reference) if curve.reference else ""
    caption = _FAMILIES.format(request=curve.text.request, reference=reference)
    return Table(
        f"load-curve-ratios-{number_of_curve}",
        _title(curve, f"Ratios to {reference} by rate"),
        columns,
        tuple(groups),
        caption,
        sortable=False,
    )


def _has(target: TargetCurve, name: str) -> bool:
    return name in target.full_load_ratios or any(name in point.ratios for point in target.points)


def _ratio_row(curve: LoadCurve, target: TargetCurve, name: str) -> TableRow:
    comparisons = {point.rate_per_second: point.ratios.get(name) for point in target.points}
    cells = [_ratio_cell(comparisons.get(value)) for value in curve.rates]
    label = TableCell(target_name(target), tag="copy" if target.identity.copy else "")
    return TableRow(
        " ".join(target.ids),
        (label, *cells, _ratio_cell(target.full_load_ratios.get(name))),
        colour=target.ids[0],
    )


def _ratio_cell(comparison: Comparison | None) -> TableCell:
    """The ratio with its interval and its conclusion."""
    if comparison is None or not interval_of(comparison):
        return number(ABSENT, None)
    ratio, _, interval = interval_of(comparison).partition(", ")
    return TableCell(
        ratio,
        range=interval,
        kind="number",
        sort=sort_key(comparison.ratio),
        tag=comparison.conclusion,
        hint=comparison.statement,
    )
