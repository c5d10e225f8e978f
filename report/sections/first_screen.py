"""The rows of the first screen: for each cell and ranking the figures that decide, and what they show."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.comparison_text import interval_of, name
from report.analysis.figures import consumer_cpu, percentile, store_cpu, throughput
from report.analysis.layer_text import LayerText
from report.analysis.load_text import load_text, varying_fields
from report.analysis.rankings import Ranking, Resolution, by_p99
from report.analysis.runtimes import RuntimeResults
from report.analysis.summary import Summary
from report.base.format import ABSENT, microseconds, plural, rate
from report.sections.script_text import difference, disclosure, mode_text
from report.sections.section import Line, TableCell
from report.sections.spread_text import spread_figure
from report.sections.verdict_text import sentence
from report.statistics.decision import Comparison
from report.statistics.power import MAX_RUNS, fewest_for_a_claim


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """A configuration: figures of its median run with their range over its runs, and what was shown."""

    summary: Summary
    best: bool
    """It was shown to be better than every other row of its ranking."""
    throughput: TableCell
    p99: TableCell
    cpu: TableCell
    """Of what calls the limiter, in µs per request."""
    store_cpu: TableCell
    """Of all store nodes, in µs per request."""
    ratio: str
    """To the reference of its ranking, without one to its first row, with the interval: `0.91×, 0.89–0.93×`.
    """
    cpu_ratio: str
    status: str
    """What was shown of it, in a word or two; empty where nothing is compared."""
    outlook: str
    """How many rounds would decide it; empty where it is decided."""
    verdict: str
    """Of its runs: whether each measurement can be believed."""


@dataclass(frozen=True, slots=True)
class DecisionGroup:
    """Rows on one store with one kind of decider and algorithm, under one script or each under its own."""

    heading: str
    disclosure: str
    """Which scripts ran, by which commands."""
    sentence: str
    rows: tuple[DecisionRow, ...]

    @property
    def ids(self) -> str:
        return " ".join(row.summary.id for row in self.rows)


@dataclass(frozen=True, slots=True)
class DecisionCell:
    cell: Cell
    title: str
    groups: tuple[DecisionGroup, ...]
    controls: tuple[DecisionRow, ...]
    copies: tuple[DecisionRow, ...]
    """Of the rankings' references, with the ratio to them."""
    warnings: tuple[Line, ...]
    ceiling: str
    difference: str
    """How the groups differ; empty if there is one."""

    @property
    def rows(self) -> tuple[DecisionRow, ...]:
        return (*(row for group in self.groups for row in group.rows), *self.controls, *self.copies)


REFERENCE, FIRST_ROW = "the reference", "the first row"


def base_text(rankings: Iterable[Ranking]) -> str:
    """What the ratios of these rankings are to."""
    found = dict.fromkeys(REFERENCE if ranking.reference else FIRST_ROW for ranking in rankings)
    return ", or ".join(found) or FIRST_ROW


#: Words for a conclusion, in a closed loop and in an open one: what is no speed is better or worse.
WORD: Mapping[str, tuple[str, str]] = {
    "better": ("faster", "better"),
    "worse": ("slower", "worse"),
    "no difference": ("no difference", "no difference"),
    "not decided": ("not decided", "not decided"),
    "not comparable": ("not compared", "not compared"),
}


def row_status(row: Summary, ranking: Ranking) -> str:
    """`faster`, `slower`, `not decided`, `reference`, …; empty for a first row that is no reference, unless
    it was shown to be the best."""
    if ranking.reference is row and ranking.compared:
        return "reference"
    if ranking.winner is row:
        return WORD["better"][ranking.open_loop]
    found = ranking.versus_base(row)
    return WORD[found.status][ranking.open_loop] if found else ""


def copy_status(found: Resolution) -> str:
    """Of the copy of a reference: told apart is a finding about the host."""
    return "told apart" if found.told_apart else WORD[found.comparison.status][0]


def decision_row(row: Summary, text: LayerText, of: Ranking | Resolution | None = None) -> DecisionRow:
    """Of a ranking, or the copy of a reference, with what it shows of the host; nothing is compared with any
    other."""
    ranking = of if isinstance(of, Ranking) else None
    resolution = of if isinstance(of, Resolution) else None
    versus = ranking.versus_base(row) if ranking else None
    status = row_status(row, ranking) if ranking else copy_status(resolution) if resolution else ""
    return DecisionRow(
        summary=row,
        best=ranking is not None and ranking.winner is row,
        throughput=spread_figure(row, throughput, rate),
        p99=spread_figure(row, percentile("p99"), text.latency),
        cpu=spread_figure(row, consumer_cpu, microseconds),
        store_cpu=spread_figure(row, store_cpu, microseconds),
        ratio=against_base(resolution.comparison if resolution else versus),
        cpu_ratio=against_base(ranking.versus_base(row, ranking.cpu_pairs) if ranking else None),
        status=status,
        outlook=_outlook(versus) if versus else "",
        verdict=verdict_summary(row),
    )


