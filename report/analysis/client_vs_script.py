"""What the script costs: a client under its own script beside the same client under the one for all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from report.analysis.figures import Figure, consumer_cpu, store_cpu, throughput
from report.analysis.foreign_cpu import attributable
from report.analysis.rankings import by_throughput
from report.analysis.summary import Summary, sample_between
from report.statistics.decision import Comparison, compare_samples

#: What is compared. The first figure is better when higher, the others when lower.
COMPARED: tuple[Figure, ...] = (throughput, consumer_cpu, store_cpu)

_Rows = tuple[Summary | None, Summary | None]


@dataclass(frozen=True, slots=True)
class Variant:
    name: str
    own: Summary | None
    """Under its own script."""
    same: Summary | None
    """Under the one script for all."""
    comparisons: tuple[Comparison, ...]
    """Same ÷ own of each figure of `COMPARED`; empty unless both rows are there."""


@dataclass(frozen=True, slots=True)
class StoreVariants:
    store: str
    variants: tuple[Variant, ...]


def client_vs_script(summaries: Sequence[Summary]) -> tuple[StoreVariants, ...]:
    """The stores on which some client has rows with and without `same-script`.

    Clients with one of the two stand there too, without comparisons."""
    stores: dict[str, dict[str, list[Summary | None]]] = {}
    for summary in summaries:
        identity = summary.identity
        if identity.store is not None:
            rows = stores.setdefault(identity.store_text, {}).setdefault(identity.variant, [None, None])
            rows[identity.same_script] = summary
    found = []
    for store, variants in stores.items():
        pairs: dict[str, _Rows] = {name: (own, same) for name, (own, same) in variants.items()}
        if any(own and same for own, same in pairs.values()):
            comparisons = _comparisons(pairs)
            ordered = tuple(
                Variant(name, *pairs[name], tuple(comparisons.get(name, ()))) for name in _ordered(pairs)
            )
            found.append(StoreVariants(store, ordered))
    return tuple(found)


def _comparisons(pairs: Mapping[str, _Rows]) -> dict[str, list[Comparison]]:
    both = {name: (own, same) for name, (own, same) in pairs.items() if own and same}
    found: dict[str, list[Comparison]] = {name: [] for name in both}
    for figure in COMPARED:
        family = compare_samples(
            [sample_between(same, own, figure) for own, same in both.values()],
            higher_is_better=figure.higher_is_better,
        )
        for (name, (own, same)), comparison in zip(both.items(), family, strict=True):
            found[name].append(attributable(comparison, own, same))
    return found


def _ordered(pairs: Mapping[str, _Rows]) -> list[str]:
    rows = [by_throughput(row for row in side if row) for side in zip(*pairs.values(), strict=True)]
    place = {row.id: number for number, row in enumerate([*rows[1], *rows[0]])}
    return sorted(pairs, key=lambda name: min(place[row.id] for row in pairs[name] if row))
