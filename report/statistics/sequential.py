"""Runs that are looked at more than once: when a side has enough of them, and what they then show.

Looking again after every round finds, sooner or later, a difference where there is none. So the looks are few
and fixed before the first run, and they share the 5 % of one look (Bonferroni; K. K. G. Lan and D. L.
DeMets, 1983, call it spending). docs/decisions/0015-adaptive-runs.md gives reasons and costs.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import NormalDist
from typing import Literal

from report.statistics.decision import DEFAULT_FLOOR, Comparison, Level, compare_family
from report.statistics.median import MIN_FIGURES, median_interval
from report.statistics.power import MIN_RUNS_FOR_A_CLAIM, log_deviation
from report.statistics.ratio import ALPHA, ratio_of

#: The share that the first look spends: just enough for five runs per side that do not overlap (2/252).
_FIRST = 0.008
#: The share of the last of three or more looks; those in between share the rest equally.
_LAST = 0.022

#: A pair gets no more runs if the remaining ones would decide it with a probability below this.
HOPELESS = 0.1
#: With fewer runs per side no pair is given up.
_RUNS_TO_GIVE_UP = 7

#: Runs by their round; those that do not count are absent.
Side = Mapping[int, float]

Stop = Literal["decided", "tight", "hopeless", "none counts", "last"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LookSchedule:
    """The rounds after which runs are looked at, in their order, and the one after which the campaign was
    ended before its last look (None: it was not, or not yet)."""

    looks: tuple[int, ...]
    ended: int | None = None

    @property
    def levels(self) -> tuple[tuple[int, float], ...]:
        """Each look with what it may spend of 5 %; one that became the last has the last one's share."""
        spent = list(zip(self.looks, _shares(len(self.looks)), strict=True))
        if self.ended is None or self.ended >= self.looks[-1]:
            return tuple(spent)
        return (*((look, share) for look, share in spent if look < self.ended), (self.ended, spent[-1][1]))


