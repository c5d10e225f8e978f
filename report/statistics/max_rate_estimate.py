"""Estimates the highest rate that keeps an objective from trials at several rates (rule M30)."""

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from report.base.contract import CONSTANTS
from report.statistics.rank_test import Floats, student_quantile

#: The share that the interval leaves out, on both sides together.
_ALPHA: float = CONSTANTS["level"]

#: How far beyond the tried rates the search goes. An end of the interval that lies further is open.
_REACH = math.log(4)
_POINTS_INSIDE = 48
_POINTS_OUTSIDE = 6

#: The number of points among which the likeliest rate is searched, and the number and points of the
#: refinements that find an end.
_POINTS_BEST = 17
_REFINEMENTS = 2
_POINTS_REFINED = 9

#: The tried total deviations of the logarithm of the bound. With the last one rates say nothing.
_DEVIATIONS = (*np.geomspace(0.0002, 0.3, 11), 1e3)
#: The tried shares of the variance that lie between rounds.
_BETWEEN_ROUNDS = (0.0, 0.5, 0.85, 0.97)
#: The levels of a round in deviations between rounds, and their weights (Gauss and Hermite).
_LEVELS, _WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
#: The scale of a logistic curve with deviation 1.
_LOGISTIC_SCALE = math.sqrt(3) / math.pi


class RateEstimate(Struct, frozen=True, kw_only=True):
    """Rates are per second. A rate is None if the trials do not bound it on that side."""

    trials: int
    kept: int
    estimate: float | None
    """The rate that half of the trials keep, per second."""
    low: float | None
    high: float | None


def estimate_max_rate(trials: Sequence[tuple[float, bool]]) -> RateEstimate:
    """The rate that half of the trials keep, with an interval of 95 %.

    The chance to keep a rate falls with its logarithm along a logistic curve (D. J. Finney, Probit
    Analysis, 3rd ed., 1971, chapters 3 and 17). The trials of a round share a state of the host,
    which moves the curve. That is a normal deviation of each round, over which the likelihood is
    averaged (A. Agresti, Categorical Data Analysis, 3rd ed., 2013, chapter 13).

    The interval holds the rates that the likelihood ratio does not reject, each with the deviations
    that suit it best (D. A. Williams, "Interval estimation of the median lethal dose", Biometrics
    42, 1986). Unlike that of Fieller it exists if every trial up to a rate is kept and every one
    above it missed, and is then hardly wider than the gap between the two. Its bound is not the
    quantile of χ², which promises too much with a few dozen trials (Finney, section 4.6). It is
    that of Student's t, squared, with one degree of freedom less than each rate has trials.

    Each trial has its rate per second and whether it was kept. Trials are in order of time, and a
    round ends before a rate that it has tried already. Raises ValueError for fewer than five
    trials, or a rate that is not above 0."""
    if len(trials) < 5 or min(rate for rate, _ in trials) <= 0:
        raise ValueError("needs at least five trials at rates above 0")

    likelihood = _Likelihood(trials)
    points = _points(likelihood.logs)
    likelihoods = likelihood.at(points)

    likeliest = np.flatnonzero(likelihoods.max() - likelihoods <= 1e-6)
    end = len(points) - 1
    open_ended = likeliest[0] == 0 or likeliest[-1] == end
    near = points[[max(likeliest[0] - 1, 0), min(likeliest[-1] + 1, end)]]
    estimate, best = likelihood.best_between(near[0], near[1])

    least = max(best, float(likelihoods.max())) - _bound(likelihood.logs) / 2
    first, last = np.flatnonzero(likelihoods >= least)[[0, -1]]
    low = None
    if first != 0:
        low = math.exp(likelihood.crossing(points[first], points[first - 1], least))
    high = None
    if last != end:
        high = math.exp(likelihood.crossing(points[last], points[last + 1], least))

    return RateEstimate(
        trials=len(trials),
        kept=int(likelihood.kept.sum()),
        estimate=None if open_ended else math.exp(estimate),
        low=low,
        high=high,
    )


