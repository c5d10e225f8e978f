"""Computes the smallest difference that runs can show, and the number of runs that a difference
needs."""

import math
import statistics
from collections.abc import Sequence

from msgspec import Struct

from report.base.contract import CONSTANTS
from report.statistics.rank_test import exact_coverage, exact_rank, smallest_p, student_quantile
from report.statistics.ratio import ALPHA, log_ratios_of_pairs
from report.statistics.samples import MIN_ROUNDS_TO_PAIR, Sample
from report.statistics.systematic_error import NONE_APPLIES, SystematicError

#: Fewer runs per side, or fewer pairs, decide nothing (rule M17). `src/contract/statistics.ts`
#: gives the reasons.
MIN_RUNS_FOR_A_CLAIM: int = CONSTANTS["min_runs"]
MIN_PAIRS_FOR_A_CLAIM: int = CONSTANTS["min_pairs"]

#: The probability with which a true difference has to be found.
POWER = 0.8

#: A larger number of runs per side is no useful advice.
MAX_RUNS = 1000

#: With more runs of both sides together, some exact level lies within a thousandth of 5 %.
_FEW = 40

#: The variance of the Hodges-Lehmann estimate relative to that of a mean, for normal figures
#: (Pitman efficiency 3/π).
_VARIANCE_FACTOR = math.pi / 3


def log_deviation(*sides: Sequence[float]) -> float | None:
    """The pooled standard deviation of the logarithms within the sides, which is nearly the
    coefficient of variation as a share. None if no side has two figures, or a figure is 0 or
    infinite."""
    if not all(0 < value < math.inf for side in sides for value in side):
        return None
    logs = [[math.log(value) for value in side] for side in sides if len(side) > 1]
    freedom = sum(len(side) - 1 for side in logs)
    if freedom == 0:
        return None
    return math.sqrt(sum((len(side) - 1) * statistics.variance(side) for side in logs) / freedom)


def log_deviation_of_pairs(pairs: Sequence[tuple[float, float]]) -> float | None:
    """The standard deviation of the logarithms of the ratios within pairs. None below two pairs,
    and if a figure is 0 or infinite."""
    if len(pairs) < 2 or not all(0 < value < math.inf for pair in pairs for value in pair):
        return None
    return float(statistics.stdev(log_ratios_of_pairs(pairs).tolist()))


def sample_deviation(sample: Sample, paired: bool) -> float | None:
    return (
        log_deviation_of_pairs(sample.pairs) if paired else log_deviation(sample.new, sample.base)
    )


class Method(Struct, frozen=True):
    """How two sides are compared."""

    paired: bool
    fewest: int
    """The fewest runs per side, or pairs, for a claim."""
    least: int
    """The fewest runs per side, or pairs, that are advised."""


UNPAIRED = Method(paired=False, fewest=MIN_RUNS_FOR_A_CLAIM, least=MIN_RUNS_FOR_A_CLAIM)
PAIRED = Method(paired=True, fewest=MIN_PAIRS_FOR_A_CLAIM, least=MIN_ROUNDS_TO_PAIR)
#: Runs by turns are compared by pairs, however few they are.
TOGETHER = Method(paired=True, fewest=MIN_PAIRS_FOR_A_CLAIM, least=MIN_PAIRS_FOR_A_CLAIM)
#: Between campaigns each side consists of rounds with pairs of a row and the reference (rule M22).
BETWEEN = Method(paired=False, fewest=MIN_PAIRS_FOR_A_CLAIM, least=MIN_PAIRS_FOR_A_CLAIM)


def fewest_for_a_claim(by_turns: bool) -> int:
    """The fewest runs of each side for a claim."""
    return (TOGETHER if by_turns else UNPAIRED).fewest


def fewest_to_decide(by_turns: bool, comparisons: int) -> int:
    """The fewest runs of each side with which one of so many comparisons can pass the test that
    Holm corrects."""
    runs = fewest_for_a_claim(by_turns)
    while smallest_p(runs, None if by_turns else runs) * comparisons > ALPHA:
        runs += 1
    return runs


