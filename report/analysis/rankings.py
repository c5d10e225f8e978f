"""Rankings: only rows of one layer, topology, workload, traffic, number of servers, load, limits, store,
decider, algorithm and script mode are ranked.

Each row of a ranking is compared with every other, by the rule of `report.statistics.decision`. The
comparisons by one figure are a family (rule M17). Ranks follow from differences that were shown, never from
medians alone.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from report.analysis.deciders import NamedFacts
from report.analysis.figures import COSTS, Figure, consumer_cpu, p99, percentile, throughput
from report.analysis.groups import Group
from report.analysis.steadiness import attributable
from report.analysis.summary import Summary
from report.statistics.decision import Comparison, Level, compare_family
from report.statistics.power import MIN_RUNS_FOR_A_CLAIM
from report.statistics.ratio import ALPHA
from report.statistics.sequential import Family, compare_in_looks


@dataclass(frozen=True, slots=True)
class Standing:
    """A row in its ranking."""

    summary: Summary
    rank: int | None
    """One more than the number of rows that were shown to be better; None unless every comparison with
    another row is decided, and some of the ranking's shows a difference."""
    versus_first: Comparison | None = None
    """What the ranking is by, with its first row as the base; None for that row, and where nothing is
    compared."""
    cpu_versus_first: Comparison | None = None
    """The same for the CPU per request of what calls the limiter."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rows of a ranking, the one that stands higher as the base."""

    base: Summary
    new: Summary
    comparison: Comparison

    @property
    def better(self) -> Summary | None:
        """The row that was shown to be better."""
        match self.comparison.status:
            case "better":
                return self.new
            case "worse":
                return self.base
        return None

    @property
    def worse(self) -> Summary | None:
        """The other one."""
        better = self.better
        return None if better is None else self.base if better is self.new else self.new


@dataclass(frozen=True, slots=True)
class Ranking:
    """Rows of one group by median throughput, of an open loop by p99, see `_failed_loads_last`; those without
    a run that counts last."""

    group: Group
    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...] = ()
    """Every compared row with every other by throughput: the family of Holm's correction. Empty in an open
    loop, where throughput is what was offered (rule M4)."""
    latency_pairs: tuple[Pair, ...] = ()
    """The same by p99, in an open loop alone: at capacity it follows from the throughput."""
    cpu_pairs: tuple[Pair, ...] = ()
    """The same by the CPU per request of what calls the limiter."""
    best: Mapping[str, str] = field(default_factory=dict)
    """The id of the row that was shown to be better than all others, by `throughput` and by the names of
    `COSTS`. Each figure is a family of comparisons. Empty below five runs of each."""
    family: Family | None = None
    """When its rows were done, in their order, where the campaign found out how many runs it needs."""

    decider_text: str = ""
    """What decides its rows, and by which algorithm: `decided by a module (GCRA)`; empty where all clients of
    the campaign share it."""

    @property
    def limiters(self) -> tuple[str, ...]:
        """What decides its rows, e.g. the names of libraries."""
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
        return frozenset((script.sha1, script.name) for row in self.summaries for script in row.scripts)

    @property
    def one_script(self) -> str | None:
        """The sha1 of the script that every row ran; None when they differ, or one is not on record."""
        sha1s = {sha1 for sha1, _ in self.scripts}
        known = all(row.scripts for row in self.summaries if row.figures)
        return next(iter(sha1s)) if known and len(sha1s) == 1 else None

    @property
    def ranked_by(self) -> tuple[Pair, ...]:
        """The pairs that its order is judged by."""
        return self.latency_pairs if self.open_loop else self.pairs

    @property
    def open_loop(self) -> bool:
        return self.standings[0].summary.identity.open_loop

    @property
    def compared(self) -> tuple[Summary, ...]:
        """The rows that are compared with each other; none where there is one alone, or no ranking."""
        rows = tuple(summary for summary in self.summaries if summary.median)
        return rows if len(rows) > 1 and self.group.rankable else ()

    @property
    def winner(self) -> Summary | None:
        """The row that was shown to be better than every other one."""
        return best_of(self.ranked_by)

    @property
    def fewest_runs(self) -> int:
        """Runs that count, of the compared row that has the fewest."""
        return min((summary.counted_runs for summary in self.compared), default=0)

    @property
    def few_runs(self) -> bool:
        """Too few for anything but an order of medians (rule M17)."""
        return self.fewest_runs < MIN_RUNS_FOR_A_CLAIM


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
        found = _P99.compared(summary.figures) if summary.figures else None
        return (
            summary.median is None,
            summary.figures is None,
            math.inf if found is None else found,
            summary.spoiled_share,
            summary.identity.label,
        )

    return sorted(summaries, key=order)


_P99 = percentile("p99")


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
    """It was shown to be better than every other row of its pairs."""
    own = [pair for pair in pairs if row in (pair.base, pair.new)]
    return bool(own) and all(pair.better is row for pair in own)


def best_of(pairs: Sequence[Pair]) -> Summary | None:
    """The row that was shown to be better than every other one; None where nothing shows that."""
    rows = {row.id: row for pair in pairs for row in (pair.base, pair.new)}
    return next((row for row in rows.values() if _beats_all(row, pairs)), None)


