"""Estimates of differences without the bias that an early end gives them (rule M29)."""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from msgspec import Struct, structs

from report.statistics.comparison import Comparison
from report.statistics.power import freedom, sample_deviation, standard_error
from report.statistics.rank_test import Floats, student_quantile
from report.statistics.samples import MIN_ROUNDS_TO_PAIR, Sample

#: The nodes of the numerical integration. Twice as many change no printed digit.
_NODES = 48
#: The number of standard deviations beyond which nothing is integrated.
_TAIL = 8.0
_BISECTIONS = 40


def corrected_for_looks(
    comparison: Comparison, sample: Sample, looks: Sequence[tuple[int, float]], margin: float
) -> Comparison:
    """The comparison with an estimate that takes the earlier looks into account (rule M29), and
    lies within the interval. `stopped_at` keeps the plain estimate.

    Boundaries are those of a single comparison, because its family does not change a ratio."""
    unpaired = sample_deviation(sample, paired=False)
    paired = sample_deviation(sample, paired=True) if comparison.pairs is not None else None
    if comparison.ratio is None or comparison.interval is None or not unpaired or len(looks) < 2:
        return comparison

    def error_at(look: int) -> tuple[float, int]:
        # Earlier looks of a comparison by pairs may have been too early for pairs.
        if paired is not None and (sample.together or look >= MIN_ROUNDS_TO_PAIR):
            return standard_error(paired, look, None), freedom(look, None)
        return standard_error(unpaired, look, look), freedom(look, look)

    # The systematic error widens the interval, and so moves the boundary as a larger margin does.
    widened = (1 + margin) * (1 + comparison.systematic.share) - 1
    past = [PastLook(look, boundary_of(*error_at(look), widened, share)) for look, share in looks]
    last = looks[-1][0]
    deviation = error_at(last)[0] * math.sqrt(last)
    estimate = math.exp(median_unbiased(math.log(comparison.ratio), deviation, past))
    bounded = min(max(estimate, comparison.interval.low), comparison.interval.high)
    return structs.replace(comparison, ratio=bounded, stopped_at=comparison.ratio)


class PastLook(Struct, frozen=True):
    """A look that took place."""

    runs: int
    """The runs per side."""
    boundary: float
    """The smallest log ratio that it would have called a difference."""


def boundary_of(error: float, freedom: int, margin: float, share: float) -> float:
    """The smallest log ratio that a look calls a difference, because its interval lies beyond the
    margin and the test rejects. It uses the t approximation of the rank interval, as `power.py`
    does."""
    beyond_margin = math.log1p(margin) + student_quantile(freedom, 1 - min(share, 0.025)) * error
    return max(beyond_margin, student_quantile(freedom, 1 - share / 2) * error)


def median_unbiased(log_ratio: float, deviation: float, looks: Sequence[PastLook]) -> float:
    """The log ratio whose distribution has the observed one as its median.

    Outcomes are ordered by stage, so that a difference that an earlier look showed is a larger one
    (S. S. Emerson and T. R. Fleming, 1990, Biometrika 77:875-892; C. Jennison and B. W. Turnbull,
    Group Sequential Methods, 2000, section 8.3). At the first look it is the plain estimate, and
    later a smaller one. Probabilities are integrated numerically from look to look (P. Armitage, C.
    K. McPherson and B. C. Rowe, 1969, J. R. Stat. Soc. A 132:235-244), as if estimates were normal.
    The order has no stops that claim no difference, which moves the result towards 1."""
    if len(looks) < 2 or deviation == 0 or not math.isfinite(log_ratio):
        return log_ratio
    if log_ratio < 0:
        return -median_unbiased(-log_ratio, deviation, looks)

    error = deviation / math.sqrt(looks[-1].runs)
    low = log_ratio - 8 * error
    high = log_ratio + 2 * error
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if _at_least(log_ratio, middle, deviation, looks) > 0.5:
            high = middle
        else:
            low = middle
    return (low + high) / 2


@cache
def _gauss_legendre() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights


def _at_least(log_ratio: float, truth: float, deviation: float, looks: Sequence[PastLook]) -> float:
    """The probability, with this true log ratio, of a difference at an earlier look, or of at least
    the observed one at the last look."""
    # Loading SciPy takes half a second, and most reports do not need it.
    from scipy.special import ndtr

    nodes, weights = _gauss_legendre()
    sums: Floats = np.zeros(1)
    density: Floats = np.ones(1)
    runs_before = 0
    rejected = 0.0
    for number, look in enumerate(looks, start=1):
        added = look.runs - runs_before
        spread = deviation * math.sqrt(added)
        means = sums + truth * added
        is_last = number == len(looks)
        top = look.runs * (log_ratio if is_last else look.boundary)
        rejected += float((density * (1 - ndtr((top - means) / spread))).sum())

        tail = _TAIL * deviation * math.sqrt(look.runs)
        bottom = truth * look.runs - tail
        top = min(top, truth * look.runs + tail)
        if is_last or bottom >= top:
            break

        grid = (top - bottom) / 2 * nodes + (top + bottom) / 2
        distance = (grid[:, None] - means[None, :]) / spread
        passed = np.exp(-(distance**2) / 2) @ density / (spread * math.sqrt(2 * math.pi))
        sums = grid
        density = passed * weights * (top - bottom) / 2
        runs_before = look.runs
    return rejected
