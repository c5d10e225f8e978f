"""The first table of a report: the figures that decide, and what they show, for each cell and
ranking."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from report.analysis.cells import Cell
from report.analysis.figures import consumer_cpu, mean_latency, percentile, store_cpu, throughput
from report.analysis.rankings import Ranking, by_p99
from report.analysis.summary import Summary
from report.analysis.texts import LayerText, at_its_load, interval_of, name
from report.base.format import ABSENT, microseconds, plural, rate
from report.sections.figure_cells import limit_cell, spread_figure
from report.sections.headings import cell_title, ranking_heading
from report.sections.ranking_text import sentence
from report.sections.script_text import difference, disclosure
from report.sections.section import Line, TableCell
from report.statistics.comparison import Comparison
from report.statistics.power import MAX_RUNS

#: The name of the copy of a reference, directly below it.
COPY = "its copy"
#: The bases of ratios.
REFERENCE = "the reference"
FIRST_ROW = "the first row"


class DecisionRow(Struct, frozen=True):
    """A configuration, with the median and range of each figure over its runs, and its
    conclusion."""

    summary: Summary
    best: bool
    """Whether it was shown to be better than every other row of its ranking."""
    throughput: TableCell
    mean: TableCell
    """The mean latency. Like the p99 it is printed for open loops alone, because at full load both
    move with the size of the group."""
    p99: TableCell
    cpu: TableCell
    """The CPU time of the process that calls the limiter, in µs per request."""
    store_cpu: TableCell
    """The CPU time of all store nodes, in µs per request."""
    ratio: str
    """The ratio to the reference of its ranking, or else to its first row, with the interval:
    `0.91×, 0.89–0.93×`."""
    cpu_ratio: str
    status: str
    """The conclusion in a word or two; empty where nothing is compared."""
    statement: str
    """The status with what the interval bounds: `faster, size open, at least 2 %`."""
    outlook: str
    """How many rounds would decide it; empty where it is decided."""
    limit: TableCell
    """What limited its runs."""
    verdict: str
    """Whether the measurement of each of its runs can be believed."""

    @property
    def is_copy(self) -> bool:
        return self.summary.identity.copy

    @property
    def conclusion(self) -> str:
        """Its statement for a form without styles: `faster, at least 4 %`, `its copy, …`."""
        return ", ".join(filter(None, (COPY if self.is_copy else "", self.statement)))

    @property
    def short_conclusion(self) -> str:
        """Its status for a narrow form without styles: `faster`, or `its copy, no difference`."""
        return ", ".join(filter(None, (COPY if self.is_copy else "", self.status)))

    @property
    def warnings(self) -> tuple[tuple[str, str], ...]:
        """What a median hides about its runs: the beginning of each sentence, and all of it."""
        return tuple((text.partition(":")[0], text) for text in self.summary.warnings)

    def hidden_when_narrow(self, names: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """What a narrow screen has no column for, by the names of the figures."""
        for (figure_name, unit), figure in zip(names, self.figures, strict=True):
            if figure is self.mean or figure is self.store_cpu:
                yield ", ".join(filter(None, (figure_name, unit))), figure.plain
        if self.cpu_ratio != ABSENT:
            yield "Ratio of CPU", self.cpu_ratio
        yield "Limited by", self.limit.text
        for beginning, text in self.warnings:
            yield beginning, text.removeprefix(f"{beginning}: ")

    @property
    def figures(self) -> tuple[TableCell, ...]:
        """The figures that its table prints, in the order of `figure_names`."""
        of_rate = (self.mean, self.p99) if self.summary.identity.open_loop else ()
        return (self.throughput, *of_rate, self.cpu, self.store_cpu)


def figure_names(text: LayerText, open_loop: bool) -> tuple[tuple[str, str], ...]:
    """Names and units of `DecisionRow.figures`, for rows of one kind of loop."""
    cpu_unit = at_its_load(text.cpu_unit, open_loop)
    cpu = (text.cpu_title, cpu_unit)
    store_cpu = ("Store CPU", cpu_unit)
    if not open_loop:
        return ((text.rate_unit.capitalize(), ""), cpu, store_cpu)
    return (
        ("Sent", text.rate_unit),
        ("Mean", text.latency_unit),
        ("p99", text.latency_unit),
        cpu,
        store_cpu,
    )


class DecisionGroup(Struct, frozen=True):
    """Rows on one store with one kind of decider and algorithm, under one script or each under its
    own."""

    heading: str
    disclosure: str
    """Says which scripts ran by which commands."""
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
    """Says how the groups differ; empty if there is only one."""

    @property
    def rows(self) -> tuple[DecisionRow, ...]:
        return (*(row for group in self.groups for row in group.rows), *self.controls)


def base_text(rankings: Iterable[Ranking]) -> str:
    """The base of the ratios of these rankings, as text."""
    bases = dict.fromkeys(REFERENCE if ranking.reference else FIRST_ROW for ranking in rankings)
    return ", or ".join(bases) or FIRST_ROW


def decision_row(row: Summary, text: LayerText, ranking: Ranking | None = None) -> DecisionRow:
    """A row as its ranking shows it. Without a ranking nothing is compared.

    The copy of a reference is compared with the reference alone, which shows what the host does."""
    comparison = None
    cpu_comparison = None
    is_best = False
    outlook = ""
    if ranking and row.identity.copy:
        comparison = ranking.resolution.comparison if ranking.resolution else None
    elif ranking:
        comparison = ranking.versus_base(row)
        cpu_comparison = ranking.versus_base(row, ranking.cpu_pairs)
        is_best = ranking.winner is row
        outlook = _outlook(comparison) if comparison else ""

    return DecisionRow(
        summary=row,
        best=is_best,
        throughput=spread_figure(row, throughput, rate),
        mean=spread_figure(row, mean_latency, text.latency),
        p99=spread_figure(row, percentile("p99"), text.latency),
        cpu=spread_figure(row, consumer_cpu, microseconds),
        store_cpu=spread_figure(row, store_cpu, microseconds),
        ratio=against_base(comparison),
        cpu_ratio=against_base(cpu_comparison),
        status=ranking.conclusion_of(row) if ranking else "",
        statement=ranking.statement_of(row) if ranking else "",
        outlook=outlook,
        limit=limit_cell(row),
        verdict=verdict_summary(row),
    )


def _outlook(comparison: Comparison) -> str:
    """How many runs would decide the comparison, or its size: `takes about 14 runs`."""
    is_open = comparison.status == "not decided" or comparison.size_is_open
    if not is_open or comparison.blocked:
        return ""
    runs = comparison.runs_to_decide
    if comparison.cannot_be_equal and not comparison.too_few_runs:
        return "equality cannot be shown"
    if runs is None:
        return f"takes over {MAX_RUNS:,} runs"
    return f"takes {'about ' if comparison.runs_needed else ''}{runs:,} runs"


def against_base(comparison: Comparison | None) -> str:
    """The ratio to the base, `0.91×, 0.89–0.93×`; a dash for the base itself, or without an
    estimate."""
    return (interval_of(comparison) if comparison else "") or ABSENT


def verdict_summary(summary: Summary) -> str:
    """`valid`, or how many of the planned runs are not: `1 of 5 runs suspect`."""
    # A run that was not measured has no verdict of its own, and is what happened to it.
    verdicts = Counter(run.verdict if run.measured else run.record.status for run in summary.runs)
    counts = {
        **{kind: verdicts[kind] for kind in ("invalid", "failed", "aborted", "suspect")},
        "missing": len(summary.missing),
    }
    parts = [f"{number} {kind}" for kind, number in counts.items() if number]
    if not parts:
        return "valid"

    planned = plural(len(summary.runs) + len(summary.missing), "run")
    number, kind = parts[0].split(" ")
    return ", ".join([f"{number} of {planned} {kind}", *parts[1:]])


def decision_cells(cells: Sequence[Cell], layer_named: bool = False) -> tuple[DecisionCell, ...]:
    """The cells in their order, as the first screen shows them."""
    return tuple(_decision_cell(cell, layer_named) for cell in cells)


def _decision_cell(cell: Cell, layer_named: bool) -> DecisionCell:
    controls = by_p99(cell.controls) if cell.identity.open_loop else cell.controls
    return DecisionCell(
        cell,
        cell_title(cell, layer_named),
        tuple(_decision_group(cell, ranking) for ranking in cell.rankings),
        controls=tuple(decision_row(control, cell.text) for control in controls),
        warnings=_warnings(cell),
        ceiling=_ceiling(cell),
        difference=difference(cell),
    )


def _decision_group(cell: Cell, ranking: Ranking) -> DecisionGroup:
    rows = cell.with_copies(ranking.summaries)
    return DecisionGroup(
        ranking_heading(ranking),
        disclosure(ranking),
        sentence(ranking),
        tuple(decision_row(row, cell.text, ranking) for row in rows),
    )


def _warnings(cell: Cell) -> tuple[Line, ...]:
    return tuple(
        Line(f"{name(row)}: {text}", row.id)
        for row in (*cell.rows, *cell.controls)
        for text in row.warnings
    )


def _ceiling(cell: Cell) -> str:
    """Says how much of its controls the first row reaches; empty where it has none."""
    texts = []
    for pair in cell.ceilings:
        interval = interval_of(pair.comparison)
        if interval:
            texts.append(f"{interval} of {name(pair.base)}")
    if not texts:
        return ""
    return f"{name(cell.ceilings[0].new)} reaches {' and '.join(texts)}, under the same load."
