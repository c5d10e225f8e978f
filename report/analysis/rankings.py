"""Rankings: only rows of one layer, topology, workload, traffic, number of servers, load, limits, store,
decider, algorithm and script mode are ranked.

Each row of a ranking is compared with its reference, which the plan names, by the rule of
`report.statistics.decision`. The comparisons by one figure are a family (rule M17). In campaigns without
references each row is compared with every other. Ranks and winners claim something of every two rows, so that
they need comparisons of all, a second family. They follow from differences that were shown, never from
medians alone.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from report.analysis.deciders import NamedFacts
from report.analysis.figures import COSTS, Figure, consumer_cpu, p99, throughput
from report.analysis.foreign_cpu import attributable
from report.analysis.groups import Group
from report.analysis.resolution import Resolution
from report.analysis.summary import Summary, sample_between
from report.results.model import script_sha1
from report.statistics.decision import Comparison, Level, compare_samples
from report.statistics.power import fewest_for_a_claim
from report.statistics.ratio import ALPHA
from report.statistics.sequential import Family, LookSchedule, compare_in_looks


@dataclass(frozen=True, slots=True)
class Standing:
    summary: Summary
    versus_base: Comparison | None = None
    """What the ranking is by, against `Ranking.base`; None for that row, and where nothing is compared."""
    cpu_versus_base: Comparison | None = None
    """The same for the CPU per request of what calls the limiter."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rows of a ranking: the reference is the base, else the one that stands higher."""

    base: Summary
    new: Summary
    comparison: Comparison

    @property
    def better(self) -> Summary | None:
        match self.comparison.status:
            case "better":
                return self.new
            case "worse":
                return self.base
        return None

    @property
    def worse(self) -> Summary | None:
        better = self.better
        return None if better is None else self.base if better is self.new else self.new

    def has(self, row: Summary) -> bool:
        return row in (self.base, self.new)

    def seen_from(self, base: Summary) -> "Pair":
        return self if base is self.base else Pair(self.new, self.base, self.comparison.inverted())


@dataclass(frozen=True, slots=True)
class Ranking:
    """Rows of one group by median throughput, of an open loop by p99, see `_failed_loads_last`; those without
    a run that counts last."""

    group: Group
    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...] = ()
    """Every compared row with the reference by throughput, without one each with each: the family of Holm's
    correction. Empty in an open loop, where throughput is what was offered (rule M4)."""
    latency_pairs: tuple[Pair, ...] = ()
    """The same by p99, in an open loop alone: at capacity it follows from the throughput."""
    cpu_pairs: tuple[Pair, ...] = ()
    """The same by the CPU per request of what calls the limiter."""
    order: tuple[Pair, ...] = ()
    """By what the ranking is by, every row with every other: `ranked_by`, and what it does not have,
    corrected for all of these."""
    best: Mapping[str, str] = field(default_factory=dict)
    """The id of the row that was shown to be better than all others, by `throughput` and by the names of
    `COSTS`. Each figure is a family of comparisons. Empty below five runs of each."""
    family: Family | None = None
    """When its rows were done, in their order, where the campaign found out how many runs it needs."""

    decider_text: str = ""
    """What decides its rows, and by which algorithm: `decided by a module (GCRA)`; empty where all clients of
    the campaign share it."""
    reference: Summary | None = None
    """The row that the others were measured beside; None where the plan names none, or no run of it counts.
    """
    resolution: Resolution | None = None
    """What its copy shows by what the ranking is by; None without a copy."""

    @property
    def base(self) -> Summary:
        return self.reference or self.standings[0].summary

    @property
    def limiters(self) -> tuple[str, ...]:
        return tuple(sorted({row.identity.limiter for row in self.summaries if row.identity.limiter}))

    @property
    def store(self) -> str | None:
        return self.group.store

    @property
    def summaries(self) -> tuple[Summary, ...]:
        return tuple(standing.summary for standing in self.standings)

    @property
    def scripts(self) -> frozenset[tuple[str | None, str]]:
        """What its rows ran, whichever command carried it: sha1 (None for a function) and name."""
        return frozenset(
            (script_sha1(script), script.name_or_sha1) for row in self.summaries for script in row.scripts
        )

    @property
    def one_script(self) -> str | None:
        """The sha1 of the script that every row ran; None when they differ, or one is not on record."""
        sha1s = {sha1 for sha1, _ in self.scripts}
        known = all(row.scripts for row in self.summaries if row.figures)
        return next(iter(sha1s)) if known and len(sha1s) == 1 else None

    @property
    def ranked_by(self) -> tuple[Pair, ...]:
        return self.latency_pairs if self.open_loop else self.pairs

    @property
    def open_loop(self) -> bool:
        return self.standings[0].summary.identity.open_loop

    @property
    def compared(self) -> tuple[Summary, ...]:
        rows = tuple(summary for summary in self.summaries if summary.median)
        return rows if len(rows) > 1 and self.group.rankable else ()

    @property
    def winner(self) -> Summary | None:
        """The row that was shown to be better than every other one; none where its copy was told apart from
        the reference (rule M31)."""
        if self.resolution and self.resolution.told_apart:
            return None
        return best_of(self.order)

    @property
    def fewest_runs(self) -> int:
        return min((summary.counted_runs for summary in self.compared), default=0)

    @property
    def few_runs(self) -> bool:
        """Too few for anything but an order of medians (rule M17)."""
        return self.fewest_runs < fewest_for_a_claim(self.base.by_turns)


