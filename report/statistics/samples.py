"""The runs of two sides, and which of them were measured next to each other."""

import math
from collections.abc import Mapping

from msgspec import Struct

from report.base.contract import CONSTANTS
from report.statistics.rank_test import smallest_p
from report.statistics.ratio import ALPHA

#: Fewer planned rounds than this are not paired: nine pairs are fewer facts than two sides of nine
#: runs, and no order of few pairs survives a correction.
MIN_ROUNDS_TO_PAIR: int = CONSTANTS["min_rounds_to_pair"]

#: The round of a run, from 1, and its group in the round, from 1.
Place = tuple[int, int]

#: The figures of one configuration by place; those that do not count are absent.
Side = Mapping[Place, float]


class Sample(Struct, frozen=True, kw_only=True):
    new: tuple[float, ...]
    base: tuple[float, ...]
    pairs: tuple[tuple[float, float], ...] = ()
    """New and base of each pair that was measured next to each other and counts on both sides."""
    dropped: int = 0
    """Runs of `new` without such a partner."""
    rounds: int = 0
    """How many pairs were planned; 0: they were not measured next to each other."""
    share: float = 1.0
    """Of the level of one look, what the one may spend at which these runs were stopped."""
    together: bool = False
    """The runs of a pair were made at the same time, by turns: what the host does cancels in a pair
    alone."""
    to_reference: bool = False
    """Figures are ratios to a reference in the same rounds of two campaigns."""

    def is_paired(self, comparisons: int, alpha: float = ALPHA) -> bool:
        """Whether a family of so many comparisons is compared by pairs.

        Decided by the plan alone: a choice by the runs would be one more look at them."""
        if self.together:
            return True
        enough = self.rounds >= MIN_ROUNDS_TO_PAIR
        return enough and smallest_p(self.rounds, None) * comparisons <= alpha


def sample_of(
    new: Side,
    base: Side,
    rounds: int = 0,
    by_group: bool = True,
    share: float = 1.0,
    together: bool = False,
) -> Sample:
    """The sample of two sides: `rounds` were planned of both, 0 for runs that are not paired.
    `by_group`: partners ran in one group. Else they ran in one round, and several runs of one round
    stand for one: by the mean of their logarithms, so that no round counts twice. `together`: see
    `Sample`."""
    one, other = (new, base) if by_group else (_by_round(new), _by_round(base))
    common = sorted(one.keys() & other.keys())
    return Sample(
        new=tuple(new[place] for place in sorted(new)),
        base=tuple(base[place] for place in sorted(base)),
        pairs=tuple((one[place], other[place]) for place in common) if rounds else (),
        dropped=len(one) - len(common) if rounds else 0,
        rounds=rounds,
        share=share,
        together=together,
    )


def upto(side: Side, rounds: int) -> Side:
    return {place: value for place, value in side.items() if place[0] <= rounds}


def _by_round(side: Side) -> Side:
    rounds: dict[Place, list[float]] = {}
    for (number, _), value in side.items():
        rounds.setdefault((number, 1), []).append(value)
    return {place: _geometric_mean(values) for place, values in rounds.items()}


def _geometric_mean(values: list[float]) -> float:
    """0 or infinite where one of them is: a round that failed once failed."""
    worst = next((value for value in values if not 0 < value < math.inf), None)
    if worst is not None or len(values) == 1:
        return values[0] if worst is None else worst
    return math.exp(math.fsum(map(math.log, values)) / len(values))
