"""A target against itself within one campaign: what comparisons make of no difference at all on this host.

This is the noise of interleaved runs. Of how campaigns differ one says nothing: `variance_components`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from report.statistics.decision import DEFAULT_FLOOR, compare_runs
from report.statistics.power import detectable_difference, log_deviation, runs_needed
from report.statistics.ratio import ALPHA, ratio_of

#: Fewer runs than this give no two sides that may be compared.
MIN_RUNS_FOR_NOISE = 10

_RELABELLINGS = 400

_SEPARATE_SIDE = 5

#: Standard errors around a figure that hold 95 % of its chance.
_WITHIN_95 = 1.959964


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Shares are 0 to 1; a floor of 0.03 is ± 3 %."""

    runs: int
    per_side: int
    comparisons: int
    flagged_share: float
    """The share of comparisons, by the whole rule: reported as different though nothing differs."""
    rejected_share: float
    """The share of comparisons, by the test alone: about 5 % at most if the runs are sound."""
    separate: int
    """How many comparisons of 5 runs per side the runs hold without using one twice."""
    separate_flagged: int
    median_ratio: float
    """How far a typical comparison is off: the larger side ÷ the smaller."""
    chance: float
    """95 % of the interleaved comparisons are off by no more than this."""
    drift: float
    """How far the second half of the runs differs from the first: what interleaving keeps out."""
    deviation: float
    """Standard deviation of the runs' logarithms."""
    detectable: float | None
    runs_for_5_percent: int | None


def noise_of(values: Sequence[float], seed: int = 1, floor: float = DEFAULT_FLOOR) -> Noise:
    """What this host does to comparisons, from runs of one configuration in order of time.

    Two copies of one target in an interleaved campaign are the same runs as these with labels: two
    neighbours make a round, and in each round a coin says which is A. The labels are drawn many times over,
    each time as a plan could have had them, and each time A is compared with B by the rule.

    Args:
        values: positive figures, at least 10; of an odd number the last is left out.
    Raises:
        ValueError: there are fewer, or one is not positive.
    """
    pairs = np.array(values[: len(values) // 2 * 2], dtype=float).reshape(-1, 2)
    deviation = log_deviation(values)
    if 2 * len(pairs) < MIN_RUNS_FOR_NOISE or deviation is None:
        raise ValueError(f"needs at least {MIN_RUNS_FOR_NOISE} positive figures, got {len(values)}")
    coins = np.random.default_rng(seed).integers(0, 2, (_RELABELLINGS, len(pairs)))
    rows = np.arange(len(pairs))
    flagged = rejected = 0
    off: list[float] = []
    for coin in coins:
        a, b = pairs[rows, coin].tolist(), pairs[rows, 1 - coin].tolist()
        found = compare_runs(a, b, floor)
        flagged += found.status in ("better", "worse")
        rejected += found.p is not None and found.p <= ALPHA
        off.append(abs(math.log(found.ratio or 1.0)))
    separate = [
        compare_runs(
            pairs[rows, coins[0]][start : start + _SEPARATE_SIDE].tolist(),
            pairs[rows, 1 - coins[0]][start : start + _SEPARATE_SIDE].tolist(),
            floor,
        ).status
        in ("better", "worse")
        for start in range(0, len(pairs) - _SEPARATE_SIDE + 1, _SEPARATE_SIDE)
    ]
    first, second = pairs[: len(pairs) // 2].ravel().tolist(), pairs[len(pairs) // 2 :].ravel().tolist()
    chance = math.expm1(float(np.quantile(off, 0.95)))
    drift = math.expm1(abs(math.log(ratio_of(second, first).estimate)))
    per_side = len(pairs)
    return Noise(
        runs=2 * per_side,
        per_side=per_side,
        comparisons=_RELABELLINGS,
        flagged_share=flagged / _RELABELLINGS,
        rejected_share=rejected / _RELABELLINGS,
        separate=len(separate),
        separate_flagged=sum(separate),
        median_ratio=math.exp(float(np.median(off))),
        chance=chance,
        drift=drift,
        deviation=deviation,
        detectable=detectable_difference(per_side, per_side, deviation, floor),
        runs_for_5_percent=runs_needed(1.05, deviation, floor),
    )


def floor_from_spread(new: Sequence[float], base: Sequence[float]) -> float | None:
    """What chance alone does to 95 % of comparisons of so many runs, by their own spread: a noise floor for
    hosts on which none was measured. Runs with the worst rank show no spread and are left out. None where the
    spread is not known."""
    sides = [_finite(side) for side in (new, base)]
    deviation = log_deviation(*sides)
    if deviation is None or not all(sides):
        return None
    error = deviation * math.sqrt(math.pi / 3 * sum(1 / len(side) for side in sides))
    return math.expm1(_WITHIN_95 * error)


def _finite(side: Sequence[float]) -> list[float]:
    return [value for value in side if 0 < value < math.inf]


def runs_for_floor(new: Sequence[float], base: Sequence[float], floor: float) -> int | None:
    """How many runs per side of the same spread bring `floor_from_spread` down to `floor`, a share."""
    deviation = log_deviation(_finite(new), _finite(base))
    if deviation is None:
        return None
    return math.ceil(2 * math.pi / 3 * (_WITHIN_95 * deviation / math.log1p(floor)) ** 2)
