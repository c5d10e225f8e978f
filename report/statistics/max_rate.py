"""The highest rate that keeps an objective, from trials at several rates (M30)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

#: What the interval leaves out, on both sides together.
_ALPHA = 0.05

#: How far beyond the tried rates the estimate is looked for: an end of the interval that lies beyond is open.
_REACH = math.log(4)
_POINTS_INSIDE, _POINTS_OUTSIDE = 160, 20

#: The steepest curve: within a hundredth of a percent it falls from nearly all trials to nearly none.
_STEEPEST = 50_000.0
_HALVINGS = 30

#: Each refinement finds the end of the interval among so many points.
_REFINEMENTS, _POINTS_REFINED = 2, 33


@dataclass(frozen=True, slots=True, kw_only=True)
class RateEstimate:
    """Rates are per second. None: the trials do not bound it on that side."""

    trials: int
    kept: int
    estimate: float | None
    """The rate that half of the trials keep."""
    low: float | None
    high: float | None


def estimate_max_rate(trials: Sequence[tuple[float, bool]]) -> RateEstimate:
    """The rate that half of the trials keep, with an interval of 95 %.

    The chance to keep a rate falls with its logarithm along a logistic curve (D. J. Finney, Probit Analysis,
    3rd ed., 1971, chapters 3 and 17). The interval holds the rates that the likelihood ratio does not reject,
    each with the steepness that suits it best (D. A. Williams, "Interval estimation of the median lethal
    dose", Biometrics 42, 1986): unlike Fieller's it exists where every trial up to a rate is kept and every
    one above it missed, and is then hardly more than the gap between the two. Its bound is not the quantile
    of χ², which promises too much with a few dozen trials (Finney, section 4.6), but that of Student's t,
    squared, with one degree of freedom less than there are rounds: the trials of a round share a state of the
    host, so the rounds are the sample.

    Args:
        trials: each with its rate, above 0, and whether it was kept; in any order.
    Raises:
        ValueError: there are fewer than five, or a rate is not above 0.
    """
    if len(trials) < 5 or min(rate for rate, _ in trials) <= 0:
        raise ValueError("needs at least five trials at rates above 0")
    logs = np.log([rate for rate, _ in trials])
    kept = np.array([each for _, each in trials], dtype=bool)
    points = _points(logs)
    likelihood = _profile(points, logs, kept)
    best = float(likelihood.max())
    within = best - likelihood <= _bound(logs) / 2
    likeliest = np.flatnonzero(best - likelihood <= 1e-6)
    first, last = np.flatnonzero(within)[[0, -1]]
    end = len(points) - 1
    open_ended = likeliest[0] == 0 or likeliest[-1] == end
    middle = (points[likeliest[0]] + points[likeliest[-1]]) / 2
    return RateEstimate(
        trials=len(trials),
        kept=int(kept.sum()),
        estimate=None if open_ended else math.exp(middle),
        low=None if first == 0 else math.exp(_crossing(points, first, -1, best, logs, kept)),
        high=None if last == end else math.exp(_crossing(points, last, 1, best, logs, kept)),
    )


def _bound(logs: np.ndarray) -> float:
    # Loading SciPy takes half a second, and most reports do not need it.
    from scipy.special import stdtrit

    rounds = int(np.unique(logs, return_counts=True)[1].max())
    return float(stdtrit(max(1, rounds - 1), 1 - _ALPHA / 2)) ** 2


def _points(logs: np.ndarray) -> np.ndarray:
    """Where the likelihood is looked at: densely between the tried rates."""
    low, high = float(logs.min()), float(logs.max())
    margin = max((high - low) / 2, 0.05)
    inside = np.linspace(low - margin, high + margin, _POINTS_INSIDE)
    return np.concatenate(
        [
            np.linspace(low - margin - _REACH, low - margin, _POINTS_OUTSIDE, endpoint=False),
            inside,
            np.linspace(high + margin, high + margin + _REACH, _POINTS_OUTSIDE + 1)[1:],
        ]
    )


def _profile(points: np.ndarray, logs: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The logarithm of the likelihood at each point, if it is the rate that half of the trials keep, with the
    steepness that makes it largest; never one with which higher rates would be kept more often."""
    distances = points[:, None] - logs[None, :]
    # The derivative by the steepness falls: its zero is between these two.
    low, high = np.zeros(len(points)), np.full(len(points), _STEEPEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        rising = ((kept - _logistic(middle[:, None] * distances)) * distances).sum(axis=1) > 0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    exponents = np.where(kept, -1.0, 1.0) * high[:, None] * distances
    found: np.ndarray = -np.logaddexp(0, exponents).sum(axis=1)
    return found


def _logistic(values: np.ndarray) -> np.ndarray:
    found: np.ndarray = 0.5 * (1 + np.tanh(values / 2))
    return found


def _crossing(
    points: np.ndarray, at: int, step: int, best: float, logs: np.ndarray, kept: np.ndarray
) -> float:
    """Between the last point that the interval holds and the next, where it ends."""
    inside, outside = float(points[at]), float(points[at + step])
    least = best - _bound(logs) / 2
    for _ in range(_REFINEMENTS):
        between = np.linspace(inside, outside, _POINTS_REFINED)
        held = np.flatnonzero(_profile(between, logs, kept) >= least)[-1]
        inside, outside = between[held], between[min(held + 1, _POINTS_REFINED - 1)]
    return float(inside)
