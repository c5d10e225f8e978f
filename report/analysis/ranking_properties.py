"""Which rows are ranked together, and what they have in common."""

from collections.abc import Sequence

from msgspec import Struct

from report.analysis.row_order import algorithm_order, decider_order
from report.analysis.summary import Summary
from report.results.catalog import SAME_SCRIPT, SEPARATIONS


class RankingProperties(Struct, frozen=True):
    """What the rows of a ranking have in common."""

    store: str | None
    """The store, or None for an address whose store is not known."""
    external: bool
    """Whether the store is an external store."""
    same_script: bool
    """Whether all clients ran one script, instead of the script that comes with each."""
    limiter: str | None = None
    """The limiter, if the algorithm is not on record. None if it is, and for an address."""
    scripts: tuple[str, ...] = ()
    """With `same_script`, the sha1s or names of functions of what its rows really ran. Empty if
    they are not known."""
    decided_by: str | None = None
    algorithm: str | None = None
    conditions: tuple[str, ...] = ()
    """`PlannedRanking.conditions` without `same_script`."""
    client: str = ""
    """`PlannedRanking.client`."""
    varies: tuple[str, ...] = ()
    """`PlannedRanking.varies`."""

    @property
    def rankable(self) -> bool:
        """Whether the store is known and, if all rows had to run one script, exactly one is on
        record."""
        return self.store is not None and (not self.same_script or len(self.scripts) == 1)


def _properties_of(row: Summary, scripts: tuple[str, ...]) -> RankingProperties:
    """The properties of a ranking, by one of its rows."""
    identity = row.identity
    ranking = row.ranking
    return RankingProperties(
        store=identity.store,
        external=identity.external_store,
        same_script=SAME_SCRIPT in ranking.conditions,
        limiter=identity.limiter if identity.algorithm is None else None,
        scripts=scripts,
        decided_by=identity.decided_by,
        algorithm=identity.algorithm,
        conditions=tuple(option for option in ranking.conditions if option != SAME_SCRIPT),
        client=ranking.client,
        varies=ranking.varies,
    )


def _by_script(rows: list[Summary]) -> list[tuple[RankingProperties, list[Summary]]]:
    """The rankings of the rows of a planned ranking. If these had to run one script, there is one
    for each set of scripts that they really ran.

    A row that never ran has no script on record, and belongs to the largest ranking."""
    if SAME_SCRIPT not in rows[0].ranking.conditions:
        return [(_properties_of(rows[0], ()), rows)]

    rows_by_scripts: dict[tuple[str, ...], list[Summary]] = {}
    unmeasured: list[Summary] = []
    for row in rows:
        if any(run.measured for run in row.runs):
            scripts = tuple(sorted({script.name_or_sha1 for script in row.scripts}))
            rows_by_scripts.setdefault(scripts, []).append(row)
        else:
            unmeasured.append(row)

    largest = max(rows_by_scripts, key=lambda scripts: len(rows_by_scripts[scripts]), default=())
    if unmeasured:
        rows_by_scripts.setdefault(largest, []).extend(unmeasured)
    return [
        (_properties_of(members[0], scripts), members)
        for scripts, members in rows_by_scripts.items()
    ]


def _conditions_order(conditions: Sequence[str]) -> tuple[int, ...]:
    """A sort key that puts rows without a condition first, then follows the order of the
    options."""
    families: dict[str, list[bool]] = {}
    for separation in SEPARATIONS:
        is_met = any(separation.has(condition) for condition in conditions)
        families.setdefault(separation.what, []).append(is_met)
    return tuple(met.index(True) if any(met) else -1 for met in families.values())


def rows_by_ranking(rows: Sequence[Summary]) -> list[tuple[RankingProperties, list[Summary]]]:
    """The rows of one cell by their ranking.

    The rankings are sorted by decider and algorithm. Those on the store with the most rows are
    first among equals, then those without conditions, the largest ones, and those of one script."""
    rows_by_id: dict[str, list[Summary]] = {}
    store_counts: dict[tuple[str | None, bool], int] = {}
    for row in rows:
        rows_by_id.setdefault(row.ranking.id, []).append(row)
        store_key = (row.identity.store, row.identity.external_store)
        store_counts[store_key] = store_counts.get(store_key, 0) + 1

    def order(entry: tuple[RankingProperties, list[Summary]]) -> tuple[object, ...]:
        properties, members = entry
        store_key = (properties.store, properties.external)
        return (
            decider_order(properties.decided_by),
            algorithm_order(properties.algorithm),
            -store_counts[store_key],
            properties.store or "~",
            properties.external,
            _conditions_order(properties.conditions),
            -len(members),
            not properties.same_script,
            properties.limiter or "~",
            properties.scripts,
            properties.client,
        )

    rankings: list[tuple[RankingProperties, list[Summary]]] = []
    for ranked_rows in rows_by_id.values():
        rankings.extend(_by_script(ranked_rows))
    return sorted(rankings, key=order)
