"""Samples, which hold the runs of two sides and say which were measured next to each other."""

import math
from collections.abc import Mapping

from msgspec import Struct

from report.base.contract import CONSTANTS
from report.statistics.rank_test import smallest_p
from report.statistics.ratio import ALPHA
from report.statistics.systematic_error import NONE_APPLIES, SystematicError

#: Runs of fewer planned rounds are not paired. Nine pairs are less evidence than two sides of nine
#: runs, and no order of few pairs survives a correction.
MIN_ROUNDS_TO_PAIR: int = CONSTANTS["min_rounds_to_pair"]

#: The round of a run, from 1, and its group in the round, from 1.
Place = tuple[int, int]

#: The figures of one configuration by place, without those that do not count.
Side = Mapping[Place, float]


class Sample(Struct, frozen=True, kw_only=True):
    """The figures of the runs of two sides that count."""

    new: tuple[float, ...]
    base: tuple[float, ...]
    pairs: tuple[tuple[float, float], ...] = ()
    """The figures, new and base, of runs that were measured next to each other and both count."""
    dropped: int = 0
    """The number of runs of `new` without such a partner."""
    rounds: int = 0
    """The number of planned pairs. 0 if runs were not measured next to each other."""
    share: float = 1.0
    """The share of the level of one look that the look may spend at which these runs were
    stopped."""
    together: bool = False
    """Whether the runs of a pair took place at the same time, by turns, so that what the host does
    cancels in pairs only."""
    to_reference: bool = False
    """Whether the figures are ratios to a reference in the rounds of each of two campaigns."""
    systematic: SystematicError = NONE_APPLIES
    """What shifts the ratio in all rounds alike (rule M34)."""

    def is_paired(self, comparisons: int, alpha: float = ALPHA) -> bool:
        """Whether a family of this number of comparisons is compared by pairs.

        The plan alone decides it, because a choice by the runs would be one more look at them."""
        if self.together:
            return True
        has_enough_rounds = self.rounds >= MIN_ROUNDS_TO_PAIR
        return has_enough_rounds and smallest_p(self.rounds, None) * comparisons <= alpha


def sample_of(
    new: Side,
    base: Side,
    rounds: int = 0,
    by_group: bool = True,
    share: float = 1.0,
    together: bool = False,
    systematic: SystematicError = NONE_APPLIES,
) -> Sample:
    """The sample of two sides.

    Args:
        rounds: the number of planned rounds of both sides, or 0 for runs that are not paired.
        by_group: whether partners ran in one group. Otherwise they ran in one round, and several
            runs of a round count as one with the mean of their logarithms.
        share: see `Sample`.
        together: see `Sample`.
        systematic: see `Sample`."""
    new_side, base_side = (new, base) if by_group else (_by_round(new), _by_round(base))
    common = sorted(new_side.keys() & base_side.keys())
    return Sample(
        new=tuple(new[place] for place in sorted(new)),
        base=tuple(base[place] for place in sorted(base)),
        pairs=tuple((new_side[place], base_side[place]) for place in common) if rounds else (),
        dropped=len(new_side) - len(common) if rounds else 0,
        rounds=rounds,
        share=share,
        together=together,
        systematic=systematic,
    )


def upto(side: Side, rounds: int) -> Side:
    return {place: value for place, value in side.items() if place[0] <= rounds}


def _by_round(side: Side) -> Side:
    rounds: dict[Place, list[float]] = {}
    for (number, _), value in side.items():
        rounds.setdefault((number, 1), []).append(value)
    return {place: _geometric_mean(values) for place, values in rounds.items()}


def _geometric_mean(values: list[float]) -> float:
    """The geometric mean. It is 0 or infinite if one value is, because such a round failed."""
    worst = next((value for value in values if not 0 < value < math.inf), None)
    if worst is not None or len(values) == 1:
        return values[0] if worst is None else worst
    return math.exp(math.fsum(map(math.log, values)) / len(values))
