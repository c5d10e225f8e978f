"""Ranks rows. The plan says which rows are ranked together. Only rankings under one script for all
are split here, by the scripts that really ran.

Each row of a ranking is compared with the reference that the plan names, by the rule of
`report.statistics.decision`. The comparisons by one figure are a family (rule M17). In campaigns
without references each row is compared with every other one. Ranks and winners say something about
every two rows, so they need a second family with all comparisons. They follow from differences that
were shown, and never from medians alone."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations

from msgspec import Struct, structs

from report.analysis.figures import COSTS, Figure, consumer_cpu, p99, throughput
from report.analysis.ranked_pairs import (
    Pair,
    best_of,
    compare_members,
    compare_pairs,
    failed_loads_last,
    pairs_of,
)
from report.analysis.ranking_properties import RankingProperties
from report.analysis.row_pairs import sample_between, systematic_between
from report.analysis.settled import Settling, Settlings
from report.analysis.summary import Summary
from report.analysis.texts import NamedProperties
from report.results.limiter_scripts import script_sha1
from report.statistics.comparison import DEFAULT_MARGIN, Comparison, Level
from report.statistics.conclusions import conclusion_of
from report.statistics.decision import compare_samples
from report.statistics.power import fewest_for_a_claim
from report.statistics.ratio import ALPHA
from report.statistics.sequential import Family, compare_in_looks


class Resolution(Struct, frozen=True):
    """The comparison of a reference with its copy, which shows the differences that a campaign can
    resolve (rule M31)."""

    copy: Summary
    reference: Summary
    comparison: Comparison
    """The copy ÷ the reference. This comparison does not belong to the family of the ranking."""

    @property
    def told_apart(self) -> bool:
        return self.comparison.shown

    @property
    def share(self) -> float | None:
        """How far its interval extends from 1, as a share. None without an interval, and infinite
        if the copy failed its load too often."""
        interval = self.comparison.interval
        if interval is None:
            return None

        inverse_low = 1 / interval.low if interval.low > 0 else math.inf
        return max(interval.high, inverse_low) - 1


class Ranking(Struct, frozen=True):
    """The rows of one ranking, sorted by median throughput, or in an open loop by p99, see
    `failed_loads_last`. Rows without a run that counts are last."""

    properties: RankingProperties
    summaries: tuple[Summary, ...]
    ranked_by: tuple[Pair, ...] = ()
    """Each compared row with the reference, or without one each with each. They are the family of
    Holm's correction. The figure is throughput, or in an open loop p99, because the throughput
    there is the offered rate (rule M4)."""
    cpu_pairs: tuple[Pair, ...] = ()
    """The same pairs by the CPU per request of what calls the limiter."""
    order: tuple[Pair, ...] = ()
    """Each row with every other one. They are the pairs of `ranked_by` and those that it does not
    have, which are corrected for all of them."""
    best: Mapping[str, str] = {}
    """The id of the row that was shown to be better than all others, by `throughput` and the names
    of `COSTS`. Each figure is a family of comparisons. Empty if a row has too few runs for a
    claim."""
    family: Family | None = None
    """When each of its rows was done. None unless the campaign found out how many runs it needs."""
    decider_text: str = ""
    """The decider and algorithm of its rows, such as `decided by a module (GCRA)`. Empty if all
    clients of the campaign share them."""
    reference: Summary | None = None
    """The row with which the others are compared. None if the plan names none, or no run of it
    counts."""
    resolution: Resolution | None = None
    """The resolution by the figure of the ranking. None without a copy of the reference."""
    settlings: Settlings = {}
    """Whether ratios to the reference are settled, of all rankings of the campaign."""

    @property
    def base(self) -> Summary:
        return self.reference or self.summaries[0]

    def versus_base(self, row: Summary, pairs: Sequence[Pair] | None = None) -> Comparison | None:
        """The comparison of a row with the base, by the figure of the ranking or from these pairs.
        None for the base itself, and if nothing is compared."""
        for pair in self.ranked_by if pairs is None else pairs:
            if pair.base is self.base and pair.new is row:
                return pair.comparison
        return None

    def ratio_of(self, row: Summary) -> Comparison | None:
        """The comparison with the base by the figure of the ranking, also for the copy of the
        reference."""
        resolution = self.resolution
        if resolution and resolution.copy.id == row.id:
            return resolution.comparison
        return self.versus_base(row)

    def settling_of(self, row: Summary, figure: Figure) -> Settling | None:
        """Whether the ratio of a row, or of the copy, to the reference is settled. None for the
        reference, and for rows that did not go by turns."""
        return self.settlings.get((self.base.id, row.id, figure))

    def conclusion_of(self, row: Summary) -> str:
        """The word for what was shown of a row, or of the copy of the reference.

        It is the conclusion of its comparison, and that of a winner if the row is the winner. It is
        `reference` for the reference, `told apart` for a copy that differs from its reference, and
        empty if nothing is compared."""
        resolution = self.resolution
        if resolution and resolution.copy.id == row.id:
            return "told apart" if resolution.told_apart else resolution.comparison.conclusion
        if self.reference is row and self.compared_rows:
            return "reference"
        if self.winner is row:
            return conclusion_of("better", higher_is_better=not self.open_loop)
        comparison = self.versus_base(row)
        return comparison.conclusion if comparison else ""

    def statement_of(self, row: Summary) -> str:
        """The word of `conclusion_of`, with what the interval bounds if it is that of the
        comparison: `faster, at least 4 %`."""
        word = self.conclusion_of(row)
        comparison = self.ratio_of(row)
        return comparison.statement if comparison and comparison.conclusion == word else word

    @property
    def limiters(self) -> tuple[str, ...]:
        return tuple(
            sorted({row.identity.limiter for row in self.summaries if row.identity.limiter})
        )

    @property
    def scripts(self) -> frozenset[tuple[str | None, str]]:
        """The sha1, which is None for a function, and name of each script of its rows."""
        scripts = (script for row in self.summaries for script in row.scripts)
        return frozenset((script_sha1(script), script.name_or_sha1) for script in scripts)

    @property
    def one_script(self) -> str | None:
        """The sha1 of the script that every row ran. None if rows differ in it, or if that of one
        is not on record."""
        sha1s = {sha1 for sha1, _ in self.scripts}
        are_known = all(row.scripts for row in self.summaries if row.has_figures)
        return next(iter(sha1s)) if are_known and len(sha1s) == 1 else None

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs that are compared by throughput."""
        return () if self.open_loop else self.ranked_by

    @property
    def open_loop(self) -> bool:
        return self.summaries[0].identity.open_loop

    @property
    def compared_rows(self) -> tuple[Summary, ...]:
        """The rows that are compared. Empty if fewer than two have a run that counts, if the store
        is not known, or if the one script for all is not on record."""
        rows = tuple(summary for summary in self.summaries if summary.selected)
        return rows if len(rows) > 1 and self.properties.rankable else ()

    @property
    def winner(self) -> Summary | None:
        """The row that was shown to be better than every other one. There is none if the copy was
        told apart from the reference (rule M31)."""
        if self.resolution and self.resolution.told_apart:
            return None
        return best_of(self.order)

    @property
    def few_runs(self) -> bool:
        """Whether there are too few runs for anything but an order of medians (rule M17)."""
        fewest = min((summary.counted_runs for summary in self.compared_rows), default=0)
        return fewest < fewest_for_a_claim(self.base.by_turns)


