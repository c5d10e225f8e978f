"""Rankings: only rows of one topology, workload, traffic, load, limits and store stand beside each other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .model import Identity
from .stats import MIN_RUNS_FOR_A_CLAIM, ratio_to_best
from .summarize import Summary


@dataclass(frozen=True, slots=True)
class Standing:
    """A row in its ranking; no rank and no ratio where there is no valid run, or nothing to rank against."""

    summary: Summary
    rank: int | None
    ratio: float | None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Rows on one store by median throughput, those without a valid run last; a lone one has no rank."""

    store: str | None
    standings: tuple[Standing, ...]

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
    """What can be compared at all, one ranking a store, and the controls under the same load as a ceiling."""

    id: str
    identity: Identity
    """Of any row: all share topology, workload, traffic, load and limits."""
    rankings: tuple[Ranking, ...]
    controls: tuple[Summary, ...]

    @property
    def stores_differ(self) -> bool:
        return len(self.rankings) > 1

    @property
    def summaries(self) -> tuple[Summary, ...]:
        return tuple(standing.summary for ranking in self.rankings for standing in ranking.standings)


def _load(identity: Identity) -> tuple[object, ...]:
    """What controls must share with the clients beside them."""
    return (
        identity.workload,
        identity.complexity,
        identity.traffic,
        identity.connections,
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


def rank(summaries: Sequence[Summary], store: str | None) -> Ranking:
    """Ranks rows that share their store; equal medians share a rank.

    A row without others to compare it with has no rank, nor has any on a store that is not known.
    """
    ordered = by_throughput(summaries)
    values = [summary.median.requests_per_second if summary.median else None for summary in ordered]
    best = values[0]
    alone = sum(value is not None for value in values) < 2
    standings = []
    for summary, value in zip(ordered, values, strict=True):
        if value is None or best is None or store is None or alone:
            standings.append(Standing(summary, None, None))
        else:
            standings.append(Standing(summary, values.index(value) + 1, ratio_to_best(value, best)))
    return Ranking(store, tuple(standings))


def cells(summaries: Sequence[Summary]) -> tuple[Cell, ...]:
    """The cells of a campaign, in the order of `summaries`; controls alone make no cell."""
    clients: dict[tuple[object, ...], list[Summary]] = {}
    controls: dict[tuple[object, ...], list[Summary]] = {}
    for summary in summaries:
        identity = summary.identity
        if identity.control:
            controls.setdefault(_load(identity), []).append(summary)
        else:
            clients.setdefault((identity.topology, identity.caps, *_load(identity)), []).append(summary)
    found = []
    for number, rows in enumerate(clients.values(), start=1):
        stores: dict[str | None, list[Summary]] = {}
        for row in rows:
            stores.setdefault(row.identity.store, []).append(row)
        largest_first = sorted(stores.items(), key=lambda entry: (-len(entry[1]), entry[0] or "~"))
        rankings = tuple(rank(members, store) for store, members in largest_first)
        beside = tuple(by_throughput(controls.get(_load(rows[0].identity), [])))
        found.append(Cell(f"cell{number}", rows[0].identity, rankings, beside))
    return tuple(found)
