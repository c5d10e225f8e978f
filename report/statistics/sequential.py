"""Looks at runs more than once. It says when a side has enough runs, and what they then show.

Who looks after every round finds, sooner or later, a difference where there is none. So the looks
are few and fixed before the first run, and they share the 5 % of one look (Bonferroni, which K. K.
G. Lan and D. L. DeMets, 1983, call spending). docs/decisions/0015-adaptive-runs.md gives reasons
and costs."""

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from statistics import NormalDist
from typing import Literal

from msgspec import Struct, structs

from report.base.contract import CONSTANTS
from report.statistics.comparison import DEFAULT_MARGIN, Comparison, Level
from report.statistics.decision import compare_samples
from report.statistics.median_unbiased import corrected_for_looks
from report.statistics.power import MIN_RUNS_FOR_A_CLAIM, freedom, sample_deviation, standard_error
from report.statistics.rank_test import student_quantile
from report.statistics.ratio import ALPHA, ratio_of, ratio_of_pairs
from report.statistics.run_samples import MIN_FIGURES, median_interval
from report.statistics.samples import Sample, Side, sample_of, upto
from report.statistics.systematic_error import NONE_APPLIES, SystematicError

#: The shares that the first look spends, and the last of three or more looks. By turns the plan has
#: the first look after the round in which pairs can decide its family at that share.
_FIRST_SHARE: float = CONSTANTS["look_shares"]["first"]
_LAST_SHARE: float = CONSTANTS["look_shares"]["last"]

#: A pair gets no more runs if the remaining looks would decide it with a lower probability.
HOPELESS = 0.15
#: With fewer runs per side no pair is given up.
_RUNS_TO_GIVE_UP = 7


#: The indices of the base side and of the new one.
_PairOfSides = tuple[int, int]

SystematicOf = Callable[[int, int], SystematicError]
"""The systematic error of a pair, by the indices of the base side and of the new one."""


def _none_applies(_base: int, _new: int) -> SystematicError:
    return NONE_APPLIES


Stop = Literal["decided", "tight", "hopeless", "none counts", "last"]


class LookSchedule(Struct, frozen=True, kw_only=True):
    """When a campaign looks at its runs."""

    looks: tuple[int, ...]
    """The rounds after which it looks, in ascending order."""
    ended: int | None = None
    """The round after which the campaign ended before its last look. None if it did not."""

    @property
    def levels(self) -> tuple[tuple[int, float], ...]:
        """Each look with its share of the 5 %. A look that became the last one has the share of the
        last one."""
        shares = list(zip(self.looks, _shares(len(self.looks)), strict=True))
        if self.ended is None or self.ended >= self.looks[-1]:
            return tuple(shares)
        return (
            *((look, share) for look, share in shares if look < self.ended),
            (self.ended, shares[-1][1]),
        )

    def share_at(self, rounds: int) -> float:
        """The share of the look after which a side got no more runs. Between two looks it is that
        of the later one."""
        return next((share for look, share in self.levels if look >= rounds), self.levels[-1][1])


def _shares(count: int) -> list[float]:
    if count == 1:
        return [ALPHA]
    if count == 2:
        return [_FIRST_SHARE, ALPHA - _FIRST_SHARE]
    return [
        _FIRST_SHARE,
        *[(ALPHA - _FIRST_SHARE - _LAST_SHARE) / (count - 2)] * (count - 2),
        _LAST_SHARE,
    ]


def level_at(share: float, family: int = 0, equal_family: int = 0, planned: int = 0) -> Level:
    """The level of a look that may spend `share`. The interval leaves out the share on each side,
    and at most 5 % together."""
    interval = min(2 * share, ALPHA)
    return Level(
        interval=interval, test=share, family=family, equal_family=equal_family, planned=planned
    )


class Family(Struct, frozen=True, kw_only=True):
    """The sides of one ranking after the looks that took place."""

    pairs: tuple[tuple[int, int], ...]
    """The indices of base and new of each comparison."""
    comparisons: tuple[Comparison, ...]
    """The comparisons in the order of `pairs`."""
    settled: tuple[int | None, ...]
    """The look at which each comparison was concluded. None if it, or its size, is open."""
    stops: tuple[tuple[int, Stop] | None, ...]
    """The look after which each side got no more runs, and why. None if it continues."""


