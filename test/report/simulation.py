"""Runs drawn from known populations: what the study in the tests and `npm run bench:statistics` count."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from report.statistics.rank_test import exact_rank

Floats = NDArray[np.float64]
Shape = Callable[[np.random.Generator, tuple[int, ...]], Floats]

#: Around 0, of about unit scale: steady runs, slow outliers, heavy tails, a machine with two states.
SHAPES: dict[str, Shape] = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "skewed": lambda rng, size: -rng.exponential(size=size),
    "heavy-tailed": lambda rng, size: rng.standard_t(3, size) / math.sqrt(3),
    "outliers": lambda rng, size: rng.standard_normal(size) - 5 * (rng.random(size) < 0.1),
    "two levels": lambda rng, size: np.sign(rng.random(size) - 0.5) + 0.3 * rng.standard_normal(size),
}


def sides(
    rng: np.random.Generator, count: int, runs: int, cv: float = 0.02, shape: str = "normal", ratio: float = 1
) -> tuple[Floats, Floats]:
    """New and base, `count` rows of `runs` figures: their logarithms deviate by `cv`, new lies at `ratio`."""
    new, base = (1000 * np.exp(cv * SHAPES[shape](rng, (count, runs))) for _ in range(2))
    return ratio * new, base


@dataclass(frozen=True)
class Judged:
    """What the rule says of many comparisons without ties, each a family of its own. The tests hold it
    against the rule itself."""

    low: Floats
    high: Floats
    floor: float = 0.02

    @property
    def rejected(self) -> float:
        """By the exact test alone: the interval leaves out 1 exactly then (`test_rank_test`)."""
        return float(((self.low > 1) | (self.high < 1)).mean())

    @property
    def better(self) -> float:
        return float((self.low > 1 + self.floor).mean())

    @property
    def worse(self) -> float:
        return float((self.high < 1 - self.floor).mean())

    @property
    def flagged(self) -> float:
        return self.better + self.worse

    @property
    def decided(self) -> float:
        within = (self.low >= 1 - self.floor) & (self.high <= 1 + self.floor)
        return self.flagged + float(within.mean())

    def covers(self, ratio: float) -> float:
        return float(((self.low <= ratio) & (ratio <= self.high)).mean())


def judged(new: Floats, base: Floats) -> Judged:
    """The intervals of all rows at once."""
    n, m = new.shape[1], base.shape[1]
    ratios = (new[:, :, None] / base[:, None, :]).reshape(len(new), n * m)
    rank = exact_rank(n, m, 0.05)
    ratios.partition([rank - 1, n * m - rank], axis=1)
    return Judged(ratios[:, rank - 1], ratios[:, n * m - rank])


def drifting(
    rng: np.random.Generator, count: int, runs: int, cv: float, drift: str, order: str
) -> tuple[Floats, Floats]:
    """A and B, the same thing, on a machine that loses 3 % over the campaign: `steady` or `sudden`."""
    if order == "interleaved":
        coin = rng.integers(0, 2, (count, runs))
        a, b = 2 * np.arange(runs) + coin, 2 * np.arange(runs) + 1 - coin
    else:
        place = np.tile(np.arange(2 * runs), (count, 1))
        a, b = place[:, :runs], place[:, runs:]
    time = np.arange(2 * runs) / (2 * runs - 1)
    speed = 1 - 0.03 * (time if drift == "steady" else (time >= 0.5).astype(float))
    noise = np.exp(cv * rng.standard_normal((2, count, runs)))
    return 1000 * speed[a] * noise[0], 1000 * speed[b] * noise[1]