def standard_error(deviation: float, n: int, m: int | None) -> float:
    """The standard error of the Hodges-Lehmann estimate. Here and below, `n` and `m` are the runs
    of the sides, and `m` is None if `n` counts pairs."""
    return deviation * math.sqrt(_VARIANCE_FACTOR * (1 / n if m is None else 1 / n + 1 / m))


def freedom(n: int, m: int | None) -> int:
    """The degrees of freedom."""
    return n - 1 if m is None else n + m - 2


def _reach(n: int, m: int | None, alpha: float, power: float) -> float:
    """The number of standard errors between a true difference and a bound with which the interval
    lies beyond the bound with this power."""
    return student_quantile(freedom(n, m), 1 - alpha / 2) + statistics.NormalDist().inv_cdf(power)


def _interval_alpha(n: int, m: int | None) -> float:
    """The share that the interval really leaves out, because few runs have few levels to choose
    from."""
    if n + (m or 0) > _FEW:
        return ALPHA
    return 1 - exact_coverage(n, m, exact_rank(n, m, ALPHA))


def detectable_difference(
    n: int,
    m: int | None,
    deviation: float,
    margin: float,
    comparisons: int = 1,
    method: Method = UNPAIRED,
    systematic: SystematicError = NONE_APPLIES,
) -> float | None:
    """The smallest true difference, as a share of the base, that is found in 80 % of such
    comparisons.

    It uses the t approximation of the rank interval (J. Cohen, Statistical Power Analysis, 2nd ed.,
    1988, chapter 2, with the variance by Hodges and Lehmann, 1963).

    None if the runs are too few to show any difference. `deviation` is that of the logarithms, see
    `log_deviation`. `margin` is the share beyond which a difference must lie, and `comparisons` the
    number for Holm's correction. `systematic` widens the interval."""
    if min(n, m or n) < method.fewest or smallest_p(n, m) * comparisons > ALPHA:
        return None

    error = standard_error(deviation, n, m)
    bound = math.log1p(margin) + systematic.log
    beyond_margin = bound + _reach(n, m, _interval_alpha(n, m), POWER) * error
    tested = _reach(n, m, ALPHA / comparisons, POWER) * error
    return math.expm1(max(beyond_margin, tested))


def runs_needed(
    ratio: float,
    deviation: float,
    margin: float,
    comparisons: int = 1,
    method: Method = UNPAIRED,
    *,
    systematic: SystematicError = NONE_APPLIES,
) -> int | None:
    """Runs per side with which a comparison would be decided in 80 % of cases, if `ratio` is the
    true one.

    A ratio beyond the margin is decided if the interval lies beyond it and the corrected test
    agrees, and a ratio within it if the interval lies within and its corrected test agrees. The
    result is a guide and no promise, because observed figures are uncertain themselves. It is at
    least `method.least`, and None for more than 1000, as for a ratio that is the margin itself. It
    is None, too, for a ratio whose distance to the margin is below the systematic error, and within
    the margin if a component of that was not measured."""
    shift = abs(math.log(ratio))
    bound = math.log1p(margin)
    gap = abs(shift - bound) - systematic.log
    is_within = shift < bound
    if gap < 0 or (is_within and systematic.unmeasured):
        return None
    power = (1 + POWER) / 2 if is_within else POWER

    def decided(n: int) -> bool:
        m = None if method.paired else n
        error = standard_error(deviation, n, m)
        if _reach(n, m, _interval_alpha(n, m), power) * error > gap:
            return False

        # The test of a ratio within the margin is one-sided, and about a bound.
        alpha, distance = (2 * ALPHA, gap) if is_within else (ALPHA, shift)
        is_significant = _reach(n, m, alpha / comparisons, power) * error <= distance
        return is_significant and smallest_p(n, m) * comparisons <= alpha

    if not decided(MAX_RUNS):
        return None

    low = method.least
    high = MAX_RUNS
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if decided(middle) else (middle + 1, high)
    return low
