"""What a ratio is, of runs that were stopped by what they showed.

Who stops at the first difference that is shown stops at a lucky moment more often than not: the plain
estimate is too far from 1. The median-unbiased one is as often too large as too small.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from report.statistics.rank_test import Floats, student_quantile

#: Nodes of the numerical integration; twice as many change no printed digit.
_NODES = 48
#: Standard deviations beyond which nothing is integrated.
_TAIL = 8.0
_BISECTIONS = 40


@dataclass(frozen=True, slots=True)
class PastLook:
    """`runs` per side at a look, and the smallest log ratio that it would have called a difference."""

    runs: int
    boundary: float


def boundary_of(error: float, freedom: int, floor: float, share: float) -> float:
    """The smallest log ratio that a look calls a difference: its interval lies beyond the floor, and the test
    rejects. By the t approximation of the rank interval, as in `power.py`."""

    beyond_floor = math.log1p(floor) + student_quantile(freedom, 1 - min(share, 0.025)) * error
    return max(beyond_floor, student_quantile(freedom, 1 - share / 2) * error)


def median_unbiased(log_ratio: float, deviation: float, looks: Sequence[PastLook]) -> float:
    """The log ratio whose distribution has the observed one as its median.

    Outcomes are ordered by stage: a difference that an earlier look showed is a larger one (S. S. Emerson and
    T. R. Fleming, 1990, Biometrika 77:875-892; C. Jennison and B. W. Turnbull, Group Sequential Methods,
    2000, section 8.3). So at the first look it is the plain estimate, and later a smaller one. Chances are
    integrated numerically from look to look (P. Armitage, C. K. McPherson and B. C. Rowe, 1969, J. R. Stat.
    Soc. A 132:235-244), as if estimates were normal; stops that claim no difference are left out of the
    order, which moves the result towards 1."""
    if len(looks) < 2 or deviation == 0 or not math.isfinite(log_ratio):
        return log_ratio
    if log_ratio < 0:
        return -median_unbiased(-log_ratio, deviation, looks)
    error = deviation / math.sqrt(looks[-1].runs)
    low, high = log_ratio - 8 * error, log_ratio + 2 * error
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if _at_least(log_ratio, middle, deviation, looks) > 0.5 else (middle, high)
    return (low + high) / 2


@cache
def _gauss_legendre() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights


def _at_least(log_ratio: float, truth: float, deviation: float, looks: Sequence[PastLook]) -> float:
    """The probability of a difference at an earlier look, or of at least this one at the last of them."""
    # Loading SciPy takes half a second, and most reports do not need it.
    from scipy.special import ndtr

    nodes, weights = _gauss_legendre()
    sums: Floats = np.zeros(1)
    density: Floats = np.ones(1)
    before, found = 0, 0.0
    for number, look in enumerate(looks, start=1):
        added = look.runs - before
        spread = deviation * math.sqrt(added)
        means = sums + truth * added
        last = number == len(looks)
        top = look.runs * (log_ratio if last else look.boundary)
        found += float((density * (1 - ndtr((top - means) / spread))).sum())
        tail = _TAIL * deviation * math.sqrt(look.runs)
        bottom, top = truth * look.runs - tail, min(top, truth * look.runs + tail)
        if last or bottom >= top:
            break
        grid = (top - bottom) / 2 * nodes + (top + bottom) / 2
        distance = (grid[:, None] - means[None, :]) / spread
        passed = np.exp(-(distance**2) / 2) @ density / (spread * math.sqrt(2 * math.pi))
        sums, density, before = grid, passed * weights * (top - bottom) / 2, look.runs
    return found
