"""Finds comparisons in which the limit did not belong to the target, so that the throughput is the
cost of all roles together."""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from report.analysis.limits import not_the_targets_own
from report.analysis.rankings import Ranking
from report.analysis.row_pairs import runs_between
from report.analysis.summary import Summary

#: If a side had such a limit in at least this share of the pairs, the ratio is one of all roles
#: together.
_MIN_PAIR_SHARE = 0.5
#: A resource that limited a smaller share of the pairs is not named.
_MIN_NAMED_SHARE = 0.1


def shared_limits(new: Summary, base: Summary, paired: bool) -> tuple[str, ...]:
    """The resources that do not belong to the target and limited a side, the most common first.

    Empty if that happened in less than half of the pairs that enter the ratio of the two rows."""
    # Two rows without turns have a hundred pairs of runs, and most runs have no such limit.
    if not any(not_the_targets_own(run) for row in (new, base) for run in row.runs):
        return ()

    resources_by_pair = [
        {not_the_targets_own(run) for run in runs} - {""}
        for runs in runs_between(new, base, paired)
    ]
    pair_count = len(resources_by_pair)
    limited = [resources for resources in resources_by_pair if resources]
    if not pair_count or len(limited) < _MIN_PAIR_SHARE * pair_count:
        return ()

    counts = Counter(resource for resources in limited for resource in sorted(resources))
    return tuple(
        name for name, count in counts.most_common() if count >= _MIN_NAMED_SHARE * pair_count
    )


class SharedLimit(Struct, frozen=True):
    """The resources of a ranking that all roles shared, and that were used up."""

    resources: tuple[str, ...]
    rows: tuple[Summary, ...]
    """The rows whose ratio to the base is concerned."""
    of_all: bool
    """Whether every ratio of the ranking is concerned."""


def shared_limit(ranking: Ranking) -> SharedLimit | None:
    """The shared limit of a ranking. None if throughput is not compared, as in an open loop, and if
    parts of the targets were the limit in most pairs."""
    pairs = [pair for pair in ranking.pairs if pair.comparison.ratio is not None]
    resources_by_pair = [
        (pair, shared_limits(pair.new, pair.base, pair.comparison.pairs is not None))
        for pair in pairs
    ]
    limited = [(pair, resources) for pair, resources in resources_by_pair if resources]
    if not limited:
        return None

    counts = Counter(resource for _, resources in limited for resource in resources)
    rows = _distinct([pair.new for pair, _ in limited])
    return SharedLimit(
        tuple(name for name, _ in counts.most_common()), rows, len(limited) == len(pairs)
    )


def _distinct(rows: Sequence[Summary]) -> tuple[Summary, ...]:
    return tuple({row.id: row for row in rows}.values())