def compare_in_looks(
    sides: Sequence[Side],
    schedule: LookSchedule,
    rounds: int,
    margin: float = DEFAULT_MARGIN,
    higher_is_better: bool = True,
    *,
    reference: int | None = None,
    in_rounds: bool = False,
    together: bool = False,
    systematic: SystematicOf = _none_applies,
) -> Family:
    """What this number of rounds shows of the sides of one ranking. Equal arguments give equal
    results.

    At each look every open pair is compared by the rule of `compare_samples` at the share α that
    the look has of the 5 %. Holm's correction of the family holds α, and the interval leaves out α
    on each side, and never more than 5 %. What is decided stays decided. A side is done if each of
    its pairs is decided, or cannot be expected to be.

    At each look, Holm's correction for the comparisons that no look has told apart calls two equal
    sides different with a probability of at most α. So all looks together do it in at most 5 %,
    whatever was stopped in between. In the same way, some side that differs by the margin gets
    `no difference` in at most 5 %. The round of a look alone decides whether it goes by pairs.

    Args:
        sides: two or more sides.
        rounds: the last round that took place. Runs of later looks are not used.
        reference: the index of the side with which the others are compared. None compares each side
            with each.
        in_rounds: whether sides were measured next to each other, so that they may be paired.
        together: whether sides were measured at the same time, by turns, so that they are compared
            only by pairs.
        systematic: gives the systematic error of a pair by the indices of base and new."""
    looks = _Looks(
        sides,
        schedule,
        margin=margin,
        higher_is_better=higher_is_better,
        reference=reference,
        in_rounds=in_rounds,
        together=together,
        systematic=systematic,
    )
    for look, share in schedule.levels:
        running = looks.running()
        if look > rounds or not running:
            break
        looks.look_at(running, look, share)
    return looks.family()


class _Looks:
    """The state of the looks at one ranking."""

    def __init__(
        self,
        sides: Sequence[Side],
        schedule: LookSchedule,
        *,
        margin: float,
        higher_is_better: bool,
        reference: int | None,
        in_rounds: bool,
        together: bool,
        systematic: SystematicOf,
    ) -> None:
        indices = range(len(sides))
        self._sides = sides
        self._schedule = schedule
        self._margin = margin
        self._higher_is_better = higher_is_better
        self._has_reference = reference is not None
        self._in_rounds = in_rounds
        self._together = together
        self._systematic = systematic

        self._pairs: list[_PairOfSides] = (
            list(combinations(indices, 2))
            if reference is None
            else [(reference, index) for index in indices if index != reference]
        )
        self._comparisons: dict[_PairOfSides, Comparison] = {}
        self._looked: dict[_PairOfSides, int] = {}
        self._settled: dict[_PairOfSides, int] = {}
        self._stops: dict[int, tuple[int, Stop]] = {}

    def running(self) -> list[_PairOfSides]:
        """The pairs that are not decided and whose sides still get runs."""
        stopped = self._stops.keys()
        return [
            pair for pair in self._pairs if pair not in self._settled and not stopped & set(pair)
        ]

    def look_at(self, running: Sequence[_PairOfSides], look: int, share: float) -> None:
        """Compares the running pairs by the runs up to a look, and stops the sides that are
        done."""
        samples = [self._sample(pair, look) for pair in running]
        comparisons = compare_samples(
            samples, self._margin, self._higher_is_better, self._level_now(share)
        )
        self._comparisons |= dict(zip(running, comparisons, strict=True))
        self._looked |= dict.fromkeys(running, look)
        self._settled |= {pair: look for pair in running if self._comparisons[pair].concluded}

        hopeless = self._hopeless(running, samples, look)
        for index in range(len(self._sides)):
            if index not in self._stops:
                open_pairs = [
                    pair for pair in running if index in pair and pair not in self._settled
                ]
                self._stop_if_done(index, look, open_pairs, hopeless)

    def family(self) -> Family:
        return Family(
            pairs=tuple(self._pairs),
            comparisons=tuple(map(self._final, self._pairs)),
            settled=tuple(self._settled.get(pair) for pair in self._pairs),
            stops=tuple(self._stops.get(index) for index in range(len(self._sides))),
        )

    def _sample(self, pair: _PairOfSides, look: int) -> Sample:
        base, new = (upto(self._sides[index], look) for index in pair)
        rounds = look if self._in_rounds or self._together else 0
        by_group = self._together or self._has_reference
        return sample_of(
            new,
            base,
            rounds,
            by_group,
            together=self._together,
            systematic=self._systematic(*pair),
        )

    def _level_now(self, share: float) -> Level:
        """The level of a look, in whose family the pairs that earlier looks decided do not
        count."""
        concluded = [
            comparison for comparison in self._comparisons.values() if comparison.concluded
        ]
        different = sum(comparison.direction is not None for comparison in concluded)
        equal = len(concluded) - different
        count = len(self._pairs)
        return level_at(share, count - different, count - equal, count)

    def _hopeless(
        self, running: Sequence[_PairOfSides], samples: Sequence[Sample], look: int
    ) -> set[_PairOfSides]:
        """The open pairs that the remaining looks would probably not decide."""
        if look >= self._schedule.levels[-1][0]:
            return set()
        return {
            pair
            for pair, sample in zip(running, samples, strict=True)
            if pair not in self._settled
            and _is_hopeless(
                sample, self._margin, self._schedule, self._in_rounds, len(self._pairs)
            )
        }

    def _stop_if_done(
        self,
        index: int,
        look: int,
        open_pairs: Sequence[_PairOfSides],
        hopeless: set[_PairOfSides],
    ) -> None:
        is_last = look == self._schedule.levels[-1][0]
        if not open_pairs:
            self._stops[index] = (look, "decided")
        elif is_last:
            self._stops[index] = (look, "last")
        elif hopeless.issuperset(open_pairs):
            self._stops[index] = (look, "hopeless")

    def _final(self, pair: _PairOfSides) -> Comparison:
        """The comparison of a pair after its last look, with an estimate that is corrected for the
        looks."""
        if pair not in self._comparisons:
            # A campaign that was interrupted before the first look is compared as if at that look.
            look, share = self._schedule.levels[0]
            level = level_at(share, len(self._pairs), len(self._pairs))
            samples = [self._sample(pair, look)]
            return compare_samples(samples, self._margin, self._higher_is_better, level)[0]

        last_look = self._looked[pair]
        past = [level for level in self._schedule.levels if level[0] <= last_look]
        stops = [self._stops[index][1] for index in pair if index in self._stops]
        reasoned = _with_reason(self._comparisons[pair], stops)
        return corrected_for_looks(reasoned, self._sample(pair, last_look), past, self._margin)