def by_throughput(summaries: Iterable[Summary]) -> list[Summary]:
    """Highest median first, then rows whose median run failed its load, rows without a run that counts last;
    ties by the share of failed loads, then by label."""

    def order(summary: Summary) -> tuple[bool, bool, float, float, str]:
        figures = summary.figures
        return (
            summary.median is None,
            figures is None,
            -figures.requests_per_second if figures else 0,
            summary.spoiled_share,
            summary.identity.label,
        )

    return sorted(summaries, key=order)


def by_p99(summaries: Iterable[Summary]) -> list[Summary]:
    """Lowest p99 of the median run first, where it is not identified by its upper bound; the rest as
    `by_throughput`."""

    def order(summary: Summary) -> tuple[bool, bool, float, float, str]:
        found = p99.at_most(summary.figures) if summary.figures else None
        return (
            summary.median is None,
            summary.figures is None,
            math.inf if found is None else found,
            summary.spoiled_share,
            summary.identity.label,
        )

    return sorted(summaries, key=order)


def _failed_loads_last(rows: Sequence[Summary], pairs: Sequence[Pair]) -> list[Summary]:
    """The rows in their order, but each above those before it that failed their load in a larger share of
    their runs and were not shown to be better than it: at one speed, the row that fails stands below its copy
    that never does (rule M24)."""
    better = {(pair.better.id, pair.worse.id) for pair in pairs if pair.better and pair.worse}
    ordered: list[Summary] = []
    for row in rows:
        place = len(ordered)
        while (
            place > 0
            and ordered[place - 1].spoiled_share > row.spoiled_share
            and (ordered[place - 1].id, row.id) not in better
        ):
            place -= 1
        ordered.insert(place, row)
    return ordered


def _beats_all(row: Summary, pairs: Sequence[Pair]) -> bool:
    own = [pair for pair in pairs if pair.has(row)]
    return bool(own) and all(pair.better is row for pair in own)


def best_of(pairs: Sequence[Pair]) -> Summary | None:
    rows = {row.id: row for pair in pairs for row in (pair.base, pair.new)}
    return next((row for row in rows.values() if _beats_all(row, pairs)), None)


def rank(
    summaries: Sequence[Summary],
    group: Group,
    named: NamedFacts | None = None,
    copies: Mapping[str, Resolution] | None = None,
) -> Ranking:
    """Compares the rows of a group, and ranks those whose place was shown.

    Nothing is compared where there are no two rows with a valid run, where the store is not known, or the one
    script for all is not on record."""
    decider_text = named.text(summaries[0].identity) if named else ""
    open_loop = summaries[0].identity.open_loop
    ordered = by_p99(summaries) if open_loop else by_throughput(summaries)
    rows = [summary for summary in ordered if summary.median]
    reference = next((row for row in rows if row.reference), None)
    compared = _Compared(reference, len(summaries))
    resolution = (copies or {}).get(reference.id) if reference else None
    if len(rows) < 2 or not group.rankable:
        return Ranking(
            group,
            tuple(map(Standing, ordered)),
            decider_text=decider_text,
            reference=reference,
            resolution=resolution,
        )
    pairs, order, family = compared.ranked_by(rows)
    reordered = _failed_loads_last(rows, order)
    if reordered != rows:
        rows, ordered = reordered, [*reordered, *(row for row in ordered if not row.median)]
        pairs, order, family = compared.ranked_by(rows)
    cpu_pairs = compared.with_base(rows, consumer_cpu)
    told_apart = resolution is not None and resolution.told_apart
    base = reference or rows[0]
    versus = {pair.new.id: pair.comparison for pair in pairs if pair.base is base}
    cpu_versus = {pair.new.id: pair.comparison for pair in cpu_pairs if pair.base is base}
    standings = tuple(Standing(row, versus.get(row.id), cpu_versus.get(row.id)) for row in ordered)
    return Ranking(
        group,
        standings,
        () if open_loop else pairs,
        pairs if open_loop else (),
        cpu_pairs,
        order,
        {} if told_apart else compared.best_rows(rows, order),
        family,
        decider_text,
        reference,
        resolution,
    )


