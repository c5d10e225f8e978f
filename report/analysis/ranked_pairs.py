"""The pairs of rows that a ranking compares."""

import math
from collections.abc import Sequence
from itertools import combinations

from msgspec import Struct

from report.analysis.figures import Figure, throughput
from report.analysis.level_changes import LevelChange, level_change
from report.analysis.row_pairs import sample_between
from report.analysis.summary import Summary, attributable
from report.statistics.comparison import DEFAULT_MARGIN, Comparison, Level
from report.statistics.decision import compare_samples
from report.statistics.ratio import ALPHA


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


def compare_members(
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
    return pairs_of(known, comparisons, figure)


def pairs_of(
    row_pairs: Sequence[tuple[Summary, Summary]],
    comparisons: Sequence[Comparison],
    figure: Figure,
) -> tuple[Pair, ...]:
    """The pairs of rows with their comparisons, which are in the same order."""
    return tuple(
        _pair(base, new, comparison, figure)
        for (base, new), comparison in zip(row_pairs, comparisons, strict=True)
    )


def _pair(base: Summary, new: Summary, comparison: Comparison, figure: Figure) -> Pair:
    change = level_change(comparison, base, new) if figure is throughput else None
    standing = change.standing(comparison) if change else comparison
    return Pair(base, new, attributable(standing, base, new), change)
