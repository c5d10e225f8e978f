"""How much of the noise lies between repeated campaigns, and how much within each (M32)."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

#: Fewer campaigns say next to nothing of how campaigns differ.
MIN_CAMPAIGNS = 5

_ALPHA = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceComponents:
    """Spread of campaigns that measured the same. Deviations are of logarithms: 0.02 is nearly 2 %."""

    campaigns: int
    runs: int
    within: float
    """Standard deviation of the runs of one campaign."""
    between: float
    """Standard deviation of the campaigns' own levels, without what the runs add; 0 where they differ by no
    more than the runs within explain."""
    apart: float
    """A share: the levels of two campaigns are no further apart in 95 % of cases."""


def variance_components(campaigns: Sequence[Sequence[float]]) -> VarianceComponents:
    """One-way random effects: a run is the level of its campaign and an error of its own.

    The estimates are those of the analysis of variance, which allow for campaigns of different sizes
    (S. R. Searle, G. Casella, C. E. McCulloch, Variance Components, 1992, section 3.6); why levels above the
    run count for computers: T. Kalibera and R. Jones, "Rigorous benchmarking in reasonable time" (ISMM 2013).
    Two levels differ by a normal deviate of twice the variance between; as that is itself an estimate from
    few campaigns, the quantile is that of Student's t with one degree of freedom less than campaigns.

    Args:
        campaigns: the figures of each, positive, at least two of each.
    Raises:
        ValueError: there are fewer than five campaigns, or one has fewer than two figures, or one that is not
            positive and finite.
    """
    if len(campaigns) < MIN_CAMPAIGNS:
        raise ValueError(f"needs at least {MIN_CAMPAIGNS} campaigns, got {len(campaigns)}")
    if any(len(each) < 2 or not all(0 < value < math.inf for value in each) for each in campaigns):
        raise ValueError("needs at least two positive figures of each campaign")
    logs = [[math.log(value) for value in each] for each in campaigns]
    sizes = [len(each) for each in logs]
    runs, count = sum(sizes), len(logs)
    overall = sum(map(sum, logs)) / runs
    means = [statistics.fmean(each) for each in logs]
    error = sum((value - mean) ** 2 for each, mean in zip(logs, means, strict=True) for value in each) / (
        runs - count
    )
    effect = sum(size * (mean - overall) ** 2 for size, mean in zip(sizes, means, strict=True)) / (count - 1)
    typical_size = (runs - sum(size**2 for size in sizes) / runs) / (count - 1)
    between = math.sqrt(max(0.0, (effect - error) / typical_size))
    return VarianceComponents(
        campaigns=count,
        runs=runs,
        within=math.sqrt(error),
        between=between,
        apart=math.expm1(_quantile(count - 1) * math.sqrt(2) * between),
    )


def _quantile(freedom: int) -> float:
    # Loading SciPy takes half a second, and most reports do not need it.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 1 - _ALPHA / 2))
