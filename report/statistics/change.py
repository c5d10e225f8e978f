"""Tells whether a ratio is the same in two parts of the same rounds (rule M33).

A pair holds, for two targets of one round, the figure in the earlier part divided by that in the
later one. What differs between the two is how the ratio of the targets changed."""

import math
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Literal

from msgspec import Struct

from report.base.contract import CONSTANTS
from report.statistics.rank_test import holm, student_p, student_quantile
from report.statistics.ratio import ALPHA

Settled = Literal["settled", "not settled", "not checked"]

#: A change counts as none if it is certain to be smaller.
BOUND: float = CONSTANTS["settled_share"]

#: Two one-sided tests at 5 % are an interval of 90 % (D. J. Schuirmann, 1987).
_ALPHA = 2 * ALPHA

#: Two rounds have one degree of freedom, and say nothing.
_FEWEST_PAIRS = 3


class Change(Struct, frozen=True):
    """How a ratio changed from the earlier part to the later one."""

    low: float
    """The ratio in the earlier part divided by that in the later one. `low` and `high` are the ends
    of its interval of 90 %."""
    high: float
    p: float
    """The two-sided p of no change."""

    @property
    def at_most(self) -> float:
        """The largest change in the interval, as a share."""
        return max(self.high, 1 / self.low if self.low > 0 else math.inf) - 1


def change_of(pairs: Sequence[tuple[float, float]]) -> Change | None:
    """The change of the ratio new ÷ base, from pairs of earlier ÷ later, one for each round. None
    below three rounds.

    The interval and p are those of Student's t for the logarithms, which assumes that these are
    normal. Unlike exact rank tests it can reject from few rounds after Holm's correction. The rate
    of false alarms with other shapes is in docs/rules.md. A round in which a side failed its load
    does not count."""
    logs = [
        math.log(new / base) for new, base in pairs if 0 < new < math.inf and 0 < base < math.inf
    ]
    if len(logs) < _FEWEST_PAIRS:
        return None

    mean = fmean(logs)
    error = stdev(logs) / math.sqrt(len(logs))
    freedom = len(logs) - 1
    half_width = student_quantile(freedom, 1 - _ALPHA / 2) * error
    return Change(
        low=math.exp(mean - half_width),
        high=math.exp(mean + half_width),
        p=student_p(freedom, mean, error),
    )


def judged(changes: Sequence[Change | None]) -> list[Settled]:
    """Judges all changes of a campaign as one family of Holm's correction.

    A ratio is settled if the interval of its change lies within ± `BOUND`. It is not settled if it
    changed by more than chance explains. Anything else cannot be told by these rounds."""
    p_holm = iter(holm([change.p for change in changes if change]))
    return [_judged(change, next(p_holm)) if change else "not checked" for change in changes]


def _judged(change: Change, p_holm: float) -> Settled:
    if change.at_most <= BOUND:
        return "settled"
    return "not settled" if p_holm <= ALPHA else "not checked"
