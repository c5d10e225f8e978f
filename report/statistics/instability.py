"""Finds signs that runs are not samples of one steady population, which a median would hide, and
changes of the level in a series of campaigns."""

import math
import statistics
from collections.abc import Sequence
from functools import lru_cache
from statistics import median

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from report.base.contract import CONSTANTS
from report.statistics.rank_test import Floats, mann_whitney_p, midranks_doubled

#: Above this standard deviation, in percent of the mean, runs are reported as lying far apart.
MAX_CV_PERCENT = 5.0

#: A sign counts only if it moves the figure by more than this share, as a difference does.
MIN_EFFECT = 0.02

#: How often steady runs show each sign. With 20 rows, one in several reports raises a false alarm.
FALSE_ALARM = 0.01

_MIN_RUNS_FOR_TREND = 5
_MIN_RUNS_FOR_MODES = 8

#: Length of a slice of the window, in seconds.
SLICE_S: float = CONSTANTS["slice_ms"] / 1000
#: The number of slices of a window of three seconds, which is the shortest that is searched.
_MIN_BLOCKS = 30

#: The earliest cut whose squared error is below this multiple of the smallest one is taken, because
#: the error hardly changes around its minimum.
_NEARLY_LEAST = 1.5


class Trend(Struct, frozen=True):
    change: float
    """The change from the first to the last figure, as a share of the median."""
    p: float


def trend(values: Sequence[float]) -> Trend | None:
    """Whether figures, in order of time, rise or fall.

    Kendall's tau, exact, against the order of time (H. B. Mann, 1945), with the slope of P. K. Sen
    (1968). None for fewer than five figures, and if they do not drift beyond `MIN_EFFECT`."""
    n = len(values)
    if n < _MIN_RUNS_FOR_TREND:
        return None

    pairs = [(j - i, values[j] - values[i]) for i in range(n) for j in range(i + 1, n)]
    score = sum((difference > 0) - (difference < 0) for _, difference in pairs)
    p = _kendall_p(n, abs(score))
    middle = statistics.median(values)
    change = statistics.median(difference / steps for steps, difference in pairs) * (n - 1)
    # Five runs cannot give a p below 1/60, the one of a perfect order, so that it has to suffice.
    highest_p = max(FALSE_ALARM, 2 / math.factorial(n))
    if middle <= 0 or abs(change) / middle <= MIN_EFFECT or p > highest_p:
        return None
    return Trend(change / middle, p)


@lru_cache(maxsize=256)
def _kendall_p(n: int, score: int) -> float:
    """P(|S| ≥ score) in a random order of n figures, by counting inversions."""
    ways = np.ones(1)
    for size in range(2, n + 1):
        ways = np.convolve(ways, np.ones(size) / size)
    scores = n * (n - 1) / 2 - 2 * np.arange(len(ways))
    return float(ways[np.abs(scores) >= score - 1e-9].sum())


class Modes(Struct, frozen=True):
    """Two levels, which are the medians of two groups of figures."""

    low: float
    high: float
    low_runs: int
    high_runs: int


def two_levels(values: Sequence[float]) -> Modes | None:
    """Whether figures fall into two groups, as where a machine has two states.

    This is the test of L. Engelman and J. A. Hartigan (1969, J. Am. Stat. Assoc. 64:1647-1648). Its
    statistic is the largest ratio of the sum of squares between two groups to that within them,
    over all ways to cut the ordered figures in two. It is compared with its distribution for as
    many normal figures, which are drawn with a fixed seed. A group has at least two figures. None
    for fewer than eight figures, and if one group explains them."""
    n = len(values)
    if n < _MIN_RUNS_FOR_MODES or min(values) <= 0:
        return None

    ordered = np.sort(np.array(values, dtype=float))
    shares, cuts = _best_cut(np.log(ordered)[None, :])
    if shares[0] <= _critical_share(n):
        return None

    cut = int(cuts[0])
    low = float(np.median(ordered[:cut]))
    high = float(np.median(ordered[cut:]))
    return Modes(low, high, cut, n - cut) if high / low > 1 + MIN_EFFECT else None


