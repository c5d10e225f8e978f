"""Rankings: the plan says which rows are ranked with which. Only those under one script for all are
split here, by the scripts that really ran.

Each row of a ranking is compared with its reference, which the plan names, by the rule of
`report.statistics.decision`. The comparisons by one figure are a family (rule M17). In campaigns
without references each row is compared with every other. Ranks and winners claim something of every
two rows, so that they need comparisons of all, a second family. They follow from differences that
were shown, never from medians alone."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations

from msgspec import Struct, structs

from report.analysis.figures import COSTS, Figure, consumer_cpu, p99, throughput
from report.analysis.summary import (
    Summary,
    algorithm_order,
    attributable,
    decider_order,
    sample_between,
)
from report.analysis.texts import NamedFacts
from report.results.model import SAME_SCRIPT, SEPARATIONS, script_sha1
from report.statistics.conclusions import conclusion_of
from report.statistics.decision import Comparison, Level, compare_samples
from report.statistics.power import fewest_for_a_claim
from report.statistics.ratio import ALPHA
from report.statistics.sequential import Family, compare_in_looks


class Group(Struct, frozen=True):
    store: str | None
    """None for an address whose store is not known."""
    external: bool
    """The store is one that the user already ran."""
    same_script: bool
    """True: one script for all. False: each client's own, whatever that is."""
    limiter: str | None = None
    """What stands for the algorithm where it is not on record; None where it is, and for an
    address."""
    scripts: tuple[str, ...] = ()
    """With `same_script`: sha1s, or names of functions, of what its rows really ran; empty if
    unknown."""
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
        """The store is known, and if all rows were to run one script, exactly one was recorded."""
        return self.store is not None and (not self.same_script or len(self.scripts) == 1)


