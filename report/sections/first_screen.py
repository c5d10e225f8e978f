"""The first screen: for each cell and ranking the figures that decide and what they show, the
picture of all ratios, and the same as text for a terminal."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from msgspec import Struct

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell, RuntimeResults
from report.analysis.figures import consumer_cpu, mean_latency, percentile, store_cpu, throughput
from report.analysis.rankings import Ranking, by_p99
from report.analysis.summary import Summary
from report.analysis.texts import (
    AT_FULL_LOAD,
    NO_RATIO,
    LayerText,
    at_its_load,
    by_loop,
    interval_of,
    load_text,
    name,
    varying_fields,
)
from report.base.format import ABSENT, cut_labels, microseconds, plural, rate
from report.sections.section import Line, TableCell
from report.sections.verdict_text import (
    although_suspect,
    difference,
    disclosure,
    limit_cell,
    limit_text,
    mode_text,
    sentence,
    spread_figure,
)
from report.statistics.decision import DEFAULT_FLOOR, Comparison
from report.statistics.power import MAX_RUNS, fewest_for_a_claim


class DecisionRow(Struct, frozen=True):
    """A configuration: the median of each figure over its runs with its range, and what was
    shown."""

    summary: Summary
    best: bool
    """It was shown to be better than every other row of its ranking."""
    throughput: TableCell
    mean: TableCell
    """The mean latency. It is printed of open loops alone, like the p99: at full load both move
    with the size of the group."""
    p99: TableCell
    cpu: TableCell
    """Of what calls the limiter, in µs per request."""
    store_cpu: TableCell
    """Of all store nodes, in µs per request."""
    ratio: str
    """To the reference of its ranking, or else its first row, with the interval: `0.91×,
    0.89–0.93×`."""
    cpu_ratio: str
    status: str
    """What was shown of it, in a word or two; empty where nothing is compared."""
    outlook: str
    """How many rounds would decide it; empty where it is decided."""
    limit: TableCell
    """What limited its runs."""
    verdict: str
    """Of its runs: whether each measurement can be believed."""

    @property
    def is_copy(self) -> bool:
        return self.summary.identity.copy

    @property
    def conclusion(self) -> str:
        """Its status, for a form without styles: `faster`; `its copy, no difference`."""
        return ", ".join(filter(None, (COPY if self.is_copy else "", self.status)))

    @property
    def figures(self) -> tuple[TableCell, ...]:
        """Those that its table prints, in the order of `figure_names`."""
        of_rate = (self.mean, self.p99) if self.summary.identity.open_loop else ()
        return (self.throughput, *of_rate, self.cpu, self.store_cpu)


#: What the copy of a reference is called, directly below it.
COPY = "its copy"


def figure_names(text: LayerText, open_loop: bool) -> tuple[tuple[str, str], ...]:
    """Names and units of `DecisionRow.figures`, for rows of one kind of loop."""
    unit = at_its_load(text.cpu_unit, open_loop)
    return (
        ("Sent", text.rate_unit) if open_loop else (text.rate_unit.capitalize(), ""),
        *([("Mean", text.latency_unit), ("p99", text.latency_unit)] if open_loop else []),
        (text.cpu_title, unit),
        ("Store CPU", unit),
    )


class DecisionGroup(Struct, frozen=True):
    """Rows on one store with one kind of decider and algorithm, under one script or each under its
    own."""

    heading: str
    disclosure: str
    """Which scripts ran, by which commands."""
    sentence: str
    rows: tuple[DecisionRow, ...]

    @property
    def ids(self) -> str:
        return " ".join(row.summary.id for row in self.rows)


class DecisionCell(Struct, frozen=True):
    cell: Cell
    title: str
    groups: tuple[DecisionGroup, ...]
    controls: tuple[DecisionRow, ...]
    warnings: tuple[Line, ...]
    ceiling: str
    difference: str
    """How the groups differ; empty if there is one."""

    @property
    def rows(self) -> tuple[DecisionRow, ...]:
        return (*(row for group in self.groups for row in group.rows), *self.controls)


REFERENCE, FIRST_ROW = "the reference", "the first row"


def base_text(rankings: Iterable[Ranking]) -> str:
    """What the ratios of these rankings are to."""
    found = dict.fromkeys(REFERENCE if ranking.reference else FIRST_ROW for ranking in rankings)
    return ", or ".join(found) or FIRST_ROW


def decision_row(row: Summary, text: LayerText, of: Ranking | None = None) -> DecisionRow:
    """Of a ranking, or the copy of its reference, with what it shows of the host; nothing is
    compared with any other."""
    ranking = None if row.identity.copy else of
    resolution = of.resolution if of and row.identity.copy else None
    versus = ranking.versus_base(row) if ranking else None
    return DecisionRow(
        summary=row,
        best=ranking is not None and ranking.winner is row,
        throughput=spread_figure(row, throughput, rate),
        mean=spread_figure(row, mean_latency, text.latency),
        p99=spread_figure(row, percentile("p99"), text.latency),
        cpu=spread_figure(row, consumer_cpu, microseconds),
        store_cpu=spread_figure(row, store_cpu, microseconds),
        ratio=against_base(resolution.comparison if resolution else versus),
        cpu_ratio=against_base(ranking.versus_base(row, ranking.cpu_pairs) if ranking else None),
        status=of.conclusion_of(row) if of else "",
        outlook=_outlook(versus) if versus else "",
        limit=limit_cell(row),
        verdict=verdict_summary(row),
    )


def _outlook(found: Comparison) -> str:
    """`takes about 14 runs`."""
    if found.status != "not decided" or found.blocked:
        return ""
    if found.too_few_runs and found.runs_needed is None:
        return f"takes {fewest_for_a_claim(found.pairs is not None)} runs"
    return (
        f"takes about {found.runs_needed:,} runs"
        if found.runs_needed
        else f"takes over {MAX_RUNS:,} runs"
    )


def against_base(comparison: Comparison | None) -> str:
    """`0.91×, 0.89–0.93×`; a dash for the base itself, and where there is no estimate."""
    return (interval_of(comparison) if comparison else "") or ABSENT


def verdict_summary(summary: Summary) -> str:
    """`valid`, or how many of the planned runs are not: `1 of 5 runs suspect`."""
    planned = plural(len(summary.runs) + len(summary.missing), "run")
    verdicts = Counter(run.verdict for run in summary.runs)
    counts = {
        **{name: verdicts[name] for name in ("invalid", "suspect")},
        "missing": len(summary.missing),
    }
    found = [(name, number) for name, number in counts.items() if number]
    if not found:
        return "valid"
    (name, number), *others = found
    return ", ".join(
        [f"{number} of {planned} {name}", *(f"{more} {kind}" for kind, more in others)]
    )


def _heading_parts(ranking: Ranking) -> list[str]:
    runs = [run for row in ranking.summaries for run in row.runs]
    versions = {run.versions["store"] for run in runs if "store" in run.versions}
    if ranking.group.store is None:
        return ["Store not known"]
    store = " ".join(["On", ranking.group.store, ", ".join(sorted(versions))]).strip()
    already = " (already ran)" if ranking.group.external else ""
    return [
        each for each in (f"{store}{already}", ranking.decider_text, mode_text(ranking)) if each
    ]


def heading_of(ranking: Ranking) -> str:
    """`On valkey 9.1.2, one script for all`, `On redis 7.0.15, decided by a module (GCRA), …`."""
    return ", ".join(_heading_parts(ranking))


def _ceiling(cell: Cell) -> str:
    found = [(interval_of(pair.comparison), pair.base) for pair in cell.ceilings]
    texts = [f"{interval} of {name(control)}" for interval, control in found if interval]
    if not texts:
        return ""
    return f"{name(cell.ceilings[0].new)} reaches {' and '.join(texts)}, under the same load."


def cell_title(cell: Cell, layer_named: bool = False) -> str:
    """`Cluster · light · realistic · 50 connections · 30 s`, and limits and caps that not all cells
    have."""
    identity = cell.identity
    topology = identity.topology.capitalize() if identity.topology else "Other addresses"
    load = load_text(identity, layer_named=layer_named)
    return " · ".join(filter(None, [topology, load, cell.limits, cell.caps]))


def decision_cells(cells: Sequence[Cell], layer_named: bool = False) -> tuple[DecisionCell, ...]:
    """The same cells, in their order, as the first screen shows them."""
    return tuple(_decision_cell(cell, layer_named) for cell in cells)


def _decision_cell(cell: Cell, layer_named: bool) -> DecisionCell:
    groups = [
        DecisionGroup(
            heading_of(ranking),
            disclosure(ranking),
            sentence(ranking),
            tuple(
                decision_row(row, cell.text, ranking) for row in cell.with_copies(ranking.summaries)
            ),
        )
        for ranking in cell.rankings
    ]
    controls = by_p99(cell.controls) if cell.identity.open_loop else cell.controls
    return DecisionCell(
        cell,
        cell_title(cell, layer_named),
        tuple(groups),
        controls=tuple(decision_row(control, cell.text) for control in controls),
        warnings=tuple(
            Line(f"{name(row)}: {text}", row.id)
            for row in (*cell.rows, *cell.controls)
            for text in row.warnings
        ),
        ceiling=_ceiling(cell),
        difference=difference(cell),
    )


def scope_text(parts: Sequence[str]) -> str:
    text = ", ".join(parts)
    return f"{text[:1].upper()}{text[1:]}"


def scopes(runtimes: Sequence[RuntimeResults]) -> Iterator[tuple[list[str], Ranking]]:
    """Every ranking with what sets it apart from the others: runtime, topology, load, store, what
    decides."""
    cells = [(runtime, cell) for runtime in runtimes for cell in runtime.cells]
    varying = varying_fields([cell.summaries[0] for _, cell in cells]) if cells else ()
    several = len({cell.identity.topology for _, cell in cells}) > 1
    for runtime, cell in cells:
        topology = (cell.identity.topology or "other addresses") if several else ""
        for ranking in cell.rankings:
            heading = _heading_parts(ranking) if len(cell.rankings) > 1 else []
            within = [*(f"{each[:1].lower()}{each[1:]}" for each in heading[:1]), *heading[1:]]
            texts = (
                runtime.runtime,
                topology,
                load_text(cell.identity, varying),
                *within,
                cell.caps,
            )
            yield [each for each in texts if each], ranking


def page_heading(analysis: Analysis) -> str:
    """The question of the page, by what its rows differ in."""
    if analysis.only_memory:
        return "What does a key take in memory?"
    measured = [each.identity for each in analysis.summaries if not each.identity.control]
    if not measured and analysis.faults:
        return "What do faults do to an API?"
    if not measured and analysis.store_operations:
        return "What does an operation cost, by store?"
    limiters = {(each.decided_by, each.algorithm, each.limiter) for each in measured}
    return f"Which {'rate limiter' if len(limiters) > 1 else 'client'} should I take, and what does it cost?"


#: Beyond these an end of an interval is cut, and an arrow says so: one row must not squeeze the
#: others.
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
SHAPES = {
    "faster": "▶",
    "better": "▶",
    "slower": "◀",
    "worse": "◀",
    "no difference": "■",
    "not decided": "○",
}


class ForestRow(Struct, frozen=True):
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


class ForestGroup(Struct, frozen=True):
    """Rows with one reference."""

    heading: str
    """Empty where there is one group alone."""
    rows: tuple[ForestRow, ...]


class Forest(Struct, frozen=True):
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


class _Axis(Struct, frozen=True):
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
    """What the ratios are to stands at 1; a row without a ratio has no place."""
    label, shape, why = (
        summary.identity.short_label,
        SHAPES.get(status, "○"),
        summary.no_figures_reason,
    )
    if found is None:
        return ForestRow(summary.id, label, status, why or NO_RATIO, shape)
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


def _rows(row: Summary, ranking: Ranking, axis: _Axis) -> Iterator[ForestRow]:
    """Of a row of the ranking, and of its copy, which stands directly below it."""
    status = ranking.conclusion_of(row)
    if row is ranking.base:
        label, why = row.identity.short_label, row.no_figures_reason
        yield ForestRow(row.id, label, status, why, "◆", axis.place(1))
    else:
        yield _row(row, ranking.versus_base(row), status, axis)
    resolution = ranking.resolution
    if resolution and resolution.reference is row:
        yield _row(
            resolution.copy, resolution.comparison, ranking.conclusion_of(resolution.copy), axis
        )


def _forest(members: Sequence[tuple[str, Ranking]]) -> Forest:
    copies = [ranking.resolution for _, ranking in members if ranking.resolution]
    compared = [ranking.versus_base(row) for _, ranking in members for row in ranking.summaries]
    axis = _axis([*filter(None, compared), *(each.comparison for each in copies)])
    groups, room = [], MAX_ROWS
    for scope, ranking in members:
        rows = [each for row in ranking.summaries for each in _rows(row, ranking, axis)]
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
    """One by throughput, and one by p99 where there is an open loop; none where nothing is
    compared."""
    every = scopes(analysis.runtimes)
    found = [(scope_text(parts), ranking) for parts, ranking in every if ranking.ranked_by]
    if analysis.max_rates or analysis.only_memory:
        return ()
    kinds = [[each for each in found if each[1].open_loop is loop] for loop in (False, True)]
    return tuple(_forest(members) for members in kinds if members)


def forest_lines(forest: Forest, width: int = 0) -> Iterator[str]:
    """The same for a terminal, or for a text of any width, e.g.
    `valkey-glide ├──◀──┤ ┊ 0.64× (0.59–0.69) worse`."""
    labels = max(len(row.label) for row in forest.rows)
    placed = [row for row in forest.rows if row.at is not None]
    texts = max((len(f"{row.text} {row.status}") for row in placed), default=0)
    if width:
        labels = min(labels, max(28, width - texts - 20))
    axis = max(16, (width or 80) - labels - texts - 4)
    fitted = cut_labels((row.label for row in forest.rows), labels)

    def column(place: float) -> int:
        return round(place / 100 * (axis - 1))

    for group in forest.groups:
        if group.heading:
            yield group.heading
        for row in group.rows:
            cells = [" "] * axis
            cells[column(forest.one)] = "┊"
            if row.low is not None and row.high is not None:
                low, high = column(row.low), column(row.high)
                cells[low : high + 1] = ["─"] * (high - low + 1)
                cells[low], cells[high] = (
                    ("←" if row.cut_low else "├"),
                    ("→" if row.cut_high else "┤"),
                )
            if row.at is not None:
                cells[column(row.at)] = row.shape
            said = f"{row.text} {row.status}".strip()
            yield f"{fitted[row.label]:<{labels}}  {''.join(cells)}  {said}".rstrip()
    if forest.left_out:
        yield f"and {plural(forest.left_out, 'row')} more"


WIDTH = 80
#: Longer tables do not fit a screen: the page has all rows.
MAX_SCREEN_ROWS = 24
#: What is left of a name at least.
_LABEL = 16


def _short(verdict: str) -> str:
    return "" if verdict == "valid" else re.sub(r" of (\d+) runs?", r"/\1", verdict)


def _screen_cells(row: DecisionRow) -> tuple[str, ...]:
    summary = row.summary
    label = name(summary)
    if summary.no_figures_reason:
        return (label, summary.no_figures_reason)
    marked = "*" if _short(row.verdict) else ""
    status = " ".join(filter(None, (row.conclusion, summary.spoiled_text, marked)))
    return (label, *(figure.text for figure in row.figures), status)


def _table_lines(headers: Sequence[str], rows: Sequence[DecisionRow]) -> list[str]:
    found = [_screen_cells(row) for row in rows]
    whole = [headers, *(cells for cells in found if len(cells) == len(headers))]
    widths = [max(len(cells[n]) for cells in whole) for n in range(1, len(headers) - 1)]
    room = WIDTH - sum(width + 2 for width in widths) - max(len(cells[-1]) for cells in whole) - 2
    labels = [cells[0] for cells in (headers, *found)]
    widths = [min(max(room, _LABEL), max(map(len, labels))), *widths]
    fitted, lines = cut_labels(labels, widths[0]), []
    for cells in (headers, *found):
        label = f"{fitted[cells[0]]:<{widths[0]}}"
        if len(cells) != len(headers):
            lines.append(f"{label}  {cells[1]}"[:WIDTH])
            continue
        figures = [f"{text:>{width}}" for text, width in zip(cells[1:-1], widths[1:], strict=True)]
        lines.append("  ".join([label, *figures, cells[-1]]).rstrip()[:WIDTH])
    marked = [f"{name(row.summary)} {text}" for row in rows if (text := _short(row.verdict))]
    return [*lines, *(wrap(f"* {', '.join(marked)}", WIDTH) if marked else []), *_limit_lines(rows)]


#: More lines about limits leave no room for figures.
_MAX_LIMIT_LINES = 2


def _limit_lines(rows: Sequence[DecisionRow]) -> list[str]:
    """`Limited by server loop: iovalkey, ioredis; host CPU: none`: of each row what limited half of
    its runs or more; empty where that does not fit."""
    by_limit: dict[str, list[str]] = {}
    for row in rows:
        limit = row.summary.limit
        if limit and limit.is_named and 2 * limit.runs >= limit.of_runs:
            by_limit.setdefault(limit.resource, []).append(name(row.summary))
    parts = [f"{resource}: {', '.join(labels)}" for resource, labels in by_limit.items()]
    lines = wrap(f"Limited by {'; '.join(parts)}", WIDTH) if parts else []
    return lines if len(lines) <= _MAX_LIMIT_LINES else []


def _conclusion_lines(analysis: Analysis) -> Iterator[str]:
    """What a reader of the conclusions must know: a sentence each, however many rankings it is
    about."""
    compared = [ranking for _, ranking in scopes(analysis.runtimes) if ranking.compared]
    found: Counter[str] = Counter()
    for ranking in compared:
        concluded = any(pair.comparison.decided for pair in ranking.ranked_by)
        although = although_suspect(ranking.compared) if concluded else ""
        texts = (f"The conclusions stand{although}" if although else "", limit_text(ranking))
        found.update(f"{text[0].upper()}{text[1:]}" for text in texts if text)
    for text, times in found.items():
        where = f" ({times} of {len(compared)} comparisons)" if len(compared) > 1 else ""
        yield from wrap(f"{text}{where}.", WIDTH)


def _headers(rows: Sequence[DecisionRow], text: LayerText) -> tuple[str, ...]:
    open_loop = any(row.summary.identity.open_loop for row in rows)
    latency = (f"mean {text.latency_unit}", f"p99 {text.latency_unit}") if open_loop else ()
    cpu = "" if open_loop else f"CPU {AT_FULL_LOAD}"
    return (cpu, text.rate_unit, *latency, f"{text.consumer} µs", "store µs", "")


def screen_lines(analysis: Analysis) -> list[str]:
    """At most 80 columns wide; empty for a campaign without rows of its own, or of a search."""
    if analysis.max_rates or analysis.only_memory or not analysis.summaries:
        return []
    lines = [line for forest in forests(analysis) for line in (*forest_lines(forest, WIDTH), "")]
    room = MAX_SCREEN_ROWS
    for part in analysis.runtimes:
        shown = [(cell.title, cell.rows) for cell in decision_cells(part.cells, bool(part.layer))]
        if not shown:
            shown = [
                (part.name, tuple(decision_row(row, part.text) for row in rows))
                for _, rows in by_loop(part.controls)
            ]
        for title, rows in shown:
            if room > 0:
                lines += [title] if len(shown) > 1 else []
                lines += _table_lines(_headers(rows, part.text), rows[:room])
            room -= len(rows)
    more = [f"and {plural(-room, 'row')} more in the report"] if room < 0 else []
    return [*lines, *more, *_conclusion_lines(analysis)]
