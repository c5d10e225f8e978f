"""The exact test against tables, scipy and plain enumeration."""

import itertools

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from report.statistics.rank_test import holm, mann_whitney_p, smallest_p
from report.statistics.ratio import ratio_of


@pytest.mark.parametrize(("n", "m"), [(5, 5), (4, 7), (10, 10), (20, 20), (40, 60)])
def test_without_ties_it_is_scipys_exact_test(n: int, m: int) -> None:
    rng = np.random.default_rng(n)
    for shift in (0, 0.5, 3):
        a = rng.standard_normal(n)
        b = rng.standard_normal(m) + shift
        expected = mannwhitneyu(a, b, method="exact").pvalue
        assert mann_whitney_p(a.tolist(), b.tolist()) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([1, 2, 2, 3], [2, 3, 3, 4, 4]),
        ([1, 1, 1], [1, 1, 2, 2]),
        ([5, 5], [5, 5]),
        ([3, 9, 9, 9], [9, 9, 1]),
    ],
)
def test_with_ties_it_is_the_count_of_all_assignments(a: list[float], b: list[float]) -> None:
    together = [*a, *b]
    ranks = [
        sum(other < value for other in together)
        + (sum(other == value for other in together) + 1) / 2
        for value in together
    ]
    rank_sum = sum(ranks[: len(a)])
    sums = [sum(chosen) for chosen in itertools.combinations(ranks, len(a))]
    lower = sum(s <= rank_sum for s in sums) / len(sums)
    upper = sum(s >= rank_sum for s in sums) / len(sums)
    assert mann_whitney_p(a, b) == pytest.approx(min(1, 2 * min(lower, upper)))


def test_many_runs_go_over_to_the_approximation_without_a_step() -> None:
    a = [float(x) for x in range(60)]
    b = [x + 8.5 for x in a]
    exact = mann_whitney_p(a, b)
    assert mann_whitney_p([*a, 60.0], [*b, 68.5]) == pytest.approx(exact, rel=0.1)


def test_five_against_five_cannot_go_below_one_in_126() -> None:
    assert mann_whitney_p([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]) == pytest.approx(2 / 252)
    assert smallest_p(5, 5) == pytest.approx(2 / 252)


def test_a_side_without_runs_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        mann_whitney_p([], [1.0])


def test_holm_worked_by_hand() -> None:
    # In order 0.01 · 4, 0.02 · 3, 0.03 · 2 (not below the one before), 0.5 · 1.
    assert holm([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.06, 0.04, 0.5, 0.06])
    assert holm([]) == []
    assert holm([0.6, 0.7]) == [1.0, 1.0]


def test_interval_worked_by_hand() -> None:
    # 4 against 4: P(U = 0) = 1/70, so from the smallest to the largest ratio, 1 - 2/70 = 97.1 %.
    ratio = ratio_of([110, 112, 114, 116], [100, 101, 102, 103])
    assert ratio.interval is not None
    assert ratio.interval.low == pytest.approx(110 / 103)
    assert ratio.interval.high == pytest.approx(116 / 100)
    assert ratio.interval.coverage == pytest.approx(1 - 2 / 70)


def test_three_a_side_have_no_interval() -> None:
    assert ratio_of([1.0, 1.1, 1.2], [1.0, 1.0, 1.0]).interval is None


@pytest.mark.parametrize(("n", "m"), [(4, 4), (5, 5), (5, 9), (10, 10), (20, 20)])
def test_the_interval_leaves_out_one_exactly_when_the_test_rejects(n: int, m: int) -> None:
    rng = np.random.default_rng(7)
    for _ in range(300):
        a = np.exp(0.02 * rng.standard_normal(n)).tolist()
        b = np.exp(0.02 * rng.standard_normal(m) + 0.02).tolist()
        interval = ratio_of(a, b).interval
        assert interval is not None
        outside = interval.low > 1 or interval.high < 1
        assert outside == (mann_whitney_p(a, b) <= 1 - interval.coverage + 1e-9)


def test_the_interval_of_very_many_runs_is_nearly_the_exact_one() -> None:
    rng = np.random.default_rng(3)
    a, b = np.exp(0.02 * rng.standard_normal((2, 61)))
    large = ratio_of(a.tolist(), b.tolist()).interval
    small = ratio_of(a[:60].tolist(), b[:60].tolist()).interval
    assert large and small
    assert (large.low, large.high) == pytest.approx((small.low, small.high), rel=2e-3)


@pytest.mark.parametrize("bad", [[-1.0, 1.0], []])
def test_a_ratio_needs_figures(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="needs figures"):
        ratio_of(bad, [1.0])