def _with_reason(comparison: Comparison, stops: Sequence[Stop]) -> Comparison:
    if comparison.concluded or "hopeless" not in stops:
        return comparison
    text = f"{comparison.reason}, and more runs within the most allowed would hardly change that"
    return structs.replace(comparison, reason=text)


def _is_hopeless(
    sample: Sample, margin: float, schedule: LookSchedule, in_rounds: bool, family: int
) -> bool:
    """Whether the runs so far predict that the last look decides with a probability below
    `HOPELESS`.

    This is the predictive probability with a flat prior (D. J. Spiegelhalter, L. S. Freedman and P.
    R. Blackburn, 1986), by the t approximation of the interval that the last look will have. It
    only ever stops without a claim, so it cannot raise the share of wrong ones."""
    last_look = schedule.looks[-1]
    share = schedule.levels[-1][1]
    full_sample = structs.replace(sample, rounds=last_look)
    paired = sample.together or (in_rounds and full_sample.is_paired(family, share))
    deviation = sample_deviation(sample, paired)
    runs = len(sample.pairs) if paired else min(len(sample.new), len(sample.base))
    if runs < _RUNS_TO_GIVE_UP or not deviation:
        return False

    base_runs = None if paired else last_look
    error = standard_error(deviation, last_look, base_runs)
    half_width = student_quantile(freedom(last_look, base_runs), 1 - share) * error
    spread = error * math.sqrt(max(0.0, last_look / runs - 1))
    if spread == 0:
        return False

    systematic = sample.systematic
    bound = math.log1p(margin)
    cdf = NormalDist().cdf
    ratio = ratio_of_pairs(sample.pairs) if paired else ratio_of(sample.new, sample.base)
    center = math.log(ratio.estimate)

    p_same = 0.0
    inner = max(0.0, bound - systematic.log - half_width)
    if inner and not systematic.unmeasured:
        p_same = cdf((inner - center) / spread) - cdf((-inner - center) / spread)
    outer = bound + systematic.log + half_width
    p_below = cdf((-outer - center) / spread)
    p_above = cdf((center - outer) / spread)
    return p_same + (p_below + p_above) < HOPELESS


def stop_of_side(
    side: Side, schedule: LookSchedule, rounds: int, margin: float = DEFAULT_MARGIN
) -> tuple[int, Stop] | None:
    """The look after which a side that is compared with nothing got no more runs, and why. None if
    it continues.

    It stops if the interval of its median was tight, which means within ± `margin` of the median,
    at two looks in a row, or if none of its runs counts. How narrow an interval is hardly depends
    on where it lies (Y. S. Chow and H. Robbins, 1965, on intervals of fixed width), but who looks
    often finds one that is narrow by chance. So a second look confirms it, and its interval is the
    one that is claimed."""
    levels = schedule.levels
    was_tight = False
    for look, _ in levels:
        if look > rounds:
            return None

        figures = list(upto(side, look).values())
        if not figures:
            return look, "none counts"
        is_tight_now = is_tight(figures, margin)
        if is_tight_now and was_tight:
            return look, "tight"
        if look == levels[-1][0]:
            return look, "last"
        was_tight = is_tight_now
    return None


def is_tight(values: Sequence[float], margin: float = DEFAULT_MARGIN) -> bool:
    """Whether the 95 % interval of the median lies within ± `margin` of it."""
    if len(values) < max(MIN_FIGURES, MIN_RUNS_FOR_A_CLAIM):
        return False
    interval = median_interval(values)
    # If all these runs failed their load, all three are 0, and more runs would show nothing new.
    return (
        interval.high <= (1 + margin) * interval.median
        and interval.median <= (1 + margin) * interval.low
    )
