"""Comparisons of campaigns that chose their number of runs (`--runs auto`), by their looks (rule M29)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from report.analysis.cells import cells
from report.analysis.rankings import Ranking
from report.analysis.summary import Summary
from report.statistics.decision import Comparison
from report.statistics.ratio import ALPHA


@dataclass(frozen=True, slots=True)
class Stopped:
    """Where the runs of two sides ended by what they showed."""

    rounds: int | None
    """Runs of later rounds are left out; None: all are compared."""
    share: float
    """Of 5 %, what may be spent at this look, or at these two."""

    @property
    def note(self) -> str:
        where = f"the runs of the first {self.rounds} rounds are" if self.rounds else "all runs are"
        return (
            "--runs auto chose the number of runs by their figures: "
            f"{where} compared, at a level of {100 * ALPHA * self.share:.2g} % instead of {100 * ALPHA:g} %"
        )


def stopped(one: Summary, other: Summary) -> Stopped | None:
    """None where both have a fixed number of runs.

    Two sides with the same looks are compared at the earlier one of those that they ended at, which is one of
    these looks whatever the runs show: together the looks spend 5 %. Sides with different looks are compared
    with all their runs, at the product of their shares: over all pairs of looks these add up to 5 %."""
    schedules = [(row, row.look_schedule) for row in (one, other) if row.look_schedule]
    if not schedules:
        return None
    if len({schedule.looks for _, schedule in schedules}) == 1 and len(schedules) == 2:
        rounds = min(one.last_round, other.last_round)
        return Stopped(rounds, min(schedule.share_at(rounds) for _, schedule in schedules) / ALPHA)
    shares = (schedule.share_at(row.last_round) / ALPHA for row, schedule in schedules)
    return Stopped(None, math.prod(shares))


def rankings_of(summaries: Sequence[Summary]) -> list[Ranking]:
    layers = dict.fromkeys(row.identity.layer for row in summaries)
    return [
        ranking
        for layer in layers
        for cell in cells([row for row in summaries if row.identity.layer == layer], summaries)
        for ranking in cell.rankings
    ]


def level_shift(row: Summary, reference: Summary, rankings: Sequence[Ranking]) -> float:
    """By how much the logarithm of a row's ratio to its reference is too high because of the moment at which
    it was stopped: the report's estimate knows of that. 0 where nothing did."""
    for pair in (pair for ranking in rankings for pair in ranking.pairs):
        found = pair.comparison
        of_both = {pair.base.id, pair.new.id} == {row.id, reference.id}
        if of_both and found.ratio and found.stopped_at:
            shift = math.log(found.stopped_at / found.ratio)
            return shift if pair.new.id == row.id else -shift
    return 0.0


def shifted(found: Comparison, shift: float) -> Comparison:
    """With the ratio corrected for the shifts of its two sides, within the interval."""
    if found.ratio is None or found.interval is None or shift == 0:
        return found
    ratio = min(max(found.ratio * math.exp(-shift), found.interval.low), found.interval.high)
    return replace(found, ratio=ratio, stopped_at=found.ratio)