def _outlook(found: Comparison) -> str:
    """`takes about 14 runs`."""
    if found.status != "not decided" or found.blocked:
        return ""
    if found.too_few_runs and found.runs_needed is None:
        return f"takes {fewest_for_a_claim(found.pairs is not None)} runs"
    return f"takes about {found.runs_needed:,} runs" if found.runs_needed else f"takes over {MAX_RUNS:,} runs"


def against_base(comparison: Comparison | None) -> str:
    """`0.91×, 0.89–0.93×`; a dash for the base itself, and where there is no estimate."""
    return (interval_of(comparison) if comparison else "") or ABSENT


def verdict_summary(summary: Summary) -> str:
    """`valid`, or how many of the planned runs are not: `1 of 5 runs suspect`."""
    planned = plural(len(summary.runs) + len(summary.missing), "run")
    verdicts = Counter(run.verdict for run in summary.runs)
    counts = {**{name: verdicts[name] for name in ("invalid", "suspect")}, "missing": len(summary.missing)}
    found = [(name, number) for name, number in counts.items() if number]
    if not found:
        return "valid"
    (name, number), *others = found
    return ", ".join([f"{number} of {planned} {name}", *(f"{more} {kind}" for kind, more in others)])


def heading_of(ranking: Ranking) -> str:
    """`On valkey 9.1.2, one script for all`, `On redis 7.0.15, decided by a module (GCRA), …`."""
    runs = [run for row in ranking.summaries for run in row.runs]
    versions = {run.versions["store"] for run in runs if "store" in run.versions}
    if ranking.store is None:
        return "Store not known"
    store = " ".join(["On", ranking.store, ", ".join(sorted(versions))]).strip()
    already = " (already ran)" if ranking.group.external else ""
    return ", ".join(filter(None, (f"{store}{already}", ranking.decider_text, mode_text(ranking))))


def _ceiling(cell: Cell) -> str:
    texts = [
        f"{interval_of(pair.comparison)} of {name(pair.base)}"
        for pair in cell.ceilings
        if interval_of(pair.comparison)
    ]
    if not texts:
        return ""
    return f"{name(cell.ceilings[0].new)} reaches {' and '.join(texts)}, under the same load."


def cell_title(cell: Cell, layer_named: bool = False) -> str:
    """`Cluster · light · realistic · 50 connections · 30 s`, and limits and caps that not all cells have."""
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
            tuple(decision_row(row, cell.text, ranking) for row in ranking.summaries),
        )
        for ranking in cell.rankings
    ]
    ceilings = [control for control in cell.controls if control.identity.ceiling]
    controls = by_p99(ceilings) if cell.identity.open_loop else ceilings
    resolutions = [ranking.resolution for ranking in cell.rankings if ranking.resolution]
    return DecisionCell(
        cell,
        cell_title(cell, layer_named),
        tuple(groups),
        controls=tuple(decision_row(control, cell.text) for control in controls),
        copies=tuple(decision_row(each.copy, cell.text, each) for each in resolutions),
        warnings=tuple(
            Line(f"{name(row)}: {text}", row.id)
            for row in (*cell.summaries, *cell.controls)
            for text in row.warnings
        ),
        ceiling=_ceiling(cell),
        difference=difference(cell),
    )


def scopes(runtimes: Sequence[RuntimeResults]) -> list[tuple[str, Ranking]]:
    """Every ranking with what sets it apart from the others: runtime, layer, topology, load, store."""
    cells = [(runtime, cell) for runtime in runtimes for cell in runtime.cells]
    varying = varying_fields([cell.summaries[0] for _, cell in cells]) if cells else ()
    several = len({cell.identity.topology for _, cell in cells}) > 1
    found = []
    for runtime, cell in cells:
        topology = (cell.identity.topology or "other addresses") if several else ""
        for ranking in cell.rankings:
            heading = heading_of(ranking) if len(cell.rankings) > 1 else ""
            within = f"{heading[:1].lower()}{heading[1:]}"
            texts = (runtime.runtime, topology, load_text(cell.identity, varying), within, cell.caps)
            scope = ", ".join(filter(None, texts))
            found.append((f"{scope[:1].upper()}{scope[1:]}", ranking))
    return found


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
