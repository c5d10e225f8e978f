"""The first thing on the page: per cell, who has which median, how far apart, and how much that is worth."""

from collections.abc import Sequence
from dataclasses import dataclass

from .apart import ApartTable, apart_caption, apart_tables
from .compare import Cell, Ranking, Standing
from .format import milliseconds, percent, plural, rate, ratio
from .loads import load_text
from .script_text import difference, disclosure, mode_text
from .summarize import Summary
from .verdict_text import interval_text, sentence


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """`bar_percent` is the throughput in % of the highest in the cell, controls included."""

    summary_id: str
    rank: str
    label: str
    throughput: str
    bar_percent: float
    ratio: str
    interval: str
    """Of the ratio to the first row, with the status: `0.89–0.93×, worse`; empty where nothing was tested."""
    p99: str
    tags: tuple[str, ...]
    hole: str


@dataclass(frozen=True, slots=True)
class Warned:
    """A sign of unsteady runs of a row, as a sentence."""

    summary_id: str
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class AnswerGroup:
    """Rows on one store, under one script or each under its client's own."""

    heading: str
    disclosure: str
    """Which scripts ran, by which commands."""
    sentence: str
    indicative: bool
    rows: tuple[AnswerRow, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """One cell."""

    id: str
    title: str
    groups: tuple[AnswerGroup, ...]
    controls: tuple[AnswerRow, ...]
    warnings: tuple[Warned, ...]
    ceiling: str
    difference: str
    """What tells the groups apart; empty where there is one."""
    apart: tuple[ApartTable, ...]
    apart_caption: str


def _throughput(summary: Summary) -> float | None:
    return summary.median.requests_per_second if summary.median else None


def _row(
    summary: Summary, highest: float, rank: str = "", to_best: str = "", interval: str = ""
) -> AnswerRow:
    value = _throughput(summary)
    return AnswerRow(
        summary_id=summary.id,
        rank=rank,
        label=summary.identity.short_label,
        throughput=rate(value),
        bar_percent=round(100 * (value or 0) / highest, 2) if highest else 0,
        ratio=to_best,
        interval=interval,
        p99=milliseconds(summary.figures.percentiles_ms.get("p99") if summary.figures else None),
        tags=_tags(summary),
        hole=summary.hole,
    )


def _tags(summary: Summary) -> tuple[str, ...]:
    """What a reader must know of a row that has figures: a suspect median run, and runs that do not count."""
    if summary.median is None:
        return ()
    planned = len(summary.runs) + len(summary.missing)
    return (
        *(["suspect"] if summary.median.verdict == "suspect" else []),
        *(
            [f"{summary.valid_runs} of {plural(planned, 'run')} valid"]
            if summary.valid_runs < planned
            else []
        ),
    )


def _client_row(standing: Standing, highest: float) -> AnswerRow:
    rank = "" if standing.rank is None else str(standing.rank)
    return _row(standing.summary, highest, rank, ratio(standing.ratio), interval_text(standing.versus_first))


def _heading(ranking: Ranking) -> str:
    """`On valkey 9.1.2, one script for all`."""
    versions = {
        run.versions["store"]
        for standing in ranking.standings
        for run in standing.summary.runs
        if "store" in run.versions
    }
    if ranking.store is None:
        return "Store not known"
    store = " ".join(["On", ranking.store, ", ".join(sorted(versions))]).strip()
    already = " (already ran)" if ranking.group.external else ""
    return f"{store}{already}, {mode_text(ranking)}"


def _ceiling(cell: Cell) -> str:
    clients = [value for summary in cell.summaries if (value := _throughput(summary)) is not None]
    if not clients:
        return ""
    texts = [
        f"{percent(100 * max(clients) / value, 0)} of {control.identity.short_label}"
        for control in cell.controls
        if (value := _throughput(control))
    ]
    return f"The highest client median is {' and '.join(texts)}." if texts else ""


def cell_title(cell: Cell) -> str:
    """`Cluster · light · realistic · 50 connections · 30 s`, and the caps, where there are some."""
    identity = cell.identity
    topology = identity.topology.capitalize() if identity.topology else "Other addresses"
    parts = [topology, load_text(identity)]
    if identity.caps != "{}":
        parts.append(f"caps {identity.caps}")
    return " · ".join(parts)


def answers(cells: Sequence[Cell]) -> tuple[Answer, ...]:
    """One answer a cell, in their order."""
    found = []
    for cell in cells:
        values = [_throughput(summary) or 0 for summary in (*cell.summaries, *cell.controls)]
        highest = max(values, default=0)
        groups = tuple(
            AnswerGroup(
                heading=_heading(ranking),
                disclosure=disclosure(ranking),
                sentence=sentence(ranking),
                indicative=ranking.comparable > 0 and ranking.few_runs,
                rows=tuple(_client_row(standing, highest) for standing in ranking.standings),
            )
            for ranking in cell.rankings
        )
        apart = apart_tables(cell)
        found.append(
            Answer(
                id=cell.id,
                title=cell_title(cell),
                groups=groups,
                controls=tuple(_row(control, highest) for control in cell.controls),
                warnings=tuple(
                    Warned(row.id, row.identity.short_label, text)
                    for row in (*cell.summaries, *cell.controls)
                    for text in row.warnings
                ),
                ceiling=_ceiling(cell),
                difference=difference(cell),
                apart=apart,
                apart_caption=apart_caption(apart),
            )
        )
    return tuple(found)
