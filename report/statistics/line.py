"""A straight line through points, by least squares."""

import math
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
    count = len(points)
    mean_x = math.fsum(x for x, _ in points) / count if count else 0.0
    mean_y = math.fsum(y for _, y in points) / count if count else 0.0
    square_x = math.fsum((x - mean_x) ** 2 for x, _ in points)
    if square_x == 0:
        raise ValueError("a line needs two different x")
    slope = math.fsum((x - mean_x) * (y - mean_y) for x, y in points) / square_x
    intercept = mean_y - slope * mean_x
    freedom = count - 2
    if freedom < 1:
        return Line(slope, intercept, None, None)

    residual = math.fsum((y - intercept - slope * x) ** 2 for x, y in points)
    reach = student_quantile(freedom, 1 - ALPHA / 2) * math.sqrt(residual / freedom / square_x)
    return Line(slope, intercept, slope - reach, slope + reach)
