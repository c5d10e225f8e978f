"""A ratio adjusted for how fast the host was: beside the plain one, and never in its place."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from report.statistics.ratio import ALPHA, RatioInterval
from report.statistics.signed_rank import exact_paired_coverage, exact_paired_rank, signed_rank_p

#: Fewer rounds cannot reject anything at 5 %: all their signs alike have p = 2^(1 - n).
MIN_ROUNDS = 6


@dataclass(frozen=True, slots=True)
class Round:
    """The two sides of one round. Figures are positive; indices are those of the host's speed, around 1."""

    new: float
    base: float
    new_index: float
    base_index: float


@dataclass(frozen=True, slots=True)
class Adjusted:
    """New ÷ base, as if the host had been equally fast beside both."""

    ratio: float
    interval: RatioInterval
    p: float
    """Exact, of no difference."""
    rounds: int
    slope: float
    """Per cent by which the figure changes with one per cent of the host's speed."""
    explained: float
    """Share of the variance of the rounds' ratios that the host's speed explains, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Why there is no adjusted estimate."""

    reason: str
    balance_p: float | None = None
    """p of the index not depending on the side, where that was tested."""


def adjusted_ratio(rounds: Sequence[Round]) -> Adjusted | Refused:
    """The ratio of two sides from what the host's speed does not explain.

    Covariance adjustment of a randomised experiment (P. R. Rosenbaum, "Covariance adjustment in randomized
    experiments and observational studies", Statistical Science 17:286-327, 2002). If the true ratio is δ (in
    logarithms), the new side's figures less δ do not depend on which side a run is of. Their residuals on
    the index, from a least-squares line that does not know the sides, are then fixed, and within a round
    either side could have had either: the exact distribution of Wilcoxon's signed rank statistic of the
    residuals' differences follows from the random order alone, whether or not the line is right. The
    interval holds each δ that the test does not reject at 5 %, the estimate is the δ at which the statistic
    has its expectation (J. L. Hodges and E. L. Lehmann, 1963).

    Differences within rounds take all drift between them out, so the line has no intercept. With differences
    y of the logarithms and x of the indices' logarithms, the residual of y - δ is a - δ·c with
    a = y - x·Σxy/Σx² and c = 1 - x·Σx/Σx². As c > 0, the statistic falls with δ, and what is to be ordered
    are the quotients (aᵢ + aⱼ)/(cᵢ + cⱼ), i ≤ j: Walsh averages, where there is no index.

    It is only sound where the target does not move the index (a heavy target might, by heating a CPU): then
    the adjustment would take out a part of what is asked. So it is refused where the signed rank test of x
    rejects at 5 %.

    Args:
        rounds: one entry for each round in which both sides have a run and an index.
    Returns:
        `Refused` for fewer than six rounds, for figures or indices that are not positive and finite, where
        the index is the same on both sides of all rounds, and where it depends on the side.
    """
    values = [value for each in rounds for value in (each.new, each.base, each.new_index, each.base_index)]
    if len(rounds) < MIN_ROUNDS:
        return Refused(f"it takes at least {MIN_ROUNDS} rounds in which both have a run")
    if not all(0 < value < math.inf for value in values):
        return Refused("a run failed its load, and has no figure that could be adjusted")
    y = np.array([math.log(each.new / each.base) for each in rounds])
    x = np.array([math.log(each.new_index / each.base_index) for each in rounds])
    squares = float(x @ x)
    if squares == 0:
        return Refused("the host was equally fast beside both in every round")
    balance_p = signed_rank_p(x.tolist())
    if balance_p <= ALPHA:
        return Refused("the host’s speed depends on which of the two ran", balance_p)
    slope = float(x @ y) / squares
    a = y - slope * x
    c = 1 - x * (float(x.sum()) / squares)
    if c.min() <= 0:
        return Refused("a few rounds alone decide how the host’s speed counts", balance_p)
    n = len(rounds)
    first, second = np.triu_indices(n)
    shifts = np.sort((a[first] + a[second]) / (c[first] + c[second]))
    outside = exact_paired_rank(n, ALPHA)
    estimate = float(np.median(shifts))
    spread = float(((y - y.mean()) ** 2).sum())
    left = a - estimate * c
    return Adjusted(
        ratio=math.exp(estimate),
        interval=RatioInterval(
            math.exp(float(shifts[outside - 1])),
            math.exp(float(shifts[-outside])),
            exact_paired_coverage(n, outside),
        ),
        p=signed_rank_p(a.tolist()),
        rounds=n,
        slope=slope,
        explained=max(0.0, 1 - float(((left - left.mean()) ** 2).sum()) / spread) if spread > 0 else 0.0,
    )
