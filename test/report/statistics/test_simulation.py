"""What the decision rule does on runs whose truth is known (rules M16 and M17). Seeded.

A share of 4000 comparisons is uncertain by ± 0.7 percentage points at 5 %, by ± 1.3 at 80 % (95 %).
"""

import numpy as np
import pytest

from bench.decision_rule import drifting, judged
from report.statistics.decision import compare_runs
from report.statistics.power import detectable_difference, runs_needed
from simulation import SHAPES, sides

COUNT = 4000


def generator() -> np.random.Generator:
    return np.random.default_rng(20260102)


@pytest.mark.parametrize("ratio", [0.9, 1.0, 1.03, 1.1])
def test_the_study_says_what_the_rule_says(ratio: float) -> None:
    new, base = sides(generator(), 60, 5, 0.02, ratio=ratio)
    verdicts = judged(new, base)
    comparisons = [compare_runs(a, b) for a, b in zip(new.tolist(), base.tolist(), strict=True)]
    statuses = [comparison.status for comparison in comparisons]
    assert verdicts.better == statuses.count("better") / 60
    assert verdicts.worse == statuses.count("worse") / 60
    assert verdicts.decided == pytest.approx(
        sum(comparison.decided for comparison in comparisons) / 60
    )


@pytest.mark.parametrize("runs", [5, 10, 20])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_interval_covers_the_truth_in_92_to_98_percent(runs: int, shape: str) -> None:
    verdicts = judged(*sides(generator(), COUNT, runs, 0.02, shape, ratio=1.05))
    assert 0.92 <= verdicts.covers(1.05) <= 0.98


@pytest.mark.parametrize("runs", [5, 10, 20])
def test_sides_of_unequal_spread_are_covered_too(runs: int) -> None:
    rng = generator()
    steady, _ = sides(rng, COUNT, runs, 0.01, ratio=0.9)
    _, noisy = sides(rng, COUNT, runs, 0.03)
    assert 0.92 <= judged(steady, noisy).covers(0.9) <= 0.98


@pytest.mark.parametrize("runs", [5, 10, 20])
@pytest.mark.parametrize("cv", [0.02, 0.1])
def test_the_same_thing_twice_is_told_apart_in_at_most_5_percent(runs: int, cv: float) -> None:
    verdicts = judged(*sides(generator(), COUNT, runs, cv))
    assert verdicts.flagged <= 0.05
    # Without the margin too, as far as so many can tell 5 % from more.
    assert verdicts.rejected <= 0.06


def test_5_percent_are_found_in_80_percent_with_10_runs_of_2_percent() -> None:
    verdicts = judged(*sides(generator(), COUNT, 10, 0.02, ratio=1.05))
    assert verdicts.better >= 0.8
    assert verdicts.worse == 0


def test_5_percent_less_are_found_as_well() -> None:
    assert judged(*sides(generator(), COUNT, 10, 0.02, ratio=0.95)).worse >= 0.8


def test_a_difference_on_the_margin_is_hardly_ever_called_one() -> None:
    assert judged(*sides(generator(), COUNT, 10, 0.02, ratio=1.02)).flagged <= 0.05


@pytest.mark.parametrize("cv", [0.01, 0.02])
def test_interleaving_keeps_drift_from_being_taken_for_a_difference(cv: float) -> None:
    verdicts = {
        (drift, order): judged(*drifting(generator(), COUNT, 10, cv, drift, order))
        for drift in ("steady", "sudden")
        for order in ("interleaved", "consecutive")
    }
    assert verdicts["sudden", "interleaved"].flagged <= 0.05
    assert verdicts["sudden", "consecutive"].flagged >= (0.4 if cv == 0.01 else 0.1)
    # Evenly, 3 % of drift put 1.5 % between the sides: the margin hides that, the test alone does
    # not.
    assert verdicts["steady", "interleaved"].rejected <= 0.05
    assert verdicts["steady", "consecutive"].rejected >= (0.8 if cv == 0.01 else 0.3)


@pytest.mark.parametrize(("runs", "cv"), [(5, 0.01), (5, 0.05), (10, 0.02), (20, 0.05)])
def test_the_detectable_difference_is_found_in_about_80_percent(runs: int, cv: float) -> None:
    difference = detectable_difference(runs, runs, cv, 0.02)
    assert difference is not None
    assert 0.75 <= judged(*sides(generator(), COUNT, runs, cv, ratio=1 + difference)).better <= 0.87


@pytest.mark.parametrize(
    ("ratio", "cv"), [(1.05, 0.02), (0.93, 0.04), (1.2, 0.1), (1.0, 0.02), (1.005, 0.01)]
)
def test_as_many_runs_as_said_decide_in_about_80_percent(ratio: float, cv: float) -> None:
    needed = runs_needed(ratio, cv, 0.02)
    assert needed is not None
    assert needed > 5
    assert 0.75 <= judged(*sides(generator(), COUNT, needed, cv, ratio=ratio)).decided <= 0.9
