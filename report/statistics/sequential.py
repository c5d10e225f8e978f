"""Runs that are looked at more than once: when a side has enough of them, and what they then show.

Looking again after every round finds, sooner or later, a difference where there is none. So the
looks are few and fixed before the first run, and they share the 5 % of one look (Bonferroni; K. K.
G. Lan and D. L. DeMets, 1983, call it spending). docs/decisions/0015-adaptive-runs.md gives reasons
and costs."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations
from statistics import NormalDist
from typing import Literal

import numpy as np
from msgspec import Struct, structs

from report.base.contract import CONSTANTS
from report.statistics.decision import DEFAULT_FLOOR, Comparison, Level, compare_samples
from report.statistics.power import MIN_RUNS_FOR_A_CLAIM, freedom, sample_deviation, standard_error
from report.statistics.rank_test import Floats, student_quantile
from report.statistics.ratio import ALPHA, ratio_of, ratio_of_pairs
from report.statistics.run_samples import MIN_FIGURES, median_interval
from report.statistics.samples import MIN_ROUNDS_TO_PAIR, Sample, Side, sample_of, upto

#: The shares that the first look spends, and the last of three or more. By turns the plan has the
#: first look after the round in which pairs can decide its family at that share.
_FIRST: float = CONSTANTS["look_shares"]["first"]
_LAST: float = CONSTANTS["look_shares"]["last"]

#: A pair gets no more runs if the remaining ones would decide it with a probability below this.
HOPELESS = 0.15
#: With fewer runs per side no pair is given up.
_RUNS_TO_GIVE_UP = 7

#: Nodes of the numerical integration; twice as many change no printed digit.
_NODES = 48
#: Standard deviations beyond which nothing is integrated.
_TAIL = 8.0
_BISECTIONS = 40

Stop = Literal["decided", "tight", "hopeless", "none counts", "last"]


class LookSchedule(Struct, frozen=True, kw_only=True):
    """The rounds after which runs are looked at, in their order, and the one after which the
    campaign was ended before its last look (None: it was not, or not yet)."""

    looks: tuple[int, ...]
    ended: int | None = None

    @property
    def levels(self) -> tuple[tuple[int, float], ...]:
        """Each look with what it may spend of 5 %; one that became the last has the last one's
        share."""
        spent = list(zip(self.looks, _shares(len(self.looks)), strict=True))
        if self.ended is None or self.ended >= self.looks[-1]:
            return tuple(spent)
        return (
            *((look, share) for look, share in spent if look < self.ended),
            (self.ended, spent[-1][1]),
        )

    def share_at(self, rounds: int) -> float:
        """What the look may spend at which a side got no more runs; between two looks that of the
        later."""
        return next((share for look, share in self.levels if look >= rounds), self.levels[-1][1])


def _shares(count: int) -> list[float]:
    if count == 1:
        return [ALPHA]
    if count == 2:
        return [_FIRST, ALPHA - _FIRST]
    return [_FIRST, *[(ALPHA - _FIRST - _LAST) / (count - 2)] * (count - 2), _LAST]


def level_at(share: float, family: int = 0, equal_family: int = 0, planned: int = 0) -> Level:
    """The level of a look that may spend `share`: the interval leaves it out on each side, 5 % at
    most."""
    interval = min(2 * share, ALPHA)
    return Level(
        interval=interval, test=share, family=family, equal_family=equal_family, planned=planned
    )


class Family(Struct, frozen=True, kw_only=True):
    """Sides of one ranking after the looks that there were."""

    pairs: tuple[tuple[int, int], ...]
    """What is compared: the indices of base and new."""
    comparisons: tuple[Comparison, ...]
    """In the order of `pairs`."""
    settled: tuple[int | None, ...]
    """The look at which each of them was decided; None: it is open."""
    stops: tuple[tuple[int, Stop] | None, ...]
    """Of each side: the look after which it got no more runs, and why; None: it continues."""


#: The indices of a base and of the side that is compared with it.
Indices = tuple[int, int]


class _ComparingInLooks:
    """The sides of one ranking while its looks are taken, one after the other."""

    def __init__(
        self,
        sides: Sequence[Side],
        schedule: LookSchedule,
        *,
        floor: float,
        higher_is_better: bool,
        reference: int | None,
        in_rounds: bool,
        together: bool,
    ) -> None:
        self.sides = sides
        self.schedule = schedule
        self.floor = floor
        self.higher_is_better = higher_is_better
        self.in_rounds = in_rounds
        self.together = together
        self.by_group = together or reference is not None
        self.pairs = _compared_pairs(len(sides), reference)
        self.comparisons: dict[Indices, Comparison] = {}
        self.last_looks: dict[Indices, int] = {}
        self.settled: dict[Indices, int] = {}
        self.stops: dict[int, tuple[int, Stop]] = {}

    def running_pairs(self) -> list[Indices]:
        """The pairs that are not decided, and whose sides both get more runs."""
        return [
            pair
            for pair in self.pairs
            if pair not in self.settled and not self.stops.keys() & set(pair)
        ]

    def compare_at(self, look: int, share: float, pairs: Sequence[Indices]) -> None:
        """Compares the pairs at a look that may spend `share`, and stops sides that are done."""
        level = self._family_level(share)
        samples = [self._sample(pair, look) for pair in pairs]
        compared = compare_samples(samples, self.floor, self.higher_is_better, level)

        for pair, comparison in zip(pairs, compared, strict=True):
            self.comparisons[pair] = comparison
            self.last_looks[pair] = look
            if comparison.decided:
                self.settled[pair] = look

        self._stop_sides(look, dict(zip(pairs, samples, strict=True)))

    def result(self) -> Family:
        return Family(
            pairs=tuple(self.pairs),
            comparisons=tuple(self._last_comparison(pair) for pair in self.pairs),
            settled=tuple(self.settled.get(pair) for pair in self.pairs),
            stops=tuple(self.stops.get(index) for index in range(len(self.sides))),
        )

    def _sample(self, pair: Indices, look: int) -> Sample:
        base, new = (upto(self.sides[index], look) for index in pair)
        rounds = look if self.in_rounds or self.together else 0
        return sample_of(new, base, rounds, self.by_group, together=self.together)

    def _family_level(self, share: float) -> Level:
        """The level at which Holm's correction counts only what no look has told apart, and for
        equality only what no look has found equal."""
        decided = [
            comparison.shown for comparison in self.comparisons.values() if comparison.decided
        ]
        return level_at(
            share,
            family=len(self.pairs) - decided.count(True),
            equal_family=len(self.pairs) - decided.count(False),
            planned=len(self.pairs),
        )

    def _stop_sides(self, look: int, samples: Mapping[Indices, Sample]) -> None:
        last_look = self.schedule.levels[-1][0]
        open_pairs = [pair for pair in samples if pair not in self.settled]
        hopeless_pairs = {
            pair
            for pair in open_pairs
            if look < last_look and self._is_hopeless_sample(samples[pair])
        }

        for index in set(range(len(self.sides))) - self.stops.keys():
            pairs_of_side = [pair for pair in open_pairs if index in pair]
            if not pairs_of_side:
                self.stops[index] = (look, "decided")
            elif look == last_look:
                self.stops[index] = (look, "last")
            elif hopeless_pairs.issuperset(pairs_of_side):
                self.stops[index] = (look, "hopeless")

    def _is_hopeless_sample(self, sample: Sample) -> bool:
        return _is_hopeless(sample, self.floor, self.schedule, self.in_rounds, len(self.pairs))

    def _last_comparison(self, pair: Indices) -> Comparison:
        """The comparison at the last look that the pair had, corrected for its looks. A campaign
        that was interrupted before the first look is compared as if at the first one."""
        levels = self.schedule.levels
        if pair not in self.comparisons:
            first_look, share = levels[0]
            level = level_at(share, len(self.pairs), len(self.pairs))
            sample = self._sample(pair, first_look)
            return compare_samples([sample], self.floor, self.higher_is_better, level)[0]

        reasons = [self.stops[index][1] for index in pair if index in self.stops]
        reasoned = _with_reason(self.comparisons[pair], reasons)
        last_look = self.last_looks[pair]
        past_levels = [level for level in levels if level[0] <= last_look]
        return corrected_for_looks(reasoned, self._sample(pair, last_look), past_levels, self.floor)


def _compared_pairs(count: int, reference: int | None) -> list[Indices]:
    if reference is None:
        return list(combinations(range(count), 2))
    return [(reference, index) for index in range(count) if index != reference]


def compare_in_looks(
    sides: Sequence[Side],
    schedule: LookSchedule,
    rounds: int,
    floor: float = DEFAULT_FLOOR,
    higher_is_better: bool = True,
    *,
    reference: int | None = None,
    in_rounds: bool = False,
    together: bool = False,
) -> Family:
    """What so many rounds show of the sides of one ranking; equal arguments give equal results.

    At each look every open pair is compared by the rule of `compare_samples`, at the look's share α
    of 5 %: the test of the family by Holm's correction at α, the interval leaving out α on each
    side, and never more than 5 %. What is decided stays decided. A side is done when each of its
    pairs is decided, or cannot be expected to be.

    Error: at each look, Holm's correction for the comparisons that no look has told apart calls two
    equal sides different with a probability of at most α, so all looks together in at most 5 %,
    whatever was stopped in between. In the same way, of all sides that differ by the floor one gets
    `no difference` in at most 5 %. Whether a look goes by pairs follows from its round alone.

    Args:
        sides: two or more.
        rounds: only looks up to it have taken place, and only their runs are used.
        reference: the index of the side that the others are compared with; None: each with each.
        in_rounds: they were measured next to each other, so that they may be paired.
        together: they were measured at the same time, by turns: they are compared by pairs
            alone."""
    comparing = _ComparingInLooks(
        sides,
        schedule,
        floor=floor,
        higher_is_better=higher_is_better,
        reference=reference,
        in_rounds=in_rounds,
        together=together,
    )

    for look, share in schedule.levels:
        pairs = comparing.running_pairs()
        if look > rounds or not pairs:
            break
        comparing.compare_at(look, share, pairs)

    return comparing.result()


def corrected_for_looks(
    comparison: Comparison, sample: Sample, looks: Sequence[tuple[int, float]], floor: float
) -> Comparison:
    """The comparison with an estimate that knows of the looks before the last of these (rule M29),
    within the interval; `stopped_at` keeps the plain estimate.

    Boundaries are those of one comparison, because what else is in its family does not change a
    ratio."""
    unpaired = sample_deviation(sample, paired=False)
    paired = sample_deviation(sample, paired=True) if comparison.pairs is not None else None
    if comparison.ratio is None or comparison.interval is None or not unpaired or len(looks) < 2:
        return comparison

    def error_at(look: int) -> tuple[float, int]:
        # Earlier looks of a comparison by pairs may have been too early for pairs.
        if paired is not None and (sample.together or look >= MIN_ROUNDS_TO_PAIR):
            return standard_error(paired, look, None), freedom(look, None)
        return standard_error(unpaired, look, look), freedom(look, look)

    past = [PastLook(look, boundary_of(*error_at(look), floor, share)) for look, share in looks]
    last_look = looks[-1][0]
    error, _ = error_at(last_look)
    deviation = error * math.sqrt(last_look)

    estimate = math.exp(median_unbiased(math.log(comparison.ratio), deviation, past))
    within_interval = min(max(estimate, comparison.interval.low), comparison.interval.high)
    return structs.replace(comparison, ratio=within_interval, stopped_at=comparison.ratio)


def _with_reason(comparison: Comparison, stops: Sequence[Stop]) -> Comparison:
    if comparison.decided or "hopeless" not in stops:
        return comparison
    text = f"{comparison.reason}, and more runs within the most allowed would hardly change that"
    return structs.replace(comparison, reason=text)


def _is_hopeless(
    sample: Sample, floor: float, schedule: LookSchedule, in_rounds: bool, family: int
) -> bool:
    """Whether the last look would decide with a probability below `HOPELESS`, judged by the runs so
    far.

    The predictive probability with a flat prior (D. J. Spiegelhalter, L. S. Freedman and P. R.
    Blackburn, 1986), by the t approximation of the interval that the last look will have. It only
    ever stops without a claim, so it cannot raise the share of wrong ones."""
    last_look = schedule.looks[-1]
    _, share = schedule.levels[-1]
    paired = sample.together or (
        in_rounds and structs.replace(sample, rounds=last_look).is_paired(family, share)
    )
    deviation = sample_deviation(sample, paired)
    runs = len(sample.pairs) if paired else min(len(sample.new), len(sample.base))
    if runs < _RUNS_TO_GIVE_UP or not deviation:
        return False

    other_runs = None if paired else last_look
    error = standard_error(deviation, last_look, other_runs)
    reach = student_quantile(freedom(last_look, other_runs), 1 - share) * error
    spread = error * math.sqrt(max(0.0, last_look / runs - 1))
    if spread == 0:
        return False

    ratio = ratio_of_pairs(sample.pairs) if paired else ratio_of(sample.new, sample.base)
    log_ratio = math.log(ratio.estimate)
    bound = math.log1p(floor)
    probability_below = NormalDist().cdf
    within = max(0.0, bound - reach)
    same = 0.0
    if within:
        same = probability_below((within - log_ratio) / spread) - probability_below(
            (-within - log_ratio) / spread
        )
    apart = probability_below((-bound - reach - log_ratio) / spread) + probability_below(
        (log_ratio - bound - reach) / spread
    )
    return same + apart < HOPELESS


def stop_of_side(
    side: Side, schedule: LookSchedule, rounds: int, floor: float = DEFAULT_FLOOR
) -> tuple[int, Stop] | None:
    """When a side that nothing is compared with got no more runs: once the interval of its median
    was tight, i.e. within ± `floor` of it, at two looks in a row; or if none of its runs counts by
    then. None: it continues.

    How narrow an interval is hardly depends on where it lies (Y. S. Chow and H. Robbins, 1965, on
    intervals of fixed width), but who looks often finds one that is narrow by chance: so a second
    look confirms it, and its interval is the one that is claimed."""
    levels = schedule.levels
    tight_before = False
    for look, _ in levels:
        if look > rounds:
            return None
        seen = list(upto(side, look).values())
        if not seen:
            return look, "none counts"
        tight = is_tight(seen, floor)
        if tight and tight_before:
            return look, "tight"
        if look == levels[-1][0]:
            return look, "last"
        tight_before = tight
    return None


def is_tight(values: Sequence[float], floor: float = DEFAULT_FLOOR) -> bool:
    """Whether the 95 % interval of the median lies within ± `floor` of it."""
    if len(values) < max(MIN_FIGURES, MIN_RUNS_FOR_A_CLAIM):
        return False
    interval = median_interval(values)
    # Where all these runs failed their load, all three are 0, and more runs would show nothing new.
    is_tight_above = interval.high <= (1 + floor) * interval.median
    is_tight_below = interval.median <= (1 + floor) * interval.low
    return is_tight_above and is_tight_below


class PastLook(Struct, frozen=True):
    """`runs` per side at a look, and the smallest log ratio that it would have called a
    difference."""

    runs: int
    boundary: float


def boundary_of(error: float, freedom: int, floor: float, share: float) -> float:
    """The smallest log ratio that a look calls a difference: its interval lies beyond the floor,
    and the test rejects. By the t approximation of the rank interval, as in `power.py`."""

    beyond_floor = math.log1p(floor) + student_quantile(freedom, 1 - min(share, 0.025)) * error
    return max(beyond_floor, student_quantile(freedom, 1 - share / 2) * error)


def median_unbiased(log_ratio: float, deviation: float, looks: Sequence[PastLook]) -> float:
    """The log ratio whose distribution has the observed one as its median.

    Outcomes are ordered by stage: a difference that an earlier look showed is a larger one (S. S.
    Emerson and T. R. Fleming, 1990, Biometrika 77:875-892; C. Jennison and B. W. Turnbull, Group
    Sequential Methods, 2000, section 8.3). So at the first look it is the plain estimate, and later
    a smaller one. Chances are integrated numerically from look to look (P. Armitage, C. K.
    McPherson and B. C. Rowe, 1969, J. R. Stat. Soc. A 132:235-244), as if estimates were normal;
    stops that claim no difference are left out of the order, which moves the result towards 1."""
    if len(looks) < 2 or deviation == 0 or not math.isfinite(log_ratio):
        return log_ratio
    if log_ratio < 0:
        return -median_unbiased(-log_ratio, deviation, looks)

    error = deviation / math.sqrt(looks[-1].runs)
    low = log_ratio - 8 * error
    high = log_ratio + 2 * error
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if _at_least(log_ratio, middle, deviation, looks) > 0.5:
            high = middle
        else:
            low = middle
    return (low + high) / 2


@cache
def _gauss_legendre() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights


def _at_least(log_ratio: float, truth: float, deviation: float, looks: Sequence[PastLook]) -> float:
    """The probability of a difference at an earlier look, or of at least this one at the last of
    them."""
    # Loading SciPy takes half a second, and most reports do not need it.
    from scipy.special import ndtr

    nodes, weights = _gauss_legendre()
    sums: Floats = np.zeros(1)
    density: Floats = np.ones(1)
    runs_before = 0
    probability = 0.0
    for number, look in enumerate(looks, start=1):
        added_runs = look.runs - runs_before
        spread = deviation * math.sqrt(added_runs)
        means = sums + truth * added_runs
        is_last = number == len(looks)
        top = look.runs * (log_ratio if is_last else look.boundary)
        probability += float((density * (1 - ndtr((top - means) / spread))).sum())

        tail = _TAIL * deviation * math.sqrt(look.runs)
        bottom = truth * look.runs - tail
        top = min(top, truth * look.runs + tail)
        if is_last or bottom >= top:
            break

        grid = (top - bottom) / 2 * nodes + (top + bottom) / 2
        distance = (grid[:, None] - means[None, :]) / spread
        passed = np.exp(-(distance**2) / 2) @ density / (spread * math.sqrt(2 * math.pi))
        sums = grid
        density = passed * weights * (top - bottom) / 2
        runs_before = look.runs

    return probability
