"""Change points, on series small enough to compute by hand, and on many drawn ones."""

import numpy as np
import pytest

from report.statistics.instability import ALPHA, MIN_POINTS, change_points, smallest_p

STEP = [100.0, 101.0, 99.0, 100.5, 99.5, 90.0, 91.0, 89.0, 90.5, 89.5]


def test_a_step_is_found_where_it_is() -> None:
    (change,) = change_points(STEP)
    assert (change.index, change.before, change.after) == (5, 100, 90)


def test_p_of_a_perfect_step_is_that_of_all_orders() -> None:
    # Of the C(10, 5) = 252 ways to choose the lower half, 2 separate the halves at the fifth cut; K
    # = 25 is reached at no other cut without that. 2/252 = 0.0079.
    (change,) = change_points(STEP)
    assert change.p == pytest.approx(2 / 252, abs=0.003)
    assert smallest_p(10) == pytest.approx(change.p)


def test_a_step_of_two_percent_or_less_is_not_told() -> None:
    assert change_points([value if value > 95 else value + 8.1 for value in STEP]) == ()


def test_two_steps_are_found() -> None:
    low, high, middle = ([start + n / 10 for n in range(10)] for start in (80.0, 100.0, 90.0))
    assert [change.index for change in change_points([*low, *high, *middle])] == [10, 20]


def test_few_figures_show_nothing() -> None:
    assert change_points([100.0] * 4 + [50.0] * (MIN_POINTS - 5)) == ()
    assert change_points([]) == ()


def test_histories_that_are_searched_together_need_more() -> None:
    assert change_points(STEP, comparisons=1) != ()
    assert change_points(STEP, comparisons=50) == ()
    assert smallest_p(10) > ALPHA / 50


def test_without_a_change_at_most_five_in_a_hundred_are_flagged() -> None:
    draw = np.random.default_rng(7)
    series = draw.normal(100, 5, (400, 14))
    flagged = sum(bool(change_points(list(row))) for row in series)
    # 5 % of 400 is 20, and its standard deviation 4.4.
    assert flagged <= 20 + 3 * 4.4


def test_a_step_of_three_deviations_is_found_nearly_always() -> None:
    draw = np.random.default_rng(8)
    series = draw.normal(100, 2, (100, 16))
    series[:, 8:] -= 6
    changes_by_series = [change_points(list(row)) for row in series]
    assert (
        sum(len(changes) == 1 and abs(changes[0].index - 8) <= 1 for changes in changes_by_series)
        >= 85
    )
