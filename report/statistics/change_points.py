"""Where a series of campaigns changes its level."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import median

import numpy as np
from numpy.typing import NDArray

from report.statistics.rank_test import midranks_doubled

#: A change of the level is worth telling beyond this share, like a difference between clients (rule M17).
MIN_EFFECT = 0.02
ALPHA = 0.05
#: Even a perfect step in the middle of fewer figures cannot give p <= 5 %: 2/70 in eight, 2/20 in six.
MIN_POINTS = 8
_DRAWS = 10_000


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """From `index` on the series is on another level; the levels are medians, in the unit of the series."""

    index: int
    before: float
    after: float
    p: float


def _statistic(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """|U| of each row's ranks at each cut, from after the first to before the last figure."""
    n = ranks.shape[1]
    cuts = np.arange(1, n)
    result: NDArray[np.float64] = np.abs(2 * np.cumsum(ranks, axis=1)[:, :-1] - cuts * (n + 1))
    return result


@lru_cache(maxsize=128)
def _null(n: int) -> NDArray[np.float64]:
    """Pettitt's K of random orders of n figures, ascending; the same draws every time."""
    draws = np.random.default_rng(n).permuted(np.tile(np.arange(1.0, n + 1), (_DRAWS, 1)), axis=1)
    return np.sort(_statistic(draws).max(axis=1))


def _p(n: int, statistic: float) -> float:
    null = _null(n)
    return (1 + len(null) - int(np.searchsorted(null, statistic - 1e-9))) / (1 + len(null))


def _best_cut(values: Sequence[float]) -> int:
    """Where two medians leave the smallest absolute deviations: the statistic itself is off by one easily."""

    def left_over(part: Sequence[float]) -> float:
        middle = median(part)
        return sum(abs(value - middle) for value in part)

    cuts = range(1, len(values))
    return min(cuts, key=lambda cut: left_over(values[:cut]) + left_over(values[cut:]))


def _strongest(values: Sequence[float]) -> ChangePoint:
    # Equal figures share a rank: they are no evidence of a change.
    ranks = midranks_doubled(np.asarray(values, dtype=np.float64)) / 2
    p, cut = _p(len(values), float(_statistic(ranks[np.newaxis, :]).max())), _best_cut(values)
    return ChangePoint(cut, median(values[:cut]), median(values[cut:]), p)


def change_points(values: Sequence[float], comparisons: int = 1) -> tuple[ChangePoint, ...]:
    """Where a series changes its level.

    A. N. Pettitt, "A non-parametric approach to the change-point problem", Applied Statistics 28 (1979)
    126-135, without assumptions on the distribution; p-values from permutations, never 0 (B. Phipson and
    G. K. Smyth, 2010), with a fixed seed. A series is cut where two medians fit best, and each side is
    searched again (binary segmentation: L. Ju. Vostrikova, 1981). Figures must be independent but for the
    change: campaigns that follow each other on a machine that heats up are not.

    Args:
        values: figures in order of time, none negative; 0 where loads failed.
        comparisons: series that are searched together; the level is ALPHA / comparisons (Bonferroni).
    Returns:
        In order of time; only changes of more than `MIN_EFFECT`. Empty for fewer than `MIN_POINTS` figures.
    """
    if len(values) < MIN_POINTS:
        return ()
    found = _strongest(values)
    relevant = abs(found.after / found.before - 1) > MIN_EFFECT if found.before > 0 else found.after > 0
    if found.p > ALPHA / comparisons or not relevant:
        return ()
    left = change_points(values[: found.index], comparisons)
    right = change_points(values[found.index :], comparisons)
    return (*left, found, *(replace(change, index=change.index + found.index) for change in right))


def smallest_p(points: int) -> float:
    """What a perfect step in the middle of so many figures gives: below it nothing can be shown."""
    ranks = np.arange(1.0, points + 1)
    return _p(points, _statistic(ranks[np.newaxis, :])[0][points // 2 - 1])
