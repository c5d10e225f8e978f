"""The line of least squares, against SciPy."""

import pytest
from scipy.stats import linregress, t

from report.analysis.memory_per_key_rows import least_squares


def test_same_as_scipy() -> None:
    x = [10.0, 10.0, 50.0, 50.0, 100.0, 100.0]
    y = [1500.0, 1490.0, 6800.0, 6900.0, 13500.0, 13100.0]
    line = least_squares(list(zip(x, y, strict=True)))
    expected = linregress(x, y)
    reach = float(t.ppf(0.975, len(x) - 2)) * expected.stderr
    assert line.slope == pytest.approx(expected.slope)
    assert line.intercept == pytest.approx(expected.intercept)
    assert line.low == pytest.approx(expected.slope - reach)
    assert line.high == pytest.approx(expected.slope + reach)


def test_exact_points_have_an_interval_of_no_width() -> None:
    line = least_squares([(1, 197), (2, 394), (3, 591)])
    assert (line.low, line.slope, line.high) == (197, 197, 197)
    assert line.intercept == pytest.approx(0)


def test_two_points_have_no_interval() -> None:
    line = least_squares([(1, 5), (2, 7)])
    assert (line.slope, line.intercept, line.low, line.high) == (2, 3, None, None)


@pytest.mark.parametrize("points", [[], [(1.0, 1.0)], [(1.0, 1.0), (1.0, 2.0)]])
def test_one_x_gives_no_line(points: list[tuple[float, float]]) -> None:
    with pytest.raises(ValueError, match="two different x"):
        least_squares(points)
