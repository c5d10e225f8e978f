"""Says where the compared runs end if `--runs auto` chose their number by what they showed, and how
far that moved a ratio."""

import math

from msgspec import Struct

from report.analysis.summary import Summary
from report.compare.comparability import Rows
from report.compare.selection import Selection
from report.statistics.ratio import ALPHA


class Stopped(Struct, frozen=True):
    """The round after which `--runs auto` ended the runs of two sides, because of what they showed
    (rule M29)."""

    rounds: int | None
    """Runs of later rounds are left out. None stands for a comparison of all runs."""
    share: float
    """The share of the level of 5 % that may be spent at this look, or at these two looks."""

    @property
    def note(self) -> str:
        compared_runs = (
            f"the runs of the first {self.rounds} rounds are" if self.rounds else "all runs are"
        )
        return (
            "--runs auto chose the number of runs by their figures: "
            f"{compared_runs} compared, at a level of {100 * ALPHA * self.share:.2g} % "
            f"instead of {100 * ALPHA:g} %"
        )


def stop_of(rows: Rows) -> Stopped | None:
    """Where the compared runs end. None if both sides have a fixed number of runs.

    Two sides with the same looks are compared at the earlier look of the two at which they ended.
    That is one of these looks whatever the runs show, and together the looks spend 5 %. Sides with
    different looks are compared with all their runs, at the product of their shares, which sums to
    5 % over all pairs of looks."""
    schedules = [(row, row.look_schedule) for row in rows if row.look_schedule]
    if not schedules:
        return None
    if len({schedule.looks for _, schedule in schedules}) == 1 and len(schedules) == 2:
        rounds = min(row.last_round for row in rows)
        return Stopped(rounds, min(schedule.share_at(rounds) for _, schedule in schedules) / ALPHA)
    shares = (schedule.share_at(row.last_round) / ALPHA for row, schedule in schedules)
    return Stopped(None, math.prod(shares))


def level_shift(row: Summary, reference: Summary, side: Selection) -> float:
    """By how much the logarithm of a row's ratio to its reference is too high, because of the
    moment at which the row was stopped. The report corrects its estimate by this much. The shift is
    0 without such a correction."""
    for pair in (pair for ranking in side.rankings for pair in ranking.pairs):
        comparison = pair.comparison
        is_of_both = {pair.base.id, pair.new.id} == {row.id, reference.id}
        if is_of_both and comparison.ratio and comparison.stopped_at:
            shift = math.log(comparison.stopped_at / comparison.ratio)
            return shift if pair.new.id == row.id else -shift
    return 0.0