@dataclass(frozen=True, slots=True)
class _Compared:
    reference: Summary | None
    planned_rows: int
    """All rows of the group, those without a run that counts too."""

    def with_base(self, rows: Sequence[Summary], figure: Figure) -> tuple[Pair, ...]:
        """Every row with the reference, without one every row with every other: one family; rows without the
        figure are left out."""
        if self.reference is None:
            return self._with_each(rows, figure)
        base = self.reference
        if not base.sample(figure):
            return ()
        row_pairs = [(base, row) for row in rows if row is not base and row.sample(figure)]
        found = _compare(row_pairs, figure, self.planned_rows - 1)
        return _attributable(row_pairs, found)

    def _with_each(self, rows: Sequence[Summary], figure: Figure) -> tuple[Pair, ...]:
        known = [row for row in rows if row.sample(figure)]
        row_pairs = list(combinations(known, 2))
        found = _compare(row_pairs, figure, math.comb(self.planned_rows, 2))
        return _attributable(row_pairs, found)

    def ranked_by(self, rows: Sequence[Summary]) -> tuple[tuple[Pair, ...], tuple[Pair, ...], Family | None]:
        """The family by what the ranking is by, with what an order of all needs besides, and when the rows
        were done."""
        figure, family = p99 if rows[0].identity.open_loop else throughput, None
        if figure is throughput and (schedule := rows[0].look_schedule):
            family = self._in_looks(rows, schedule)
            row_pairs = [(rows[base], rows[new]) for base, new in family.pairs]
            pairs = _attributable(row_pairs, family.comparisons)
        else:
            pairs = self.with_base(rows, figure)
        return pairs, self._order(rows, pairs, figure), family

    def _order(self, rows: Sequence[Summary], pairs: Sequence[Pair], figure: Figure) -> tuple[Pair, ...]:
        if self.reference is None or len(rows) == 2:
            return tuple(pairs)
        others = self._with_each(rows, figure)
        return (*pairs, *(pair for pair in others if not pair.has(self.reference)))

    def _in_looks(self, rows: Sequence[Summary], schedule: LookSchedule) -> Family:
        return compare_in_looks(
            [row.side(throughput) for row in rows],
            schedule,
            rows[0].last_look,
            reference=None if self.reference is None else rows.index(self.reference),
            in_rounds=all(row.planned_rounds for row in rows),
            together=all(row.by_turns for row in rows),
        )

    def best_rows(self, rows: Sequence[Summary], order: Sequence[Pair]) -> dict[str, str]:
        """See `Ranking.best`. A figure that some row lacks is left out, and in a closed loop CPU per request:
        at saturation it says the same as the throughput. In an open loop throughput is what was offered."""
        if min(row.counted_runs for row in rows) < fewest_for_a_claim(rows[0].by_turns):
            return {}
        open_loop = rows[0].identity.open_loop
        found = {} if open_loop else {"throughput": best_of(order)}
        for name, figure in COSTS.items():
            follows = name == "cpu" and not open_loop
            if not follows and all(row.sample(figure) for row in rows):
                found[name] = best_of(self._with_each(rows, figure))
        return {name: best.id for name, best in found.items() if best}


def _attributable(
    row_pairs: Sequence[tuple[Summary, Summary]], found: Sequence[Comparison]
) -> tuple[Pair, ...]:
    return tuple(
        Pair(base, new, attributable(each, base, new))
        for (base, new), each in zip(row_pairs, found, strict=True)
    )


def _compare(
    row_pairs: Sequence[tuple[Summary, Summary]], figure: Figure, planned: int
) -> tuple[Comparison, ...]:
    """One family, base first in each pair.

    Where a campaign looked at its runs several times and ended by what it saw, the looks share the 5 %."""
    if not row_pairs:
        return ()
    schedule = row_pairs[0][0].look_schedule
    share = ALPHA / len(schedule.looks) if schedule else ALPHA
    return compare_samples(
        [sample_between(new, base, figure) for base, new in row_pairs],
        higher_is_better=figure.higher_is_better,
        level=Level(interval=share, test=share, planned=planned),
    )


def compare_rows(rows: Sequence[Summary], figure: Figure) -> tuple[Pair, ...]:
    """Every row with every other by one figure of their runs: one family; rows without it are left out."""
    return _Compared(None, len(rows)).with_base(rows, figure)


def compare_pairs(row_pairs: Sequence[tuple[Summary, Summary]], figure: Figure) -> tuple[Pair, ...]:
    """A named comparison, base first in each pair: one family; pairs without the figure are left out."""
    known = [pair for pair in row_pairs if all(row.sample(figure) for row in pair)]
    return _attributable(known, _compare(known, figure, len(row_pairs)))