def _sorted(summaries: Iterable[Summary], read: Callable[[Summary], float | None]) -> list[Summary]:
    """The rows by ascending value, then those that typically failed their load, then those without
    a run that counts. Ties are sorted by the share of failed loads, then by label."""

    def order(summary: Summary) -> tuple[bool, bool, float, float, str]:
        value = read(summary)
        return (
            summary.selected is None,
            not summary.has_figures,
            math.inf if value is None else value,
            summary.spoiled_share,
            summary.identity.label,
        )

    return sorted(summaries, key=order)


def by_throughput(summaries: Iterable[Summary]) -> list[Summary]:
    """The rows by median throughput, with the highest first."""
    return _sorted(summaries, lambda row: -(row.figure_of(throughput).value or 0))


def by_p99(summaries: Iterable[Summary]) -> list[Summary]:
    """The rows by median p99, with the lowest first. A p99 that is not identified counts as its
    upper bound."""
    return _sorted(summaries, lambda row: row.figure_of(p99).at_most)


def rank(
    summaries: Sequence[Summary],
    properties: RankingProperties,
    named: NamedProperties | None = None,
    copies: Mapping[str, Resolution] | None = None,
    settlings: Settlings | None = None,
) -> Ranking:
    """Compares rows, and ranks those whose place was shown."""
    ordered = by_p99(summaries) if summaries[0].identity.open_loop else by_throughput(summaries)
    rows = [summary for summary in ordered if summary.selected]
    reference = next((row for row in rows if row.reference), None)
    resolution = (copies or {}).get(reference.id) if reference else None
    ranking = Ranking(
        properties,
        tuple(ordered),
        decider_text=named.text(summaries[0].identity) if named else "",
        reference=reference,
        resolution=resolution,
        settlings=settlings or {},
    )
    if not ranking.compared_rows:
        return ranking

    planned = _planned_rows(summaries, properties)
    pairs, order, family = _ranked_by(rows, reference, planned, ranking.settlings)
    reordered = failed_loads_last(rows, order)
    if reordered != rows:
        rows = reordered
        ordered = [*reordered, *(row for row in ordered if not row.selected)]
        pairs, order, family = _ranked_by(rows, reference, planned, ranking.settlings)

    told_apart = resolution is not None and resolution.told_apart
    return structs.replace(
        ranking,
        summaries=tuple(ordered),
        ranked_by=pairs,
        cpu_pairs=_standing(
            compare_members(rows, consumer_cpu, planned, reference), consumer_cpu, ranking.settlings
        ),
        order=order,
        best={} if told_apart else _best_rows(rows, order, planned),
        family=family,
    )


