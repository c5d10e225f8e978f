"""What is concluded by turns where all rounds share a bias, for `npm run bench:conclusions`.

Simulated rounds go through the decision rule of the report: a family of targets against their
reference, with a bias of each pair inside its systematic error, groups of equal and of unequal
size, and log ratios that remember the round before. Where groups are unequal, the bias of a pair in
a small group is half of that in a large one.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from statistics import fmean

import numpy as np

from report.statistics.decision import compare_samples
from report.statistics.samples import Sample
from report.statistics.systematic_error import SystematicError

#: The bounds of the components. The root of their summed squares is the systematic error.
BOUNDS = {"start of a turn": 0.012, "drift": 0.006, "group size": 0.008, "order": 0.004}
SYSTEMATIC = SystematicError(share=math.sqrt(sum(bound**2 for bound in BOUNDS.values())))

#: The usual deviation of the log ratio of a pair.
_DEVIATION = 0.05
_TARGETS = 4
_ROUNDS = 12

CORRELATIONS = (0.0, 0.3)
SIZES = ("equal", "unequal")


def _remembering(
    rng: np.random.Generator, correlation: float
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Deviations of rounds, of which each remembers the one before."""
    draws = rng.standard_normal(_ROUNDS)
    for index in range(1, _ROUNDS):
        draws[index] = correlation * draws[index - 1] + math.sqrt(1 - correlation**2) * draws[index]
    return _DEVIATION * draws


def _sample(rng: np.random.Generator, correlation: float, sizes: str, ratio: float) -> Sample:
    bias = SYSTEMATIC.log * rng.uniform(-1, 1)
    is_small = rng.random(_ROUNDS) < (0.5 if sizes == "unequal" else 0)
    logs = math.log(ratio) + bias * np.where(is_small, 0.5, 1) + _remembering(rng, correlation)
    pairs = tuple((math.exp(log), 1.0) for log in logs.tolist())
    return Sample(
        new=tuple(new for new, _ in pairs),
        base=tuple(base for _, base in pairs),
        pairs=pairs,
        rounds=_ROUNDS,
        together=True,
        systematic=SYSTEMATIC,
    )


def by_turns(
    correlation: float, sizes: str, campaigns: int, seed: int = 1
) -> Mapping[str, list[float]]:
    """The shares of each campaign: of intervals that cover the true ratio, and whether its family
    claims a wrong direction, or no difference beyond the margin."""
    rng = np.random.default_rng(seed)
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for _ in range(campaigns):
        ratios = [1.0, 1.0, 1.0, 1.03][:_TARGETS]
        comparisons = compare_samples(
            [_sample(rng, correlation, sizes, ratio) for ratio in ratios], with_outlook=False
        )
        covered = []
        is_wrong = False
        for ratio, comparison in zip(ratios, comparisons, strict=True):
            interval = comparison.interval
            if interval:
                covered.append(interval.low <= ratio <= interval.high)
            direction = {1.0: None}.get(ratio, "better")
            is_wrong |= comparison.direction not in (None, direction)
            is_wrong |= ratio != 1 and comparison.status == "no difference"
        shares["covered"].append(fmean(covered))
        shares["false conclusion"].append(float(is_wrong))
    return shares
