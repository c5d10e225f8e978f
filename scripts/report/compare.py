"""Rankings: only rows of one topology, workload, traffic, load, limits, store and script mode are ranked.

The rows of a ranking are compared each with each, by the decision rule of `stats`: one family (rule M17).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from .groups import Group, group_rows
from .model import Identity
from .stats import (
    MIN_RUNS_FOR_A_CLAIM,
    Comparison,
    Family,
    Schedule,
    compare_family,
    family_in_looks,
    ratio_to_best,
)
from .summarize import Summary


@dataclass(frozen=True, slots=True)
class Standing:
    """A row in its ranking; no rank and no ratio where there is no valid run, or nothing to rank against."""

    summary: Summary
    rank: int | None
    ratio: float | None
    versus_first: Comparison | None = None
    """With the first row of its ranking as the base; None for that row, and without a rank."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rows of a ranking, the one ranked higher as the base."""

    base: Summary
    new: Summary
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Ranking:
    """Rows of one group by median throughput, those without a valid run last; a lone one has no rank."""

    group: Group
    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...] = ()
    """Every ranked row with every other: the family of Holm's correction."""
    family: Family | None = None
    """When its rows were done, in their order, where the campaign found out how many runs it needs."""

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
    def comparable(self) -> int:
        """How many rows have a rank."""
        return sum(standing.rank is not None for standing in self.standings)

    @property
    def fewest_runs(self) -> int:
        """Valid runs of the ranked row that has the fewest."""
        return min((s.summary.valid_runs for s in self.standings if s.rank is not None), default=0)

    @property
    def few_runs(self) -> bool:
        """Too few for anything but an order of medians (rule M17)."""
        return self.fewest_runs < MIN_RUNS_FOR_A_CLAIM


@dataclass(frozen=True, slots=True)
class Cell:
    """What can be compared at all, a ranking a group, and the controls under the same load as a ceiling."""

    id: str
    identity: Identity
    """Of any row: all share topology, workload, traffic, load and limits."""
    rankings: tuple[Ranking, ...]
    controls: tuple[Summary, ...]

    @property
    def stores_differ(self) -> bool:
        """Its rankings are on several stores, or some on a store that the user already ran."""
        return len({(ranking.group.store, ranking.group.external) for ranking in self.rankings}) > 1

    @property
    def limiters_differ(self) -> bool:
        """Its rankings are of several limiters."""
        return len({ranking.group.limiter for ranking in self.rankings}) > 1

    @property
    def scripts_differ(self) -> bool:
        """Its rankings did not all run one and the same script."""
        shas = {ranking.one_script for ranking in self.rankings}
        recorded = any(ranking.scripts or ranking.group.same_script for ranking in self.rankings)
        return len(self.rankings) > 1 and recorded and (len(shas) > 1 or None in shas)

    @property
    def summaries(self) -> tuple[Summary, ...]:
        return tuple(summary for ranking in self.rankings for summary in ranking.summaries)


def load_key(identity: Identity) -> tuple[object, ...]:
    """What rows must share to be compared at all, and controls with the clients beside them."""
    return (
        identity.workload,
        identity.complexity,
        identity.traffic,
        identity.connections,
        identity.rate_per_second,
        identity.arrivals,
        identity.duration_s,
        identity.requests,
        identity.limits,
    )


def by_throughput(summaries: Iterable[Summary]) -> list[Summary]:
    """Highest median first, rows without a valid run last, ties by label."""

    def order(summary: Summary) -> tuple[bool, float, str]:
        throughput = summary.median.requests_per_second if summary.median else None
        return (throughput is None, -(throughput or 0), summary.identity.label)

    return sorted(summaries, key=order)


def rank(summaries: Sequence[Summary], group: Group) -> Ranking:
    """Ranks the rows of a group; equal medians share a rank.

    A row without others to compare it with has no rank, nor has any where the store is not known, or the one
    script for all is not on record, nor in an open loop: there the throughput is what was offered (rule M4).
    """
    ordered = by_throughput(summaries)
    values = [summary.median.requests_per_second if summary.median else None for summary in ordered]
    best = values[0]
    alone = sum(value is not None for value in values) < 2
    offered = ordered[0].identity.open_loop
    if best is None or alone or offered or not group.rankable:
        return Ranking(group, tuple(Standing(summary, None, None) for summary in ordered))
    ranked = [summary for summary, value in zip(ordered, values, strict=True) if value is not None]
    pairs, family = _compared(ranked)
    versus = {pair.new.id: pair.comparison for pair in pairs if pair.base is ranked[0]}
    standings = tuple(
        Standing(summary, None, None)
        if value is None
        else Standing(summary, values.index(value) + 1, ratio_to_best(value, best), versus.get(summary.id))
        for summary, value in zip(ordered, values, strict=True)
    )
    return Ranking(group, standings, pairs, family)


@lru_cache(maxsize=4096)
def _family(pairs: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...]) -> tuple[Comparison, ...]:
    """Page, summaries and tables all ask for the same comparisons."""
    return compare_family(pairs)


@lru_cache(maxsize=1024)
def _family_in_looks(
    sides: tuple[tuple[tuple[int, float], ...], ...], schedule: Schedule, looked: int
) -> Family:
    return family_in_looks([dict(side) for side in sides], schedule, looked)


def _compared(ranked: Sequence[Summary]) -> tuple[tuple[Pair, ...], Family | None]:
    couples = list(combinations(ranked, 2))
    schedule, looked = ranked[0].schedule, ranked[0].looked
    family: Family | None = None
    if schedule is None:
        found = _family(tuple((new.throughputs, base.throughputs) for base, new in couples))
    else:
        sides = tuple(tuple(row.by_round.items()) for row in ranked)
        family = _family_in_looks(sides, schedule, looked)
        found = family.comparisons
    return tuple(Pair(base, new, each) for (base, new), each in zip(couples, found, strict=True)), family


def cells(summaries: Sequence[Summary]) -> tuple[Cell, ...]:
    """The cells of a campaign, in the order of `summaries`; controls alone make no cell."""
    clients: dict[tuple[object, ...], list[Summary]] = {}
    controls: dict[tuple[object, ...], list[Summary]] = {}
    for summary in summaries:
        identity = summary.identity
        if identity.control:
            controls.setdefault(load_key(identity), []).append(summary)
        else:
            clients.setdefault((identity.topology, identity.caps, *load_key(identity)), []).append(summary)
    found = []
    for number, rows in enumerate(clients.values(), start=1):
        rankings = tuple(rank(members, group) for group, members in group_rows(rows))
        beside = tuple(by_throughput(controls.get(load_key(rows[0].identity), [])))
        found.append(Cell(f"cell{number}", rows[0].identity, rankings, beside))
    return tuple(found)
