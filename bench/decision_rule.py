#!/usr/bin/env python3
"""The study behind decision 11: intervals that were tried, and what the rule does. `npm run
bench:statistics`

Prints, for 5, 10 and 20 runs a side of 2 % deviation, how often each interval holds the truth (in
%, for each shape of the runs), its width, and how often 5 % are found beyond ±2 %; then false
alarms, and drift. About four minutes.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "test" / "report")]

import numpy as np  # noqa: E402
from scipy import stats  # noqa: E402

from report.statistics.rank_test import exact_rank  # noqa: E402
from simulation import SHAPES, Floats, sides  # noqa: E402

Interval = Callable[[Floats, Floats], tuple[Floats, Floats]]

CV = 0.02
FAST = 10_000
SLOW = 1_000
DRAWS = 1000
rng = np.random.default_rng(20260102)


@dataclass(frozen=True)
class Judged:
    """What the rule says of many comparisons without ties, each a family of its own. The tests hold
    it against the rule itself."""

    low: Floats
    high: Floats
    margin: float = 0.02

    @property
    def rejected(self) -> float:
        """By the exact test alone: the interval leaves out 1 exactly then (`test_rank_test`)."""
        return float(((self.low > 1) | (self.high < 1)).mean())

    @property
    def better(self) -> float:
        return float((self.low > 1 + self.margin).mean())

    @property
    def worse(self) -> float:
        return float((self.high < 1 - self.margin).mean())

    @property
    def flagged(self) -> float:
        return self.better + self.worse

    @property
    def decided(self) -> float:
        within = (self.low >= 1 - self.margin) & (self.high <= 1 + self.margin)
        return self.flagged + float(within.mean())

    def covers(self, ratio: float) -> float:
        return float(((self.low <= ratio) & (ratio <= self.high)).mean())


def judged(new: Floats, base: Floats) -> Judged:
    """The intervals of all rows at once."""
    n = new.shape[1]
    m = base.shape[1]
    ratios = (new[:, :, None] / base[:, None, :]).reshape(len(new), n * m)
    rank = exact_rank(n, m, 0.05)
    ratios.partition([rank - 1, n * m - rank], axis=1)
    return Judged(ratios[:, rank - 1], ratios[:, n * m - rank])


def drifting(
    rng: np.random.Generator, count: int, runs: int, cv: float, drift: str, order: str
) -> tuple[Floats, Floats]:
    """A and B, the same thing, on a machine that loses 3 % over the campaign: `steady` or
    `sudden`."""
    if order == "interleaved":
        coin = rng.integers(0, 2, (count, runs))
        a = 2 * np.arange(runs) + coin
        b = 2 * np.arange(runs) + 1 - coin
    else:
        place = np.tile(np.arange(2 * runs), (count, 1))
        a = place[:, :runs]
        b = place[:, runs:]
    time = np.arange(2 * runs) / (2 * runs - 1)
    speed = 1 - 0.03 * (time if drift == "steady" else (time >= 0.5).astype(float))
    noise = np.exp(cv * rng.standard_normal((2, count, runs)))
    return 1000 * speed[a] * noise[0], 1000 * speed[b] * noise[1]


def _medians_drawn(x: Floats, smooth: bool) -> Floats:
    """Medians of draws with replacement from one side."""
    drawn = x[rng.integers(0, len(x), (DRAWS, len(x)))]
    if smooth:
        iqr = float(np.subtract(*np.percentile(x, [75, 25])))
        width = 0.9 * min(float(x.std(ddof=1)), iqr / 1.34) * len(x) ** -0.2
        drawn = drawn + width * rng.standard_normal(drawn.shape)
    return np.median(drawn, axis=1)


def _bca(x: Floats, y: Floats, drawn: Floats) -> tuple[float, float]:
    """B. Efron, 1987: corrected for bias and acceleration."""
    observed = float(np.median(x) - np.median(y))
    below = ((drawn < observed).mean() + (drawn <= observed).mean()) / 2
    bias = float(stats.norm.ppf(np.clip(below, 1 / DRAWS, 1 - 1 / DRAWS)))
    without_x = np.array([np.median(np.delete(x, i)) for i in range(len(x))])
    without_y = np.array([np.median(np.delete(y, i)) for i in range(len(y))])
    influence = np.concatenate([without_x.mean() - without_x, without_y - without_y.mean()])
    squares = float((influence**2).sum())
    acceleration = float((influence**3).sum()) / (6 * squares**1.5) if squares > 0 else 0.0
    levels = [bias + (bias + z) / (1 - acceleration * (bias + z)) for z in (-1.959964, 1.959964)]
    low, high = (float(np.quantile(drawn, float(stats.norm.cdf(level)))) for level in levels)
    return low, high


def bootstrap(kind: str) -> Interval:
    """Of the ratio of medians, a row after the other."""

    def interval(new: Floats, base: Floats) -> tuple[Floats, Floats]:
        bounds = []
        for x, y in zip(np.log(new), np.log(base), strict=True):
            smooth = kind == "smoothed"
            drawn = _medians_drawn(x, smooth) - _medians_drawn(y, smooth)
            low_high = _bca(x, y, drawn) if kind == "BCa" else np.quantile(drawn, [0.025, 0.975])
            bounds.append(low_high)
        low, high = np.exp(np.array(bounds)).T
        return low, high

    return interval


def price_bonett(new: Floats, base: Floats) -> tuple[Floats, Floats]:
    """R. M. Price and D. G. Bonett, 2002, on the ratio of medians."""

    def variance(rows: Floats) -> Floats:
        n = rows.shape[1]
        cut = max(round((n + 1) / 2 - math.sqrt(n)), 1)
        tail = sum(math.comb(n, i) for i in range(cut)) * 0.5 ** (n - 1)
        ordered = np.sort(rows, axis=1)
        width = ordered[:, n - cut] - ordered[:, cut - 1]
        variances: Floats = (width / (2 * stats.norm.ppf(1 - tail / 2))) ** 2
        return variances

    x = np.log(new)
    y = np.log(base)
    middle = np.median(x, axis=1) - np.median(y, axis=1)
    error = 1.959964 * np.sqrt(variance(x) + variance(y))
    return np.exp(middle - error), np.exp(middle + error)


def welch(new: Floats, base: Floats) -> tuple[Floats, Floats]:
    """Means of logarithms, B. L. Welch, 1947."""
    x = np.log(new)
    y = np.log(base)
    n = x.shape[1]
    a = x.var(axis=1, ddof=1) / n
    b = y.var(axis=1, ddof=1) / n
    freedom = (a + b) ** 2 / ((a**2 + b**2) / (n - 1))
    middle = x.mean(axis=1) - y.mean(axis=1)
    error = stats.t.ppf(0.975, freedom) * np.sqrt(a + b)
    return np.exp(middle - error), np.exp(middle + error)


def ranks(new: Floats, base: Floats) -> tuple[Floats, Floats]:
    """Hodges and Lehmann: the one that is used."""
    judgements = judged(new, base)
    return judgements.low, judgements.high


CANDIDATES: dict[str, tuple[Interval, int]] = {
    "medians, percentile bootstrap": (bootstrap("percentile"), SLOW),
    "medians, BCa bootstrap": (bootstrap("BCa"), SLOW),
    "medians, smoothed bootstrap": (bootstrap("smoothed"), SLOW),
    "medians, Price and Bonett": (price_bonett, FAST),
    "means of logarithms, Welch": (welch, FAST),
    "Hodges and Lehmann": (ranks, FAST),
}


def intervals() -> None:
    shapes = "".join(f"{shape:>13}" for shape in SHAPES)
    print(f"{'':32}{'n':>3} {shapes}   width  5 % found  with outliers")
    for name, (interval, count) in CANDIDATES.items():
        for n in (5, 10, 20):
            covered = []
            for shape in SHAPES:
                low, high = interval(*sides(rng, count, n, CV, shape))
                covered.append(f"{100 * float(((low <= 1) & (high >= 1)).mean()):12.1f} ")
            low, high = interval(*sides(rng, count, n, CV, ratio=1.05))
            outlying, _ = interval(*sides(rng, count, n, CV, "outliers", ratio=1.05))
            found_shares = "".join(
                f"{100 * float((bounds > 1.02).mean()):9.0f} %" for bounds in (low, outlying)
            )
            width = 100 * float(np.median(high - low))
            print(f"{name:32}{n:3d} {''.join(covered)} {width:5.1f} %{found_shares}", flush=True)


def alarms() -> None:
    print("\nthe same thing twice: told apart by the rule, and by the test alone")
    for cv in (0.01, 0.02, 0.05, 0.1):
        for n in (5, 10, 20):
            judgements = judged(*sides(rng, FAST, n, cv))
            shares = f"{judgements.flagged:6.2%} {judgements.rejected:6.2%}"
            print(f"  deviation {100 * cv:4.0f} %, {n:2d} runs: {shares}")

    print("\nthe same thing twice while the machine loses 3 %, 10 runs:")
    print("told apart by the rule, and by the test alone")
    for drift in ("steady", "sudden"):
        for order in ("interleaved", "consecutive"):
            for cv in (0.01, 0.02):
                judgements = judged(*drifting(rng, FAST, 10, cv, drift, order))
                shares = f"{judgements.flagged:6.2%} {judgements.rejected:6.2%}"
                print(f"  {drift}, {order:11}, deviation {100 * cv:.0f} %: {shares}")


if __name__ == "__main__":
    intervals()
    alarms()