def _shares(count: int) -> list[float]:
    if count == 1:
        return [ALPHA]
    if count == 2:
        return [_FIRST, ALPHA - _FIRST]
    return [_FIRST, *[(ALPHA - _FIRST - _LAST) / (count - 2)] * (count - 2), _LAST]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Sides of one ranking after the looks that there were."""

    comparisons: tuple[Comparison, ...]
    """Of each side (as new) with each one before it, in the order of `itertools.combinations`."""
    settled: tuple[int | None, ...]
    """The look at which each of them was decided; None: it is open."""
    stops: tuple[tuple[int, Stop] | None, ...]
    """Of each side: the look after which it got no more runs, and why; None: it continues."""


def compare_in_looks(
    sides: Sequence[Side],
    schedule: LookSchedule,
    rounds: int,
    floor: float = DEFAULT_FLOOR,
    higher_is_better: bool = True,
) -> Family:
    """What so many rounds show of the sides of one ranking; equal arguments give equal results.

    At each look every open pair is compared by the rule of `compare_family`, at the look's share α of 5 %:
    the test of the family by Holm's correction at α, the interval leaving out α on each side, and never more
    than 5 %. What is decided stays decided. A side is done when each of its pairs is decided, or cannot be
    expected to be.

    Error: at each look, Holm's correction for the comparisons that no look has told apart calls two equal
    sides different with a probability of at most α, so all looks together in at most 5 %, whatever was
    stopped in between. In the same way, sides that differ by the floor get `no difference` in at most 5 %.

    Args:
        sides: two or more.
        rounds: only looks up to it have taken place, and only their runs are used.
    """
    pairs = list(combinations(range(len(sides)), 2))
    found: dict[tuple[int, int], Comparison] = {}
    settled: dict[tuple[int, int], int] = {}
    stops: dict[int, tuple[int, Stop]] = {}
    levels = schedule.levels
    last, (_, first) = levels[-1][0], levels[0]
    for look, share in levels:
        running = [pair for pair in pairs if pair not in settled and not stops.keys() & set(pair)]
        if look > rounds or not running:
            break
        apart = sum(each.status in ("better", "worse") for each in found.values())
        level = Level(interval=min(2 * share, ALPHA), test=share, family=len(pairs) - apart)
        seen = [[side[run] for run in sorted(side) if run <= look] for side in sides]
        samples = [(seen[new], seen[base]) for base, new in running]
        compared = compare_family(samples, floor, higher_is_better, level)
        found |= dict(zip(running, compared, strict=True))
        settled |= {pair: look for pair in running if found[pair].decided}
        hopeless = {
            pair
            for pair, sample in zip(running, samples, strict=True)
            if pair not in settled and look < last and _is_hopeless(*sample, floor, schedule)
        }
        for index in set(range(len(sides))) - stops.keys():
            own = [pair for pair in running if index in pair and pair not in settled]
            if look == last or hopeless.issuperset(own):
                stops[index] = (look, "decided" if not own else "last" if look == last else "hopeless")
    return Family(
        comparisons=tuple(
            _with_reason(found[pair], pair, stops)
            if pair in found
            # Interrupted before the first look: compared as if at the first one.
            else compare_family(
                [(list(sides[pair[1]].values()), list(sides[pair[0]].values()))],
                floor,
                higher_is_better,
                Level(interval=min(2 * first, ALPHA), test=first, family=len(pairs)),
            )[0]
            for pair in pairs
        ),
        settled=tuple(settled.get(pair) for pair in pairs),
        stops=tuple(stops.get(index) for index in range(len(sides))),
    )


def _with_reason(
    found: Comparison, pair: tuple[int, int], stops: Mapping[int, tuple[int, Stop]]
) -> Comparison:
    reasons = [stop[1] for index in pair if (stop := stops.get(index))]
    if found.decided or "hopeless" not in reasons:
        return found
    text = f"{found.reason}, and more runs within the most allowed would hardly change that"
    return replace(found, reason=text)


def _is_hopeless(new: Sequence[float], base: Sequence[float], floor: float, schedule: LookSchedule) -> bool:
    """Whether the last look would decide with a probability below `HOPELESS`, judged by the runs so far.

    The predictive probability with a flat prior (D. J. Spiegelhalter, L. S. Freedman and P. R. Blackburn,
    1986), by the t approximation of the rank interval. It only ever stops without a claim, so it cannot raise
    the share of wrong ones.
    """
    runs = min(len(new), len(base))
    deviation = log_deviation(new, base)
    most = schedule.looks[-1]
    if runs < _RUNS_TO_GIVE_UP or not deviation:
        return False
    # Loading SciPy takes half a second, and most reports do not need it.
    from scipy.special import stdtrit

    variance = math.pi / 3 * 2 * deviation**2
    share = schedule.levels[-1][1]
    reach = float(stdtrit(2 * most - 2, 1 - share)) * math.sqrt(variance / most)
    spread = math.sqrt(variance * (1 / runs - 1 / most))
    bound, below = math.log1p(floor), NormalDist().cdf
    now = math.log(ratio_of(new, base).estimate)
    within = max(0.0, bound - reach)
    same = below((within - now) / spread) - below((-within - now) / spread) if within else 0.0
    apart = below((-bound - reach - now) / spread) + below((now - bound - reach) / spread)
    return same + apart < HOPELESS


def stop_of_side(
    side: Side, schedule: LookSchedule, rounds: int, floor: float = DEFAULT_FLOOR
) -> tuple[int, Stop] | None:
    """When a side that nothing is compared with got no more runs: once the interval of its median was tight,
    i.e. within ± `floor` of it; or if none of its runs counts by then. None: it continues.

    Nothing is claimed but the interval, and how narrow it is hardly depends on where it lies (Y. S. Chow and
    H. Robbins, 1965, on intervals of fixed width): the looks share nothing here.
    """
    levels = schedule.levels
    for look, _ in levels:
        if look > rounds:
            return None
        seen = [side[run] for run in sorted(side) if run <= look]
        if not seen:
            return look, "none counts"
        if is_tight(seen, floor):
            return look, "tight"
        if look == levels[-1][0]:
            return look, "last"
    return None


def is_tight(values: Sequence[float], floor: float = DEFAULT_FLOOR) -> bool:
    """Whether the 95 % interval of the median lies within ± `floor` of it."""
    if len(values) < max(MIN_FIGURES, MIN_RUNS_FOR_A_CLAIM):
        return False
    found = median_interval(values)
    # Where all these runs failed their load, all three are 0: more runs would show nothing new.
    return found.high <= (1 + floor) * found.median and found.median <= (1 + floor) * found.low