def _ranks(pairs: Sequence[Pair]) -> dict[str, int]:
    """Ranks by the id of their row, of those that have one; see `Standing.rank`."""
    if not any(pair.comparison.shown for pair in pairs):
        return {}
    rows = {row.id: row for pair in pairs for row in (pair.base, pair.new)}
    found = {}
    for row in rows.values():
        own = [pair for pair in pairs if row in (pair.base, pair.new)]
        if all(pair.comparison.decided for pair in own):
            found[row.id] = 1 + sum(pair.better not in (None, row) for pair in own)
    return found


def rank(
    summaries: Sequence[Summary], group: Group, unsteady: str = "", named: NamedFacts | None = None
) -> Ranking:
    """Compares the rows of a group, and ranks those whose place was shown.

    Nothing is compared where there are no two rows with a valid run, where the store is not known, or the one
    script for all is not on record.

    Args:
        unsteady: `unsteady_text` of the campaign; if there is one, nothing is concluded.
        named: the facts that a text about the ranking names; by default none.
    """
    decider_text = named.text(summaries[0].identity) if named else ""
    open_loop = summaries[0].identity.open_loop
    ordered = by_p99(summaries) if open_loop else by_throughput(summaries)
    rows = [summary for summary in ordered if summary.median]
    if len(rows) < 2 or not group.rankable:
        return Ranking(
            group, tuple(Standing(summary, None) for summary in ordered), decider_text=decider_text
        )
    pairs, latency_pairs, family = _ranked_by(rows, unsteady)
    reordered = _failed_loads_last(rows, latency_pairs or pairs)
    if reordered != rows:
        rows, ordered = reordered, [*reordered, *(row for row in ordered if not row.median)]
        pairs, latency_pairs, family = _ranked_by(rows, unsteady)
    cpu_pairs = compare_rows(rows, consumer_cpu, unsteady)
    ranked_by = latency_pairs if open_loop else pairs
    ranks, first = _ranks(ranked_by), rows[0]
    versus = {pair.new.id: pair.comparison for pair in ranked_by if pair.base is first}
    cpu_versus = {pair.new.id: pair.comparison for pair in cpu_pairs if pair.base is first}
    standings = tuple(
        Standing(row, ranks.get(row.id), versus.get(row.id), cpu_versus.get(row.id)) for row in ordered
    )
    best = _best_rows(rows, pairs, unsteady)
    return Ranking(group, standings, pairs, latency_pairs, cpu_pairs, best, family, decider_text)


def _ranked_by(
    rows: Sequence[Summary], unsteady: str
) -> tuple[tuple[Pair, ...], tuple[Pair, ...], Family | None]:
    """Pairs by throughput, or in an open loop by p99, and when the rows were done."""
    if rows[0].identity.open_loop:
        return (), compare_rows(rows, p99, unsteady), None
    pairs, family = _by_throughput(rows, unsteady)
    return pairs, (), family


def _best_rows(rows: Sequence[Summary], pairs: Sequence[Pair], unsteady: str) -> dict[str, str]:
    """See `Ranking.best`. A figure that some row lacks is left out, and in a closed loop CPU per request: at
    saturation it says the same as the throughput."""
    if min(row.counted_runs for row in rows) < MIN_RUNS_FOR_A_CLAIM:
        return {}
    found = {"throughput": best_of(pairs)}
    for name, figure in COSTS.items():
        follows = name == "cpu" and not rows[0].identity.open_loop
        if not follows and all(row.sample(figure) for row in rows):
            found[name] = best_of(compare_rows(rows, figure, unsteady))
    return {name: best.id for name, best in found.items() if best}


def compare_rows(rows: Sequence[Summary], figure: Figure, unsteady: str = "") -> tuple[Pair, ...]:
    """Every row with every other by one figure of their runs: one family; rows without it are left out.

    Where a campaign looked at its runs several times and ended by what it saw, the looks share the 5 %.
    """
    known = [row for row in rows if row.sample(figure)]
    row_pairs = list(combinations(known, 2))
    looks = len(rows[0].look_schedule.looks) if rows and rows[0].look_schedule else 1
    level = Level(interval=ALPHA / looks, test=ALPHA / looks)
    found = compare_family(
        [(new.sample(figure), base.sample(figure)) for base, new in row_pairs],
        higher_is_better=figure.higher_is_better,
        level=level,
    )
    return _pairs(row_pairs, found, unsteady)


def _by_throughput(rows: Sequence[Summary], unsteady: str) -> tuple[tuple[Pair, ...], Family | None]:
    schedule, looked = rows[0].look_schedule, rows[0].last_look
    if schedule is None:
        return compare_rows(rows, throughput, unsteady), None
    family = compare_in_looks([row.by_round for row in rows], schedule, looked)
    return _pairs(list(combinations(rows, 2)), family.comparisons, unsteady), family


def _pairs(
    row_pairs: Sequence[tuple[Summary, Summary]], found: Sequence[Comparison], unsteady: str
) -> tuple[Pair, ...]:
    return tuple(
        Pair(base, new, attributable(each, base, new, unsteady))
        for (base, new), each in zip(row_pairs, found, strict=True)
    )
