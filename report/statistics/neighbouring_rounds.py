"""The correlation of the log ratios of one round with those of the next. Intervals assume that
rounds do not remember each other (rule M34)."""

import math
from collections.abc import Sequence
from itertools import permutations
from typing import Final

import numpy as np
from msgspec import Struct

from report.statistics.power import MIN_PAIRS_FOR_A_CLAIM
from report.statistics.rank_test import Floats
from report.statistics.ratio import log_ratios_of_pairs

Pairs = Sequence[tuple[float, float]]

#: A larger correlation makes intervals too narrow to rely on.
BEYOND: Final = 0.3

#: How often rounds without any correlation may be called correlated.
FALSE_ALARMS: Final = 0.01

#: All orders of so many rounds are tried, and a sample of the orders of more rounds.
_MOST_EXACT_ROUNDS = 7
_DRAWN_ORDERS = 4999


class Simulated(Struct, frozen=True, kw_only=True):
    """What `npm run bench:conclusions -- turns 20` found of widened intervals, as shares."""

    correlation: float
    covered: float
    covered_without: float
    false: float
    """The families with a false conclusion."""
    false_without: float


SIMULATED: Final = Simulated(
    correlation=0.3, covered=0.965, covered_without=0.995, false=0.105, false_without=0.015
)


class RoundCorrelation(Struct, frozen=True):
    """The correlation of neighbouring rounds over rows that are compared with one reference."""

    correlation: float
    """The mean over rows, corrected for the number of rounds."""
    rounds: int
    p: float
    """The share of the orders of these rounds that have as large a correlation. It is 1 for a
    correlation that is not beyond 0.3, which is not tested."""

    @property
    def is_beyond(self) -> bool:
        """Whether it is beyond 0.3, and at most 1 % of the orders of these rounds reach it."""
        return self.correlation > BEYOND and self.p <= FALSE_ALARMS


def neighbour_correlation(pairs: Pairs) -> float | None:
    """The correlation of the log ratio of a round with that of the next, plus 1/n, which n rounds
    without any have too little on average (F. H. C. Marriott and J. A. Pope, 1954). None below six
    pairs, and if the ratios do not differ or a figure is 0 or infinite."""
    scaled = _scaled(pairs)
    if scaled is None:
        return None
    return float((scaled[1:] * scaled[:-1]).sum()) + 1 / len(scaled)


def round_correlation(rows: Sequence[Pairs]) -> RoundCorrelation | None:
    """The correlation of neighbouring rounds over the rows with the most rounds, see
    `neighbour_correlation`. None without such a row.

    The test is that of orders (E. S. Edgington, Randomization Tests, 1980): rounds that do not
    remember each other are as likely in any order. All rows change their order together, because
    they share the reference."""
    scaled_rows = [scaled for pairs in rows if (scaled := _scaled(pairs)) is not None]
    if not scaled_rows:
        return None

    rounds = max(map(len, scaled_rows))
    matrix = np.array([scaled for scaled in scaled_rows if len(scaled) == rounds])
    products = matrix.T @ matrix / len(matrix)
    observed = float(np.diagonal(products, 1).sum())
    correlation = observed + 1 / rounds
    p = _share_of_orders(products, observed) if correlation > BEYOND else 1.0
    return RoundCorrelation(correlation, rounds, p)


def _scaled(pairs: Pairs) -> Floats | None:
    """The log ratios less their mean, with a sum of squares of 1."""
    if len(pairs) < MIN_PAIRS_FOR_A_CLAIM:
        return None
    logs = log_ratios_of_pairs(pairs)
    if not np.isfinite(logs).all():
        return None
    centred: Floats = logs - logs.mean()
    length = math.sqrt(float((centred**2).sum()))
    return centred / length if length > 0 else None


def _share_of_orders(products: Floats, observed: float) -> float:
    """The share of orders of rounds whose neighbours have at least the observed sum of products.
    The observed order is one of those that are drawn."""
    rounds = len(products)
    if rounds <= _MOST_EXACT_ROUNDS:
        orders = np.array(list(permutations(range(rounds))))
        drawn_apart = 0
    else:
        # A report that is built again says the same.
        rng = np.random.default_rng(rounds)
        orders = rng.permuted(np.tile(np.arange(rounds), (_DRAWN_ORDERS, 1)), axis=1)
        drawn_apart = 1
    sums = products[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    reaching = int((sums >= observed - 1e-9).sum())
    return (reaching + drawn_apart) / (len(orders) + drawn_apart)
