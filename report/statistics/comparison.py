"""What a comparison of two sides shows."""

import math
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, structs

from report.base.contract import CONSTANTS
from report.statistics import power
from report.statistics.conclusions import Status, bounds_text, conclusion_of
from report.statistics.ratio import ALPHA, RatioInterval
from report.statistics.systematic_error import NONE_APPLIES, SystematicError

#: The margin if a reader names none. `src/contract/statistics.ts` gives the reasons.
DEFAULT_MARGIN: float = CONSTANTS["margin_share"]


#: The statuses of a comparison whose sides are exchanged.
_INVERSES: Mapping[Status, Status] = {
    "better": "worse",
    "worse": "better",
    "slightly better": "slightly worse",
    "slightly worse": "slightly better",
    "better, size open": "worse, size open",
    "worse, size open": "better, size open",
}


class Level(Struct, frozen=True, kw_only=True):
    """How often a claim may be wrong, as shares. The defaults are for one look at the runs."""

    interval: float = ALPHA
    """The share that the interval of the ratio leaves out, on both sides together."""
    test: float = ALPHA
    """The level of the whole family, by Holm's correction."""
    family: int = 0
    """The number of comparisons to correct for, if the family has more than are tested now."""
    equal_family: int = 0
    """The number of comparisons to correct claims of no difference for."""
    planned: int = 0
    """The number of planned comparisons, including those without runs. It decides only whether runs
    are paired."""


ONE_LOOK = Level()


class Comparison(Struct, frozen=True, kw_only=True):
    """The comparison of two sides of runs. All ratios are new ÷ base."""

    status: Status
    """The direction in which the new side differs from the base. Readers see `conclusion`."""
    higher_is_better: bool
    reason: str
    """The reason for which it, or its size, is not decided, as text. Empty if both are."""
    too_few_runs: bool = False
    """Whether there are fewer runs than any decision needs."""
    margin: float
    """The largest difference, as a share on either side, that does not matter to the reader."""
    new_runs: int
    base_runs: int
    pairs: int | None = None
    """The number of pairs of runs that are compared. None if runs are not paired."""
    dropped: int = 0
    """The number of runs that do not count because their partner is missing."""
    ratio: float | None = None
    """The Hodges-Lehmann estimate, either of pairs or over all ratios of a run to a run.

    None below two runs per side, because a quotient is no estimate, and if the typical run of a
    side has the worst rank."""
    stopped_at: float | None = None
    """The plain estimate of runs that were stopped by what they showed. `ratio` is then
    corrected."""
    interval: RatioInterval | None = None
    p: float | None = None
    """The two-sided p of the exact signed-rank or Mann-Whitney test. None below six pairs, or five
    runs per side."""
    p_holm: float | None = None
    comparisons: int = 1
    """The number of comparisons in the correction."""
    runs_needed: int | None = None
    """The runs per side that would decide it in 80 % of cases if the ratio is the true one. None if
    that is not known, or more than 1000."""
    blocked: bool = False
    """Whether something other than the number of runs keeps it from being decided, see `reason`."""
    worst_ranks: int = 0
    """The number of runs on both sides with the worst rank. With any, the number of runs that would
    decide is not known."""
    detectable: float | None = None
    """The smallest true difference, as a share, that these runs find in 80 % of cases."""
    systematic: SystematicError = NONE_APPLIES
    """What shifts all rounds alike (rule M34). The interval is widened by it at both ends."""

    @property
    def conclusion(self) -> str:
        """The word for the status of the new side."""
        return conclusion_of(self.status, higher_is_better=self.higher_is_better)

    @property
    def statement(self) -> str:
        """The conclusion with what the interval bounds: `faster, size open, at least 2 %`.

        It is the conclusion alone without an interval, and if the runs may not be compared."""
        interval = self.known_interval
        if interval is None or self.blocked or self.status == "not comparable":
            return self.conclusion
        bounds = bounds_text(
            self.status,
            interval,
            margin=self.margin,
            higher_is_better=self.higher_is_better,
        )
        return ", ".join(filter(None, (self.conclusion, bounds)))

    @property
    def per_side(self) -> int:
        return min(self.new_runs, self.base_runs) if self.pairs is None else self.pairs

    @property
    def known_interval(self) -> RatioInterval | None:
        """The interval, unless it consists of worst ranks alone. Its end is infinite without an
        upper bound."""
        interval = self.interval
        if interval is None or not math.isfinite(interval.low) or interval.high <= 0:
            return None
        return interval

    @property
    def cannot_be_equal(self) -> bool:
        """Whether no number of runs would decide it if the ratio is the true one, because equality
        is not concluded without the systematic error (rule M34)."""
        if self.ratio is None or not self.systematic.unmeasured or self.concluded:
            return False
        return abs(math.log(self.ratio)) < math.log1p(self.margin)

    @property
    def decided(self) -> bool:
        """Whether it is known on which side of the margin the ratio lies."""
        return self.status in ("better", "worse", "no difference")

    @property
    def concluded(self) -> bool:
        """Whether more runs could only say the same more precisely."""
        return self.decided or self.status.startswith("slightly")

    @property
    def direction(self) -> Literal["better", "worse"] | None:
        """The direction in which the new side was shown to differ, by however little. None if none
        was shown."""
        if "better" in self.status:
            return "better"
        return "worse" if "worse" in self.status else None

    @property
    def runs_to_decide(self) -> int | None:
        """The runs per side that would decide it, where it is known. Runs too few for an estimate
        need at least those that can decide anything."""
        if self.runs_needed is None and self.too_few_runs:
            return power.fewest_to_decide(self.pairs is not None, self.comparisons)
        return self.runs_needed

    @property
    def is_open(self) -> bool:
        """Whether it is not decided although there are enough runs for a decision."""
        return self.status == "not decided" and not self.too_few_runs

    @property
    def direction_word(self) -> str:
        """The word for the direction, such as `faster`. Empty if none was shown."""
        if self.direction is None:
            return ""
        return conclusion_of(self.direction, higher_is_better=self.higher_is_better)

    @property
    def size_is_open(self) -> bool:
        """Whether a direction was shown, and not whether the difference exceeds the margin."""
        return self.status.endswith("size open")

    @property
    def shown(self) -> bool:
        """Whether a difference beyond the margin was shown."""
        return self.status in ("better", "worse")

    def inverted(self) -> "Comparison":
        """The same comparison with the sides exchanged."""
        interval = self.interval
        return structs.replace(
            self,
            status=_INVERSES.get(self.status, self.status),
            new_runs=self.base_runs,
            base_runs=self.new_runs,
            ratio=None if self.ratio is None else 1 / self.ratio,
            stopped_at=None if self.stopped_at is None else 1 / self.stopped_at,
            interval=interval
            and RatioInterval(_inverse(interval.high), _inverse(interval.low), interval.coverage),
        )

    def undecided_by(self, reason: str) -> "Comparison":
        """The same figures without a conclusion, for a reason that more runs would not change."""
        if self.too_few_runs or self.status == "not comparable":
            return self
        return structs.replace(
            self, status="not decided", reason=reason, blocked=True, runs_needed=None
        )


def _inverse(ratio: float) -> float:
    return math.inf if ratio == 0 else 1 / ratio
