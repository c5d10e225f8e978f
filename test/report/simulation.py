"""Draws runs from known populations, for the study in the tests and for `npm run
bench:statistics`."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Shape = Callable[[np.random.Generator, tuple[int, ...]], Floats]

#: Deviations around 0 of about unit scale. They are those of steady runs, slow outliers, heavy
#: tails, and a machine with two states.
SHAPES: dict[str, Shape] = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "skewed": lambda rng, size: -rng.exponential(size=size),
    "heavy-tailed": lambda rng, size: rng.standard_t(3, size) / math.sqrt(3),
    "outliers": lambda rng, size: rng.standard_normal(size) - 5 * (rng.random(size) < 0.1),
    "two levels": lambda rng, size: (
        np.sign(rng.random(size) - 0.5) + 0.3 * rng.standard_normal(size)
    ),
}


def sides(
    rng: np.random.Generator,
    count: int,
    runs: int,
    cv: float = 0.02,
    shape: str = "normal",
    ratio: float = 1,
) -> tuple[Floats, Floats]:
    """New and base, `count` rows of `runs` figures: their logarithms deviate by `cv`, new lies at
    `ratio`."""
    new, base = (1000 * np.exp(cv * SHAPES[shape](rng, (count, runs))) for _ in range(2))
    return ratio * new, base
