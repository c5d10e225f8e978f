"""Where the limit of compared runs was not the target's own: then throughput is the cost of all
roles."""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from report.analysis.limits import not_the_targets_own
from report.analysis.rankings import Ranking
from report.analysis.summary import Summary, runs_between

#: From this share of the pairs on, in which a side had such a limit, the ratio is one of all roles
#: together.
_LEAST_PAIRS = 0.5
#: A resource that limited a smaller share of the pairs is not named.
_LEAST_NAMED = 0.1


def shared_limits(new: Summary, base: Summary, paired: bool) -> tuple[str, ...]:
    """The resources that are not the target's own and limited a side in at least half of the pairs
    that enter the ratio of two rows, the commonest first; empty below half of the pairs."""
    pairs = [
        {not_the_targets_own(run) for run in runs} - {""}
        for runs in runs_between(new, base, paired)
    ]
    limited = [resources for resources in pairs if resources]
    if not pairs or len(limited) < _LEAST_PAIRS * len(pairs):
        return ()
    counts = Counter(resource for resources in limited for resource in sorted(resources))
    return tuple(
        name for name, number in counts.most_common() if number >= _LEAST_NAMED * len(pairs)
    )


class SharedLimit(Struct, frozen=True):
    """Of a ranking: what all roles shared that was used up."""

    resources: tuple[str, ...]
    rows: tuple[Summary, ...]
    """Whose ratio to the base it is about."""
    of_all: bool
    """That is every ratio of the ranking."""


def shared_limit(ranking: Ranking) -> SharedLimit | None:
    """None where throughput is not compared, as in an open loop, and where the targets' own parts
    were the limit in most pairs."""
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
