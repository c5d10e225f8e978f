"""The tables of a campaign as pandas DataFrames, each made once. CSV files and notebooks select
from them.

Commands that run between the rounds of a campaign do not import this module, because pandas takes
half a second to load."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from report.analysis.campaign_analysis import Analysis, analyse
from report.analysis.column import Column
from report.analysis.columns import RUN_COLUMNS, SECOND_COLUMNS, SecondEntry
from report.analysis.comparison_columns import COMPARISON_COLUMNS, ComparisonEntry
from report.analysis.ranked_pairs import Pair
from report.analysis.rankings import Ranking
from report.analysis.summary import Summary
from report.analysis.summary_columns import SUMMARY_COLUMNS
from report.analysis.table_entries import RunEntry, SummaryEntry
from report.results.load import load_campaign


def table(columns: Mapping[str, Column], entries: Iterable[Any]) -> pd.DataFrame:
    """A table with a row for each entry in their order. All types are nullable, and a value that an
    entry does not have is `<NA>`."""
    rows = list(entries)
    return pd.DataFrame(
        {
            name: pd.array([column.read(row) for row in rows], dtype=column.kind)
            for name, column in columns.items()
        }
    )


class Frames:
    """The tables of a campaign. Every table is a `DataFrame` with nullable types (`Float64`,
    `Int64`, `boolean`, `string`), and is made when it is first read.

    The name of a column ends in its unit: `_ms`, `_us`, `_s`, `_bytes`, `_percent` (of one CPU),
    `_per_second`. A share is a number from 0 to 1. docs/report.md says what each column of `runs`
    and `summary` means, docs/notebook.md shows how to use them. `report.analysis.columns` holds
    unit, decimals and direction of every column.

    `runs` has a row for each run, including those that failed, are missing, or were set aside. A
    figure is that of the run. Runs that count are valid or suspect ones with the outcome `served`.

    `summary` has a row for each configuration. A figure is the median over the runs that count
    (rule M28), with its range in `…_min` and `…_max`. A run in which the target failed its load has
    the worst rank. `ratio` is to `ratio_to` (`Float64`, new ÷ base), `conclusion` is a word of
    `report.statistics.conclusions`, or `reference`, or `told apart` for a copy. `statement` adds
    what the interval bounds.

    `comparisons` has a row for each two configurations of a ranking that are compared. `figure`
    names the column of `summary` that is compared. `ratio` is new ÷ base, with `interval_low` and
    `interval_high` (95 %). `conclusion` is that of `new`: `faster` or `slower` of a rate, `better`
    or `worse` of a latency or of CPU. `statement` adds what the interval bounds. `detectable` is a
    share.

    `seconds` has a row for each second of each selected run (`median` in `runs`): `t_s` (s, since
    the window opened), `interval_s` (s), `allowed`, `limited` and `failed` (answers), `p50_ms` and
    `p99_ms` (ms), and what the server used.

    `row` is the key of a configuration in all of them: `row1`, `row2`, …"""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis

    @cached_property
    def runs(self) -> pd.DataFrame:
        return table(RUN_COLUMNS, _run_entries(self._analysis.summaries))

    @cached_property
    def summary(self) -> pd.DataFrame:
        rankings = _rankings_by_row(self._analysis)
        entries = (
            SummaryEntry(summary=row, ranking=rankings.get(row.id))
            for row in self._analysis.summaries
        )
        return table(SUMMARY_COLUMNS, entries)

    @cached_property
    def comparisons(self) -> pd.DataFrame:
        return table(COMPARISON_COLUMNS, _comparison_entries(self._analysis))

    @cached_property
    def seconds(self) -> pd.DataFrame:
        return table(SECOND_COLUMNS, _second_entries(self._analysis.summaries))


def frames(folder: Path | str) -> Frames:
    """The tables of the campaign in `folder`. See `Frames` for their columns, types and units.

    Raises ReportError if the folder holds no results, or a file is not what it should be. Each line
    of the error names a file and the field."""
    return Frames(analyse(load_campaign(Path(folder))))


def _run_entries(summaries: Iterable[Summary]) -> Iterator[RunEntry]:
    """The runs of each configuration by number, including those that were set aside or are
    missing."""
    for summary in summaries:
        entries = [
            *(RunEntry(summary=summary, number=run.run, run=run) for run in summary.set_aside),
            *(RunEntry(summary=summary, number=run.run, run=run) for run in summary.runs),
            *(RunEntry(summary=summary, number=number, run=None) for number in summary.missing),
        ]
        yield from sorted(entries, key=lambda entry: entry.number)


def _rankings_by_row(analysis: Analysis) -> dict[str, Ranking]:
    """The ranking of each row. A copy of a reference has the ranking of the reference."""
    rankings: dict[str, Ranking] = {}
    for ranking in (ranking for cell in analysis.cells for ranking in cell.rankings):
        rankings |= {row.id: ranking for row in ranking.summaries}
        if ranking.resolution:
            rankings[ranking.resolution.copy.id] = ranking
    return rankings


def _comparison_entries(analysis: Analysis) -> Iterator[ComparisonEntry]:
    curve_ratios = {
        point.summary.id: point.ratios
        for curve in analysis.load_curves
        for target in curve.targets
        for point in target.points
    }
    for cell in analysis.cells:
        for number, ranking in enumerate(cell.rankings, start=1):
            ranking_id = f"{cell.id}-{number}"
            figure = "latency_p99_ms" if ranking.open_loop else "requests_per_second"
            # `order` begins with the pairs of `ranked_by`.
            for place, pair in enumerate(ranking.order):
                family = "ranking" if place < len(ranking.ranked_by) else "order"
                yield ComparisonEntry(ranking_id, family, figure, pair)

            for pair in ranking.cpu_pairs:
                yield ComparisonEntry(ranking_id, "cpu", "cpu_us_per_request", pair)

            for row in ranking.summaries:
                for kind in ("service", "store"):
                    ratio = curve_ratios.get(row.id, {}).get(kind)
                    if ratio and ranking.reference:
                        pair = Pair(ranking.reference, row, ratio)
                        yield ComparisonEntry(
                            ranking_id, "curve", f"{kind}_cpu_us_per_request", pair
                        )

            if resolution := ranking.resolution:
                pair = Pair(resolution.reference, resolution.copy, resolution.comparison)
                yield ComparisonEntry(ranking_id, "copy", figure, pair)


def _second_entries(summaries: Iterable[Summary]) -> Iterator[SecondEntry]:
    for summary in summaries:
        run = summary.selected
        if run and run.measured:
            yield from (SecondEntry(summary, run, sample) for sample in run.measured.seconds)
