"""What runs can show: the smallest difference that they find, and how many a difference takes."""

import math
import statistics
from collections.abc import Sequence

from report.statistics.rank_test import exact_coverage, exact_rank, smallest_p
from report.statistics.ratio import ALPHA

#: Fewer runs per side than this, and an order of medians is indicative (rule M17): two groups of 4 cannot
#: give an exact Mann-Whitney p below 2/70, too much at 5 % once it is corrected for three comparisons.
MIN_RUNS_FOR_A_CLAIM = 5

#: How often a true difference has to be found.
POWER = 0.8

#: More runs per side than this are no useful advice.
MAX_RUNS = 1000

#: Runs of both sides together; with more, some level lies within a thousandth of 5 %.
_FEW = 40

#: Variance of the Hodges-Lehmann estimate relative to that of a mean, for normal figures (Pitman efficiency
#: 3/π).
_VARIANCE_FACTOR = math.pi / 3


def log_deviation(*sides: Sequence[float]) -> float | None:
    """Standard deviation of the logarithms within the sides, pooled: nearly the coefficient of variation, as
    a share. None where no side has two figures, or a figure is 0 or infinite."""
    if not all(0 < value < math.inf for side in sides for value in side):
        return None
    logs = [[math.log(value) for value in side] for side in sides if len(side) > 1]
    freedom = sum(len(side) - 1 for side in logs)
    if freedom == 0:
        return None
    return math.sqrt(sum((len(side) - 1) * statistics.variance(side) for side in logs) / freedom)


def _standard_error(deviation: float, n: int, m: int) -> float:
    return deviation * math.sqrt(_VARIANCE_FACTOR * (1 / n + 1 / m))


def _reach(n: int, m: int, alpha: float, power: float) -> float:
    """Standard errors between a true difference and a bound, so that it is found beyond it so often."""
    # Loading SciPy takes half a second, and most reports do not need it.
    from scipy.special import stdtrit

    return float(stdtrit(n + m - 2, 1 - alpha / 2)) + statistics.NormalDist().inv_cdf(power)


def _interval_alpha(n: int, m: int) -> float:
    """What the interval really leaves out: few runs have few levels to choose from."""
    return 1 - exact_coverage(n, m, exact_rank(n, m, ALPHA)) if n + m <= _FEW else ALPHA


def detectable_difference(
    n: int, m: int, deviation: float, floor: float, comparisons: int = 1
) -> float | None:
    """The smallest true difference, as a share of the base, that is found in 80 % of such comparisons.

    By the t approximation of the rank interval (J. Cohen, Statistical Power Analysis, 2nd ed., 1988, chapter
    2; variance by Hodges and Lehmann, 1963).

    Args:
        n, m: runs per side.
        deviation: of the logarithms, see `log_deviation`.
        floor: a difference has to lie beyond it, as a share.
        comparisons: how many Holm's correction is for.
    Returns:
        None where so few runs cannot show any difference.
    """
    if min(n, m) < MIN_RUNS_FOR_A_CLAIM or smallest_p(n, m) * comparisons > ALPHA:
        return None
    error = _standard_error(deviation, n, m)
    beyond_floor = math.log1p(floor) + _reach(n, m, _interval_alpha(n, m), POWER) * error
    tested = _reach(n, m, ALPHA / comparisons, POWER) * error
    return math.expm1(max(beyond_floor, tested))


def runs_needed(ratio: float, deviation: float, floor: float, comparisons: int = 1) -> int | None:
    """Runs per side with which a comparison would be decided in 80 % of cases, if `ratio` is the true one.

    Beyond the floor: that the interval lies beyond it and the corrected test agrees. Within it: that the
    interval lies within. Of observed figures it is a guide and no promise: they are uncertain themselves.

    Returns:
        At least 5; None for more than 1000, as for a ratio that is the floor itself.
    """
    shift, bound = abs(math.log(ratio)), math.log1p(floor)
    gap = abs(shift - bound)
    inside = shift < bound
    power = (1 + POWER) / 2 if inside else POWER

    def decided(n: int) -> bool:
        error = _standard_error(deviation, n, n)
        if _reach(n, n, _interval_alpha(n, n), power) * error > gap:
            return False
        return inside or (
            smallest_p(n, n) * comparisons <= ALPHA
            and _reach(n, n, ALPHA / comparisons, power) * error <= shift
        )

    if not decided(MAX_RUNS):
        return None
    low, high = MIN_RUNS_FOR_A_CLAIM, MAX_RUNS
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if decided(middle) else (middle + 1, high)
    return low
