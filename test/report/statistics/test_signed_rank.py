"""Pairs: the exact signed-rank test, its interval, and what a missing partner does."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from report.statistics.comparison import Level
from report.statistics.decision import compare_samples
from report.statistics.rank_test import (
    exact_coverage,
    exact_rank,
    signed_rank_tails,
    smallest_p,
    two_sided,
)
from report.statistics.ratio import ratio_of_pairs
from report.statistics.samples import Sample, sample_of
from simulation import SHAPES

TEN = [0.1, -0.2, 0.3, 0.4, 0.5, 0.6, -0.7, 0.8, 0.9, 1.0]


def _p(differences: list[float]) -> float:
    return two_sided(signed_rank_tails(differences))


def by_hand(differences: list[float]) -> float:
    """Twice the smaller tail over all signs, counted one by one."""
    ranks = stats.rankdata(np.abs(differences))
    signed = [rank for rank, value in zip(ranks, differences, strict=True) if value != 0]
    rank_sum = sum(rank for rank, value in zip(ranks, differences, strict=True) if value > 0)
    sums = [
        sum(rank for rank, sign in zip(signed, signs, strict=True) if sign)
        for signs in itertools.product((0, 1), repeat=len(signed))
    ]
    low = sum(possible <= rank_sum for possible in sums)
    high = sum(possible >= rank_sum for possible in sums)
    return min(1.0, 2 * float(min(low, high)) / len(sums))


def test_p_is_that_of_scipy() -> None:
    assert _p(TEN) == pytest.approx(stats.wilcoxon(TEN, method="exact").pvalue)
    below, above = signed_rank_tails(TEN)
    assert above == pytest.approx(stats.wilcoxon(TEN, alternative="greater", method="exact").pvalue)
    assert below == pytest.approx(stats.wilcoxon(TEN, alternative="less", method="exact").pvalue)


@pytest.mark.parametrize(
    "differences",
    [
        [1.0, 1, 1, -1, 2, 2, -2, 3],
        [0.0, 0, 1, 2, -3, 4],
        [0.0, 0, 0],
        [math.inf, -math.inf, 1, math.inf],
    ],
)
def test_ties_zeros_and_worst_ranks_are_counted_as_they_are(differences: list[float]) -> None:
    assert _p(differences) == pytest.approx(by_hand(differences))


def test_the_smallest_p_of_pairs() -> None:
    for pairs in (5, 6, 10):
        assert _p([1.0 + n for n in range(pairs)]) == pytest.approx(smallest_p(pairs, None))


def test_the_interval_is_that_of_the_tables() -> None:
    # Hollander, Wolfe and Chicken, table A.4: ten pairs, the 9th of 55 Walsh averages at 95.1 %.
    assert (exact_rank(10, None, 0.05), exact_rank(5, None, 0.05), exact_rank(6, None, 0.05)) == (
        9,
        0,
        1,
    )
    assert exact_coverage(10, None, 9) == pytest.approx(0.951, abs=5e-4)


def test_the_interval_leaves_out_1_exactly_when_the_test_rejects() -> None:
    rng = np.random.default_rng(3)
    for logs in rng.normal(0.02, 0.03, (200, 10)):
        pairs = [(math.exp(value), 1.0) for value in logs]
        interval = ratio_of_pairs(pairs).interval
        assert interval is not None
        assert (interval.low > 1 or interval.high < 1) == (_p(logs.tolist()) <= 0.05)


@pytest.mark.parametrize("shape", ["normal", "heavy-tailed", "outliers", "two levels"])
@pytest.mark.parametrize("count", [6, 10, 20])
def test_the_interval_covers_the_truth(shape: str, count: int) -> None:
    """Of differences within pairs, which are symmetric as both runs have one shape."""
    rng = np.random.default_rng(4)
    trials = 1000
    runs = 1000 * np.exp(0.02 * SHAPES[shape](rng, (2, trials, count)))
    covered = 0
    for new, base in zip(1.05 * runs[0], runs[1], strict=True):
        interval = ratio_of_pairs(list(zip(new.tolist(), base.tolist(), strict=True))).interval
        assert interval is not None
        covered += interval.low <= 1.05 <= interval.high
    assert covered >= trials * (0.95 - 3 * math.sqrt(0.95 * 0.05 / trials))


def test_two_failed_runs_of_a_pair_are_equal_and_one_is_the_worst() -> None:
    assert ratio_of_pairs([(0.0, 0.0)] * 3).estimate == 1
    assert ratio_of_pairs([(math.inf, math.inf)] * 3).estimate == 1
    assert ratio_of_pairs([(0.0, 1.0)] * 3).estimate == 0
    assert ratio_of_pairs([(0.0, 1.0), (1.0, 0.0)]).estimate == 1


def in_rounds(values: list[float]) -> dict[tuple[int, int], float]:
    return {(number, 1): value for number, value in enumerate(values, start=1)}


STEADY = [1000.0 + 3 * (n % 4) for n in range(10)]


def test_a_missing_partner_drops_the_pair() -> None:
    base = in_rounds(STEADY)
    new = in_rounds([1.1 * value + n for n, value in enumerate(STEADY)])
    del base[4, 1]
    sample = sample_of(new, base, 10)
    assert (len(sample.pairs), sample.dropped, len(sample.new)) == (9, 1, 10)
    (comparison,) = compare_samples([sample])
    assert (comparison.status, comparison.pairs, comparison.dropped) == ("better", 9, 1)


def test_a_run_is_paired_with_the_reference_of_its_own_group() -> None:
    base = {(n, group): 1000.0 * group for n in range(1, 11) for group in (1, 2)}
    new = {(n, 1 + n % 2): 1000.0 * (1 + n % 2) for n in range(1, 11)}
    assert set(sample_of(new, base, 10).pairs) == {(1000.0, 1000.0), (2000.0, 2000.0)}
    (first, *_) = sample_of(new, base, 10, by_group=False).pairs
    assert first[0] == 2000
    assert first[1] == pytest.approx(1000 * math.sqrt(2))


def test_pairs_begin_at_ten_planned_rounds_whatever_the_runs() -> None:
    def sample(planned: int, made: int) -> Sample:
        new, base = (in_rounds([factor * value for value in STEADY[:made]]) for factor in (1.1, 1))
        return sample_of(new, base, planned)

    assert [sample(planned, 9).is_paired(1) for planned in (0, 9, 10)] == [False, False, True]
    # 26 comparisons of ten pairs could not be decided: 26/512 is more than 5 %.
    assert [sample(10, 10).is_paired(count) for count in (25, 26)] == [True, False]
    (comparison,) = compare_samples([sample(10, 10)], level=Level(planned=26))
    assert comparison.pairs is None


@pytest.mark.long
def test_claims_of_no_difference_are_corrected_over_the_family_too() -> None:
    """Of twenty sides that differ by a little more than 2 %, one or another is called equal by
    chance.

    The draws are seeded; of others one in 700 would be refused.
    """
    rng = np.random.default_rng(8)
    alone = together = 0
    for _ in range(100):
        family = []
        for _ in range(20):
            runs = 1000 * np.exp(0.005 * rng.standard_normal((2, 10)))
            family.append(
                sample_of(in_rounds((1.0205 * runs[0]).tolist()), in_rounds(runs[1].tolist()), 10)
            )
        alone += any(
            comparison.status == "no difference"
            for sample in family
            for comparison in compare_samples([sample])
        )
        together += any(
            comparison.status == "no difference" for comparison in compare_samples(family)
        )
    assert alone > 20
    assert together <= 5 + 3 * math.sqrt(100 * 0.05 * 0.95)