def _bound(logs: Floats) -> float:
    """How much twice the logarithm of the likelihood may fall within the interval."""
    per_rate = int(np.unique(logs, return_counts=True)[1].max())
    return student_quantile(max(1, per_rate - 1), 1 - _ALPHA / 2) ** 2


def _points(logs: Floats) -> Floats:
    """The logarithms of the rates at which the likelihood is computed first."""
    low = float(logs.min())
    high = float(logs.max())
    margin = max((high - low) / 2, 0.05)
    inside = np.linspace(low - margin, high + margin, _POINTS_INSIDE)
    return np.concatenate(
        [
            np.linspace(low - margin - _REACH, low - margin, _POINTS_OUTSIDE, endpoint=False),
            inside,
            np.linspace(high + margin, high + margin + _REACH, _POINTS_OUTSIDE + 1)[1:],
        ]
    )


def _rounds(rates: Sequence[float]) -> list[int]:
    """The index of the round of each trial. A round ends before a rate that it has tried
    already."""
    indices = [0]
    tried_rates = {rates[0]}
    for rate in rates[1:]:
        if rate in tried_rates:
            indices.append(indices[-1] + 1)
            tried_rates = {rate}
        else:
            indices.append(indices[-1])
            tried_rates.add(rate)
    return indices


class _Likelihood:
    """The likelihood of the trials under the assumption that half of them keep a given rate."""

    def __init__(self, trials: Sequence[tuple[float, bool]]) -> None:
        self.logs: Floats = np.log([rate for rate, _ in trials])
        self.kept = np.array([kept for _, kept in trials], dtype=bool)
        rounds = np.array(_rounds([rate for rate, _ in trials]))
        self._is_in_round = (rounds[:, None] == np.arange(rounds[-1] + 1)).astype(float)

    def at(self, points: Floats) -> Floats:
        """The logarithm of the likelihood at each logarithm of a rate, with the deviations that
        make it largest."""
        signed = np.where(self.kept, 1.0, -1.0)
        distances = signed * (points[:, None] - self.logs)
        likelihoods = np.full(len(points), -np.inf)
        for deviation in _DEVIATIONS:
            for share in _BETWEEN_ROUNDS:
                levels = _LEVELS * deviation * math.sqrt(share) if share else np.zeros(1)
                weights = _WEIGHTS / _WEIGHTS.sum() if share else np.ones(1)
                scale = deviation * math.sqrt(1 - share) * _LOGISTIC_SCALE
                moved = (distances[:, None, :] + levels[:, None] * signed) / scale
                by_round = -np.logaddexp(0, -moved) @ self._is_in_round

                # The largest one is factored out, so that no exponential becomes 0.
                largest = by_round.max(axis=1, keepdims=True)
                sums = np.tensordot(np.exp(by_round - largest), weights, (1, 0))
                averaged = np.log(sums) + largest[:, 0]
                likelihoods = np.maximum(likelihoods, averaged.sum(axis=1))
        return likelihoods

    def best_between(self, low: float, high: float) -> tuple[float, float]:
        """Returns the likeliest logarithm of a rate, and the logarithm of its likelihood."""
        between = np.linspace(low, high, _POINTS_BEST)
        likelihoods = self.at(between)
        best = float(likelihoods.max())
        first, last = np.flatnonzero(best - likelihoods <= 1e-6)[[0, -1]]
        left = self.crossing(between[first], between[max(first - 1, 0)], best - 1e-6)
        right = self.crossing(between[last], between[min(last + 1, _POINTS_BEST - 1)], best - 1e-6)
        return (left + right) / 2, best

    def crossing(self, inside: float, outside: float, least: float) -> float:
        """The logarithm of a rate between the two at which the likelihood falls below `least`."""
        for _ in range(_REFINEMENTS):
            between = np.linspace(inside, outside, _POINTS_REFINED)
            indices = np.flatnonzero(self.at(between) >= least)
            last = indices[-1] if len(indices) else 0
            inside = between[last]
            outside = between[min(last + 1, _POINTS_REFINED - 1)]
        return float(inside)