def _group_of(row: Summary, scripts: tuple[str, ...]) -> Group:
    """What the rows of a ranking have in common, by one of them."""
    identity = row.identity
    ranking = row.ranking
    return Group(
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


def _by_script(rows: list[Summary]) -> list[tuple[Group, list[Summary]]]:
    """The rows of a planned ranking, where all were to run one script by the scripts that they ran.

    A row that never ran has no script on record: it stands with the largest group."""
    if SAME_SCRIPT not in rows[0].ranking.conditions:
        return [(_group_of(rows[0], ()), rows)]

    rows_of: dict[tuple[str, ...], list[Summary]] = {}
    unmeasured: list[Summary] = []
    for row in rows:
        if any(run.measured for run in row.runs):
            scripts = tuple(sorted({script.name_or_sha1 for script in row.scripts}))
            rows_of.setdefault(scripts, []).append(row)
        else:
            unmeasured.append(row)

    largest = max(rows_of, key=lambda scripts: len(rows_of[scripts]), default=())
    if unmeasured:
        rows_of.setdefault(largest, []).extend(unmeasured)
    return [(_group_of(members[0], scripts), members) for scripts, members in rows_of.items()]


def _conditions_order(conditions: Sequence[str]) -> tuple[int, ...]:
    """Sort key: rows without a condition first, then in the order of the options."""
    families: dict[str, list[bool]] = {}
    for separation in SEPARATIONS:
        is_met = any(separation.has(condition) for condition in conditions)
        families.setdefault(separation.what, []).append(is_met)
    return tuple(met.index(True) if any(met) else -1 for met in families.values())


def group_rows(rows: Sequence[Summary]) -> list[tuple[Group, list[Summary]]]:
    """The rows of one cell by what they are ranked with.

    In the order of what decides and of algorithms; then those on the store with most rows first,
    those without conditions, the largest, `same_script`."""
    planned: dict[str, list[Summary]] = {}
    on_store: dict[tuple[str | None, bool], int] = {}
    for row in rows:
        planned.setdefault(row.ranking.id, []).append(row)
        store_key = (row.identity.store, row.identity.external_store)
        on_store[store_key] = on_store.get(store_key, 0) + 1

    def order(entry: tuple[Group, list[Summary]]) -> tuple[object, ...]:
        group, members = entry
        store_key = (group.store, group.external)
        return (
            decider_order(group.decided_by),
            algorithm_order(group.algorithm),
            -on_store[store_key],
            group.store or "~",
            group.external,
            _conditions_order(group.conditions),
            -len(members),
            not group.same_script,
            group.limiter or "~",
            group.scripts,
            group.client,
        )

    groups: list[tuple[Group, list[Summary]]] = []
    for planned_rows in planned.values():
        groups.extend(_by_script(planned_rows))
    return sorted(groups, key=order)


class Pair(Struct, frozen=True):
    """Two rows of a ranking: the reference is the base, else the one that stands higher."""

    base: Summary
    new: Summary
    comparison: Comparison

    @property
    def better(self) -> Summary | None:
        return {"better": self.new, "worse": self.base}.get(self.comparison.status)

    @property
    def worse(self) -> Summary | None:
        better = self.better
        if better is None:
            return None
        return self.base if better is self.new else self.new

    def has(self, row: Summary) -> bool:
        return row in (self.base, self.new)

    def seen_from(self, base: Summary) -> "Pair":
        return self if base is self.base else Pair(self.new, self.base, self.comparison.inverted())


class Resolution(Struct, frozen=True):
    """What a campaign can tell apart: a reference against its copy, between which no client differs
    (M31)."""

    copy: Summary
    reference: Summary
    comparison: Comparison
    """Copy ÷ reference. It is no comparison of the ranking's family."""

    @property
    def told_apart(self) -> bool:
        return self.comparison.shown

    @property
    def share(self) -> float | None:
        """How far its interval extends from 1, as a share; None where it has none, infinite where
        the copy failed its load too often."""
        interval = self.comparison.interval
        if interval is None:
            return None
        return max(interval.high, 1 / interval.low if interval.low > 0 else math.inf) - 1


class Ranking(Struct, frozen=True):
    """Rows of one group by median throughput, of an open loop by p99, see `_failed_loads_last`.
    Rows without a run that counts are last."""

    group: Group
    summaries: tuple[Summary, ...]
    ranked_by: tuple[Pair, ...] = ()
    """Every compared row with the reference, without one each with each: the family of Holm's
    correction. By throughput; in an open loop, where that is what was offered (rule M4), by p99."""
    cpu_pairs: tuple[Pair, ...] = ()
    """The same by the CPU per request of what calls the limiter."""
    order: tuple[Pair, ...] = ()
    """Every row with every other: `ranked_by`, and what it does not have, corrected for all of
    these."""
    best: Mapping[str, str] = {}
    """The id of the row that was shown to be better than all others, by `throughput` and by the
    names of `COSTS`. Each figure is a family of comparisons. Empty below five runs of each."""
    family: Family | None = None
    """When its rows were done, in their order, where the campaign found out how many runs it
    needs."""
    decider_text: str = ""
    """What decides its rows, and by which algorithm: `decided by a module (GCRA)`; empty where all
    clients of the campaign share it."""
    reference: Summary | None = None
    """The row that the others were measured beside; None if the plan names none, or no run of it
    counts."""
    resolution: Resolution | None = None
    """What its copy shows by what the ranking is by; None without a copy."""

    @property
    def base(self) -> Summary:
        return self.reference or self.summaries[0]

    def versus_base(self, row: Summary, pairs: Sequence[Pair] | None = None) -> Comparison | None:
        """By what the ranking is by, or of these pairs; None for the base, and where nothing is
        compared."""
        for pair in self.ranked_by if pairs is None else pairs:
            if pair.base is self.base and pair.new is row:
                return pair.comparison
        return None

    def ratio_of(self, row: Summary) -> Comparison | None:
        """To the base by what the ranking is by, also of the copy of the reference."""
        resolution = self.resolution
        if resolution and resolution.copy.id == row.id:
            return resolution.comparison
        return self.versus_base(row)

    def conclusion_of(self, row: Summary) -> str:
        """What was shown of a row or of the copy of the reference: the word for its comparison,
        that of a winner too where it is the base. Else `reference`, `told apart` for a copy that
        the host told apart, and empty where nothing is compared."""
        resolution = self.resolution
        if resolution and resolution.copy.id == row.id:
            return "told apart" if resolution.told_apart else resolution.comparison.conclusion
        if self.reference is row and self.compared:
            return "reference"
        if self.winner is row:
            return conclusion_of("better", higher_is_better=not self.open_loop)
        comparison = self.versus_base(row)
        return comparison.conclusion if comparison else ""

    @property
    def limiters(self) -> tuple[str, ...]:
        return tuple(
            sorted({row.identity.limiter for row in self.summaries if row.identity.limiter})
        )

    @property
    def scripts(self) -> frozenset[tuple[str | None, str]]:
        """What its rows ran, whichever command carried it: sha1 (None for a function) and name."""
        scripts = (script for row in self.summaries for script in row.scripts)
        return frozenset((script_sha1(script), script.name_or_sha1) for script in scripts)

    @property
    def one_script(self) -> str | None:
        """The sha1 of the script that every row ran; None when they differ, or one is not on
        record."""
        sha1s = {sha1 for sha1, _ in self.scripts}
        known = all(row.scripts for row in self.summaries if row.has_figures)
        return next(iter(sha1s)) if known and len(sha1s) == 1 else None

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """By throughput."""
        return () if self.open_loop else self.ranked_by

    @property
    def open_loop(self) -> bool:
        return self.summaries[0].identity.open_loop

    @property
    def compared(self) -> tuple[Summary, ...]:
        """Empty where no two rows have a run that counts, the store is not known, or the one script
        for all is not on record."""
        rows = tuple(summary for summary in self.summaries if summary.selected)
        return rows if len(rows) > 1 and self.group.rankable else ()

    @property
    def winner(self) -> Summary | None:
        """The row that was shown to be better than every other one; none where its copy was told
        apart from the reference (rule M31)."""
        return None if self.resolution and self.resolution.told_apart else best_of(self.order)

    @property
    def few_runs(self) -> bool:
        """Too few for anything but an order of medians (rule M17)."""
        fewest = min((summary.counted_runs for summary in self.compared), default=0)
        return fewest < fewest_for_a_claim(self.base.by_turns)


def _sorted(summaries: Iterable[Summary], read: Callable[[Summary], float | None]) -> list[Summary]:
    """The least first, then rows that typically failed their load, rows without a run that counts
    last; ties by the share of failed loads, then by label."""

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
    """Highest median first."""
    return _sorted(summaries, lambda row: -(row.figure_of(throughput).value or 0))


def by_p99(summaries: Iterable[Summary]) -> list[Summary]:
    """Lowest median p99 first, one that is not identified by its upper bound."""
    return _sorted(summaries, lambda row: row.figure_of(p99).at_most)


def _failed_loads_last(rows: Sequence[Summary], pairs: Sequence[Pair]) -> list[Summary]:
    """The rows in their order, but each above those before it that failed their load in a larger
    share of their runs and were not shown to be better than it: at one speed, the row that fails
    stands below its copy that never does (rule M24)."""
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


def best_of(pairs: Sequence[Pair]) -> Summary | None:
    rows = {row.id: row for pair in pairs for row in (pair.base, pair.new)}
    """The row that was shown to be better in each of its pairs; None where there is none."""
    beaten = {row.id for pair in pairs for row in (pair.base, pair.new) if row is not pair.better}
    return next((row for row in rows.values() if row.id not in beaten), None)


def rank(
    summaries: Sequence[Summary],
    group: Group,
    named: NamedFacts | None = None,
    copies: Mapping[str, Resolution] | None = None,
) -> Ranking:
    """Compares the rows of a group, and ranks those whose place was shown."""
    ordered = by_p99(summaries) if summaries[0].identity.open_loop else by_throughput(summaries)
    rows = [summary for summary in ordered if summary.selected]
    reference = next((row for row in rows if row.reference), None)
    resolution = (copies or {}).get(reference.id) if reference else None
    text = named.text(summaries[0].identity) if named else ""
    ranking = Ranking(
        group, tuple(ordered), decider_text=text, reference=reference, resolution=resolution
    )
    if not ranking.compared:
        return ranking

    planned = _planned_rows(summaries, group)
    pairs, order, family = _ranked_by(rows, reference, planned)
    reordered = _failed_loads_last(rows, order)
    if reordered != rows:
        rows = reordered
        ordered = [*reordered, *(row for row in ordered if not row.selected)]
        pairs, order, family = _ranked_by(rows, reference, planned)

    told_apart = resolution is not None and resolution.told_apart
    return structs.replace(
        ranking,
        summaries=tuple(ordered),
        ranked_by=pairs,
        cpu_pairs=_family(rows, consumer_cpu, planned, reference),
        order=order,
        best={} if told_apart else _best_rows(rows, order, planned),
        family=family,
    )


def _planned_rows(summaries: Sequence[Summary], group: Group) -> int:
    """How many rows the plan compares, those without runs among them: the family and its reference.

    Which rows ran one script shows only afterwards: there the rows that did are all."""
    return len(summaries) if group.same_script else summaries[0].ranking.family + 1


def _ranked_by(
    rows: Sequence[Summary], reference: Summary | None, planned: int
) -> tuple[tuple[Pair, ...], tuple[Pair, ...], Family | None]:
    """The family by what the ranking is by, with what an order of all needs besides, and when the
    rows were done."""
    figure = p99 if rows[0].identity.open_loop else throughput
    family = None
    if figure is throughput and (schedule := rows[0].look_schedule):
        family = compare_in_looks(
            [row.side(throughput) for row in rows],
            schedule,
            rows[0].last_look,
            reference=None if reference is None else rows.index(reference),
            in_rounds=all(row.planned_rounds for row in rows),
            together=all(row.by_turns for row in rows),
        )
        pairs = _pairs([(rows[base], rows[new]) for base, new in family.pairs], family.comparisons)
    else:
        pairs = _family(rows, figure, planned, reference)

    if reference is None or len(rows) == 2:
        return pairs, pairs, family
    others = (pair for pair in _family(rows, figure, planned) if not pair.has(reference))
    return pairs, (*pairs, *others), family


def _best_rows(rows: Sequence[Summary], order: Sequence[Pair], planned: int) -> dict[str, str]:
    """See `Ranking.best`. A figure that some row lacks is left out, and in a closed loop CPU per
    request: at saturation it says the same as the throughput. In an open loop throughput is what
    was offered."""
    if min(row.counted_runs for row in rows) < fewest_for_a_claim(rows[0].by_turns):
        return {}
    open_loop = rows[0].identity.open_loop
    best_rows = {} if open_loop else {"throughput": best_of(order)}
    for name, figure in COSTS.items():
        follows = name == "cpu" and not open_loop
        if not follows and all(row.sample(figure) for row in rows):
            best_rows[name] = best_of(_family(rows, figure, planned))
    return {name: best.id for name, best in best_rows.items() if best}


def _family(
    rows: Sequence[Summary], figure: Figure, planned: int, reference: Summary | None = None
) -> tuple[Pair, ...]:
    """Every row with the reference, without one every row with every other; rows without the figure
    are left out. `planned`: all rows of the group, those without a run that counts too."""
    if reference is None:
        return compare_pairs(list(combinations(rows, 2)), figure, math.comb(planned, 2))
    return compare_pairs(
        [(reference, row) for row in rows if row is not reference], figure, planned - 1
    )


def compare_pairs(
    row_pairs: Sequence[tuple[Summary, Summary]], figure: Figure, planned: int | None = None
) -> tuple[Pair, ...]:
    """One family, base first in each pair; pairs without the figure are left out.

    Where a campaign looked at its runs several times and ended by what it saw, the looks share the
    5 %."""
    known = [pair for pair in row_pairs if all(row.sample(figure) for row in pair)]
    schedule = known[0][0].look_schedule if known else None
    share = ALPHA / len(schedule.looks) if schedule else ALPHA
    comparisons = compare_samples(
        [sample_between(new, base, figure) for base, new in known],
        higher_is_better=figure.higher_is_better,
        level=Level(
            interval=share, test=share, planned=len(row_pairs) if planned is None else planned
        ),
    )
    return _pairs(known, comparisons)


def _pairs(
    row_pairs: Sequence[tuple[Summary, Summary]], comparisons: Sequence[Comparison]
) -> tuple[Pair, ...]:
    return tuple(
        Pair(base, new, attributable(comparison, base, new))
        for (base, new), comparison in zip(row_pairs, comparisons, strict=True)
    )


def resolutions(rows: Iterable[Summary], figure: Figure | None = None) -> Mapping[str, Resolution]:
    """The resolutions by the id of the reference, without those that have no run that counts.

    The copies of a campaign are one family, so that `rows` are all rows of it. Without `figure`
    they are compared by what ranks them."""
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
        compared = compare_samples(
            [sample_between(copy, reference, read) for copy, reference in family],
            higher_is_better=read.higher_is_better,
            level=Level(test=ALPHA / looks),
        )
        for (copy, reference), comparison in zip(family, compared, strict=True):
            by_reference[reference.id] = Resolution(copy, reference, comparison)
    return by_reference
