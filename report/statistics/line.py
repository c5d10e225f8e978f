"""A straight line through points, by least squares."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from report.statistics.rank_test import student_quantile
from report.statistics.ratio import ALPHA


@dataclass(frozen=True, slots=True)
class Line:
    slope: float
    intercept: float
    low: float | None
    """The lower end of the slope's interval, at 95 %; None below three points, like `high`."""
    high: float | None


def least_squares(points: Sequence[tuple[float, float]]) -> Line:
    """The line with the smallest sum of squared vertical distances, and the t interval of its slope (N.
    Draper and H. Smith, Applied Regression Analysis, 3rd ed., 1998, chapter 1)."""
    if len({x for x, _ in points}) < 2:
        raise ValueError("a line needs two different x")
    xs, ys = zip(*points, strict=True)
    slope, intercept = statistics.linear_regression(xs, ys)
    freedom = len(points) - 2
    if freedom < 1:
        return Line(slope, intercept, None, None)
    residual = math.fsum((y - intercept - slope * x) ** 2 for x, y in points)
    square_x = statistics.variance(xs) * (len(points) - 1)
    reach = student_quantile(freedom, 1 - ALPHA / 2) * math.sqrt(residual / freedom / square_x)
    return Line(slope, intercept, slope - reach, slope + reach)
