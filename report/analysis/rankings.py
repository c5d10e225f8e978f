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
from report.analysis.level_changes import LevelChange, level_change
from report.analysis.row_order import algorithm_order, decider_order
from report.analysis.row_pairs import sample_between, systematic_between
from report.analysis.settled import Settling, Settlings
from report.analysis.summary import Summary, attributable
from report.analysis.texts import NamedProperties
from report.results.model import SAME_SCRIPT, SEPARATIONS, script_sha1
from report.statistics.conclusions import conclusion_of
from report.statistics.decision import DEFAULT_MARGIN, Comparison, Level, compare_samples
from report.statistics.power import fewest_for_a_claim
from report.statistics.ratio import ALPHA
from report.statistics.sequential import Family, compare_in_looks


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


class Pair(Struct, frozen=True):
    """Two rows of a ranking. The base is the reference, or without one the row that stands
    higher. One is better, and the other worse, if the difference exceeds the margin."""

    base: Summary
    new: Summary
    comparison: Comparison
    level_change: LevelChange | None = None
    """None unless they are compared by throughput, and one of them changed its level inside a
    window."""

    @property
    def better(self) -> Summary | None:
        return {"better": self.new, "worse": self.base}.get(self.comparison.status)

    @property
    def worse(self) -> Summary | None:
        better = self.better
        if better is None:
            return None
        return self.base if better is self.new else self.new

    @property
    def behind(self) -> Summary | None:
        """The row that was shown to be worse, by however little."""
        return {"better": self.base, "worse": self.new}.get(self.comparison.direction or "")

    def has(self, row: Summary) -> bool:
        return row in (self.base, self.new)

    def seen_from(self, base: Summary) -> "Pair":
        return self if base is self.base else Pair(self.new, self.base, self.comparison.inverted())


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


def failed_loads_last(rows: Sequence[Summary], pairs: Sequence[Pair]) -> list[Summary]:
    """Moves each row above the rows that failed their load in a larger share of their runs, unless
    those were shown to be better (rule M24).

    Of two rows that are equally fast, the one that fails its load then stands below."""
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
    """The row that was shown to be better in each of its pairs. None without such a row."""
    rows = {row.id: row for pair in pairs for row in (pair.base, pair.new)}
    beaten = {row.id for pair in pairs for row in (pair.base, pair.new) if row is not pair.better}
    return next((row for row in rows.values() if row.id not in beaten), None)


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
            _family(rows, consumer_cpu, planned, reference), consumer_cpu, ranking.settlings
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
        pairs = _pairs(compared, family.comparisons, throughput)
    else:
        pairs = _family(rows, figure, planned, reference)

    pairs = _standing(pairs, figure, settlings)
    if reference is None or len(rows) == 2:
        return pairs, pairs, family

    other_pairs = (pair for pair in _family(rows, figure, planned) if not pair.has(reference))
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


def _family(
    rows: Sequence[Summary], figure: Figure, planned: int, reference: Summary | None = None
) -> tuple[Pair, ...]:
    """Compares each row with the reference, or without one each row with every other one. Rows
    without the figure have no pair. `planned` is the number of all rows of the ranking, including
    those without a run that counts."""
    if reference is None:
        return compare_pairs(list(combinations(rows, 2)), figure, math.comb(planned, 2))
    return compare_pairs(
        [(reference, row) for row in rows if row is not reference], figure, planned - 1
    )


def compare_pairs(
    row_pairs: Sequence[tuple[Summary, Summary]],
    figure: Figure,
    planned: int | None = None,
    with_outlook: bool = True,
) -> tuple[Pair, ...]:
    """Compares pairs as one family, with the base first in each pair. Pairs without the figure are
    not compared.

    If a campaign looked at its runs several times and ended by what it saw, the looks share the
    5 %."""
    known = [pair for pair in row_pairs if all(row.sample(figure) for row in pair)]
    schedule = known[0][0].look_schedule if known else None
    share = ALPHA / len(schedule.looks) if schedule else ALPHA
    comparisons = compare_samples(
        [sample_between(new, base, figure) for base, new in known],
        known[0][0].margin if known else DEFAULT_MARGIN,
        higher_is_better=figure.higher_is_better,
        level=Level(
            interval=share, test=share, planned=len(row_pairs) if planned is None else planned
        ),
        with_outlook=with_outlook,
    )
    return _pairs(known, comparisons, figure)


def _pairs(
    row_pairs: Sequence[tuple[Summary, Summary]],
    comparisons: Sequence[Comparison],
    figure: Figure,
) -> tuple[Pair, ...]:
    return tuple(
        _pair(base, new, comparison, figure)
        for (base, new), comparison in zip(row_pairs, comparisons, strict=True)
    )


def _pair(base: Summary, new: Summary, comparison: Comparison, figure: Figure) -> Pair:
    change = level_change(comparison, base, new) if figure is throughput else None
    standing = change.standing(comparison) if change else comparison
    return Pair(base, new, attributable(standing, base, new), change)


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
