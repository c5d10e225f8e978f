"""Runs in which the target failed its load have the worst rank: 0, or infinity where less is
better."""

import json
import math

import numpy as np
import pytest

from report.analysis.texts import interval_of, outlook
from report.export.comparison_document import comparison_document
from report.statistics.decision import compare_runs
from report.statistics.ratio import ratio_of
from report.statistics.run_samples import median_interval
from report.statistics.sequential import is_tight

STEADY = [100.0, 101, 99, 100.5, 99.5, 100.2, 99.8, 100.1, 99.9, 100.3]


def test_two_failed_runs_are_equal() -> None:
    assert ratio_of([0.0, 0.0], [0.0, 0.0]).estimate == 1
    assert ratio_of([math.inf, math.inf], [math.inf, math.inf]).estimate == 1
    # 0, 1, 1 and infinity: in the middle are two ones.
    assert ratio_of([0.0, 1.0], [0.0, 1.0]).estimate == 1


def test_a_typical_run_that_failed_has_no_ratio_but_a_bound() -> None:
    comparison = compare_runs([0.0] * 9 + STEADY[:1], STEADY)
    assert (comparison.status, comparison.ratio) == ("worse", None)
    assert interval_of(comparison) == "no ratio"
    partly = compare_runs([0.0] * 7 + STEADY[:3], STEADY)
    assert interval_of(partly).startswith("no ratio, at most ")
    assert "inf" not in json.dumps(comparison_document(comparison)).lower()
    cost = compare_runs([math.inf] * 9 + STEADY[:1], STEADY, higher_is_better=False)
    assert cost.status == "worse"
    assert comparison_document(cost)["interval"] is None
    partly = compare_runs([math.inf] * 7 + STEADY[:3], STEADY, higher_is_better=False)
    assert interval_of(partly).startswith("no ratio, at least ")
    assert comparison_document(partly)["interval"]["high"] is None


def test_how_many_runs_would_decide_is_not_known() -> None:
    comparison = compare_runs([0.0, 0.0, 0.0, *STEADY[:7]], STEADY)
    assert comparison.status == "not decided"
    assert comparison.runs_needed is None
    assert "not known" in outlook(comparison)


def test_the_interval_of_a_median_may_end_at_a_failed_run() -> None:
    assert median_interval([0.0, 0.0, *STEADY[:4]]).low == 0
    assert not is_tight([0.0, 0.0, *STEADY[:4]])


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 1.0])
def test_equal_shares_of_failed_runs_are_seldom_told_apart(share: float) -> None:
    """A/A: both sides fail as often, and are as fast."""
    rng = np.random.default_rng(7)
    trials = 400
    flagged = 0
    for _ in range(trials):
        sides = 1000 * np.exp(0.02 * rng.standard_normal((2, 10)))
        sides[rng.random((2, 10)) < share] = 0
        flagged += compare_runs(sides[0].tolist(), sides[1].tolist()).status in ("better", "worse")
    assert flagged <= trials * (0.05 + 3 * math.sqrt(0.05 * 0.95 / trials))


@pytest.mark.parametrize("worst", [0.0, math.inf])
def test_two_sides_whose_typical_runs_failed_have_no_ratio(worst: float) -> None:
    """The ratio of two worst ranks is 1 by rule, and is no figure."""
    always = compare_runs([worst] * 5, [worst] * 5, higher_is_better=worst == 0)
    assert (always.status, always.ratio, always.interval) == ("no difference", None, None)
    mostly = compare_runs(
        [worst] * 6 + STEADY[:4], [worst] * 6 + STEADY[:4], higher_is_better=worst == 0
    )
    assert (mostly.status, mostly.ratio, mostly.interval) == ("not decided", None, None)
    assert interval_of(always) == interval_of(mostly) == ""
    half = compare_runs(
        [worst] * 5 + STEADY[:5], [worst] * 4 + STEADY[:6], higher_is_better=worst == 0
    )
    assert half.ratio is None
    assert interval_of(half).startswith("no ratio, at ")
    seldom = compare_runs(
        [worst] * 4 + STEADY[:6], [worst] * 4 + STEADY[:6], higher_is_better=worst == 0
    )
    assert seldom.ratio == pytest.approx(1, rel=0.01)


def test_runs_that_all_failed_need_no_more_of_them() -> None:
    assert is_tight([0.0] * 6)
    assert not is_tight([0.0] * 3 + STEADY[:3])