def _best_cut(rows: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """The best cut of each row of ordered figures. Returns the largest share of the sum of squares
    that lies between two groups, and the index of the cut."""
    n = rows.shape[1]
    centred = rows - rows.mean(axis=1, keepdims=True)
    left = np.cumsum(centred, axis=1)[:, 1 : n - 2]
    sizes = np.arange(2, n - 1)
    between = left**2 * (1 / sizes + 1 / (n - sizes))
    total = (centred**2).sum(axis=1)
    best = between.argmax(axis=1)
    largest = between[np.arange(len(rows)), best]
    shares = np.divide(largest, total, out=np.zeros_like(largest), where=total > 0)
    return shares, best + 2


@lru_cache(maxsize=64)
def _critical_share(n: int) -> float:
    draws = np.sort(np.random.default_rng(n).standard_normal((4000, n)), axis=1)
    return float(np.quantile(_best_cut(draws)[0], 1 - FALSE_ALARM))


class Ramp(Struct, frozen=True):
    """`seconds` at the start of the window differ from what follows by `change`, as a share of
    that. A negative change means that they are slower."""

    seconds: float
    change: float
    to_the_middle: bool
    """Whether it reaches the middle of the window, beyond which the search does not go."""


def warm_up_ramp(series: Sequence[Sequence[float]]) -> Ramp | None:
    """Whether the start of the window still belongs to the warm-up (rule M26).

    The series of the runs are averaged in 30 to 59 blocks of whole slices, each in units of the
    median of its second half. The cut minimises the squared standard error of what remains (MSER,
    K. P. White, 1997, Simulation 69:323-334), and lies in the first half. What it cuts off must
    differ from what remains by more than `MIN_EFFECT`, and in rank.

    A series holds the answers in each whole slice of `SLICE_S` of a run. None for windows shorter
    than three seconds, and if nothing has to be cut off."""
    usable = [run for run in series if len(run) >= _MIN_BLOCKS]
    if not usable:
        return None

    shortest = min(len(run) for run in usable)
    width = shortest // _MIN_BLOCKS
    length = shortest // width
    scaled = []
    for run in usable:
        window = np.array(run[: length * width], dtype=float).reshape(length, width).mean(axis=1)
        level = float(np.median(window[length // 2 :]))
        if level > 0:
            scaled.append(window / level)
    if not scaled:
        return None

    mean = np.mean(scaled, axis=0)
    errors = [float(mean[cut:].var()) / (length - cut) for cut in range(length // 2 + 1)]
    cut = next(index for index, error in enumerate(errors) if error <= _NEARLY_LEAST * min(errors))
    if cut < 2:
        return None

    change = float(mean[:cut].mean() / mean[cut:].mean()) - 1
    is_different = mann_whitney_p(mean[:cut].tolist(), mean[cut:].tolist()) <= FALSE_ALARM
    if not is_different or abs(change) <= MIN_EFFECT:
        return None
    return Ramp(cut * width * SLICE_S, change, cut >= length // 2)


#: The level of the test for changes of the level.
ALPHA = 0.05
#: Even a perfect step in the middle of fewer figures cannot give p <= 5 %. Its p is 2/70 in eight
#: figures and 2/20 in six.
MIN_POINTS = 8
_DRAWS = 10_000


class ChangePoint(Struct, frozen=True):
    """The series changes its level at `index`. The levels are medians in the unit of the series."""

    index: int
    before: float
    after: float
    p: float


def _statistic(ranks: Floats) -> Floats:
    """|U| of the ranks of each row at each cut, from after the first to before the last figure."""
    n = ranks.shape[1]
    cuts = np.arange(1, n)
    result: Floats = np.abs(2 * np.cumsum(ranks, axis=1)[:, :-1] - cuts * (n + 1))
    return result


@lru_cache(maxsize=128)
def _null(n: int) -> Floats:
    """Pettitt's K of random orders of n figures, ascending. The draws are the same every time."""
    draws = np.random.default_rng(n).permuted(np.tile(np.arange(1.0, n + 1), (_DRAWS, 1)), axis=1)
    return np.sort(_statistic(draws).max(axis=1))


def _p(n: int, statistic: float) -> float:
    null = _null(n)
    return (1 + len(null) - int(np.searchsorted(null, statistic - 1e-9))) / (1 + len(null))


def _best_step(values: Sequence[float]) -> int:
    """The cut at which two medians leave the smallest absolute deviations. The largest statistic is
    easily off by one."""

    def deviations(part: Sequence[float]) -> float:
        middle = median(part)
        return sum(abs(value - middle) for value in part)

    cuts = range(1, len(values))
    return min(cuts, key=lambda cut: deviations(values[:cut]) + deviations(values[cut:]))


def _strongest(values: Sequence[float]) -> ChangePoint:
    # Equal figures share a rank, because they are no evidence of a change.
    ranks = midranks_doubled(np.asarray(values, dtype=np.float64)) / 2
    p = _p(len(values), float(_statistic(ranks[np.newaxis, :]).max()))
    cut = _best_step(values)
    return ChangePoint(cut, median(values[:cut]), median(values[cut:]), p)


def change_points(values: Sequence[float], comparisons: int = 1) -> tuple[ChangePoint, ...]:
    """Where a series changes its level.

    The test is that of A. N. Pettitt, "A non-parametric approach to the change-point problem",
    Applied Statistics 28 (1979) 126-135, which assumes no distribution. p values come from
    permutations with a fixed seed, and are never 0 (B. Phipson and G. K. Smyth, 2010). A series is
    cut where two medians fit best, and each side is searched again (binary segmentation, L. Ju.
    Vostrikova, 1981). Figures must be independent except for the change, which campaigns that
    follow each other on a machine that heats up are not.

    Args:
        values: figures in order of time, none negative, and 0 where loads failed.
        comparisons: the number of series that are searched together, by which the level ALPHA is
            divided (Bonferroni).
    Returns the changes of more than `MIN_EFFECT` in order of time, and none for fewer figures than
    `MIN_POINTS`."""
    if len(values) < MIN_POINTS:
        return ()

    strongest = _strongest(values)
    if strongest.before > 0:
        is_relevant = abs(strongest.after / strongest.before - 1) > MIN_EFFECT
    else:
        is_relevant = strongest.after > 0
    if strongest.p > ALPHA / comparisons or not is_relevant:
        return ()

    left = change_points(values[: strongest.index], comparisons)
    right = change_points(values[strongest.index :], comparisons)
    return (
        *left,
        strongest,
        *(structs.replace(change, index=change.index + strongest.index) for change in right),
    )


def smallest_p(points: int) -> float:
    """The p of a perfect step in the middle of this number of figures, which is the smallest
    possible."""
    ranks = np.arange(1.0, points + 1)
    return _p(points, _statistic(ranks[np.newaxis, :])[0][points // 2 - 1])