def _planned_rows(summaries: Sequence[Summary], properties: RankingProperties) -> int:
    """The number of rows that the plan compares, including the reference and rows without runs.

    With one script for all it is the number of rows of the ranking, because the plan cannot know
    which rows will run the same script."""
    return len(summaries) if properties.same_script else summaries[0].ranking.family + 1


def _standing(pairs: Iterable[Pair], figure: Figure, settlings: Settlings) -> tuple[Pair, ...]:
    """The pairs, of which those that are not settled may lose their conclusion (rule M33)."""

    def stands(pair: Pair) -> Pair:
        settling = settlings.get((pair.base.id, pair.new.id, figure))
        if settling is None:
            return pair
        return structs.replace(pair, comparison=settling.standing(pair.comparison))

    return tuple(map(stands, pairs))


def _ranked_by(
    rows: Sequence[Summary], reference: Summary | None, planned: int, settlings: Settlings
) -> tuple[tuple[Pair, ...], tuple[Pair, ...], Family | None]:
    """Returns the pairs of `Ranking.ranked_by` and of `Ranking.order`, and when the rows were
    done."""
    figure = p99 if rows[0].identity.open_loop else throughput
    family = None
    if figure is throughput and (schedule := rows[0].look_schedule):
        family = compare_in_looks(
            [row.side(throughput) for row in rows],
            schedule,
            rows[0].last_look,
            rows[0].margin,
            reference=None if reference is None else rows.index(reference),
            in_rounds=all(row.planned_rounds for row in rows),
            together=all(row.by_turns for row in rows),
            systematic=lambda base, new: systematic_between(rows[new], rows[base], throughput),
        )
        compared = [(rows[base], rows[new]) for base, new in family.pairs]
        pairs = pairs_of(compared, family.comparisons, throughput)
    else:
        pairs = compare_members(rows, figure, planned, reference)

    pairs = _standing(pairs, figure, settlings)
    if reference is None or len(rows) == 2:
        return pairs, pairs, family

    other_pairs = (
        pair for pair in compare_members(rows, figure, planned) if not pair.has(reference)
    )
    return pairs, (*pairs, *other_pairs), family


def _best_rows(rows: Sequence[Summary], order: Sequence[Pair], planned: int) -> dict[str, str]:
    """See `Ranking.best`.

    A figure that some row does not have is not compared. Neither is the CPU per request in a closed
    loop, because it says the same as the throughput at saturation, nor the throughput of an open
    loop, because it is the offered rate."""
    if min(row.counted_runs for row in rows) < fewest_for_a_claim(rows[0].by_turns):
        return {}

    open_loop = rows[0].identity.open_loop
    best_rows = {} if open_loop else {"throughput": best_of(order)}
    for name, figure in COSTS.items():
        follows_throughput = name == "cpu" and not open_loop
        if not follows_throughput and all(row.sample(figure) for row in rows):
            # What more runs would show decides no rank.
            pairs = compare_pairs(
                list(combinations(rows, 2)), figure, math.comb(planned, 2), with_outlook=False
            )
            best_rows[name] = best_of(pairs)
    return {name: best.id for name, best in best_rows.items() if best}


def resolutions(rows: Iterable[Summary], figure: Figure | None = None) -> Mapping[str, Resolution]:
    """The resolutions by the id of the reference, except those without a run that counts.

    The copies of a campaign are one family, so `rows` must be all rows of the campaign. Without
    `figure` they are compared by the figure of their ranking."""
    by_key = {row.identity.key: row for row in rows}
    pairs = [
        (row, by_key[row.ranking.reference])
        for row in by_key.values()
        if row.ranking.copy == row.identity.key and row.ranking.reference in by_key
    ]
    by_reference: dict[str, Resolution] = {}
    for open_loop in (False, True):
        read = figure or (p99 if open_loop else throughput)
        family = [
            pair
            for pair in pairs
            if pair[1].identity.open_loop is open_loop and all(row.sample(read) for row in pair)
        ]
        looks = max(
            (len(row.look_schedule.looks) for _, row in family if row.look_schedule), default=1
        )
        comparisons = compare_samples(
            [sample_between(copy, reference, read) for copy, reference in family],
            family[0][0].margin if family else DEFAULT_MARGIN,
            higher_is_better=read.higher_is_better,
            level=Level(test=ALPHA / looks),
        )
        for (copy, reference), comparison in zip(family, comparisons, strict=True):
            by_reference[reference.id] = Resolution(copy, reference, comparison)
    return by_reference
