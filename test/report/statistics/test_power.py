"""What the plan says before the start is what the report computes: these figures are also in
test/unit/orchestrator/plan/power-of-pairs.test.ts."""

import pytest

from report.statistics.power import TOGETHER, detectable_difference, runs_needed
from report.statistics.systematic_error import SystematicError

MARGIN = 0.02


@pytest.mark.parametrize(
    ("deviation", "rounds", "comparisons", "percent"),
    [
        (0.04, 6, 1, 8.7),
        (0.04, 7, 3, 7.4),
        (0.04, 15, 3, 5.3),
        (0.06, 10, 3, 8.4),
        (0.06, 60, 1, 4.3),
    ],
)
def test_rounds_find_what_the_plan_says(
    deviation: float, rounds: int, comparisons: int, percent: float
) -> None:
    found = detectable_difference(rounds, None, deviation, MARGIN, comparisons, TOGETHER)
    assert found is not None
    assert 100 * found == pytest.approx(percent, abs=0.06)


@pytest.mark.parametrize(
    ("deviation", "comparisons", "rounds"), [(0.04, 1, 47), (0.04, 3, 52), (0.06, 3, 114)]
)
def test_no_difference_takes_the_rounds_that_the_plan_says(
    deviation: float, comparisons: int, rounds: int
) -> None:
    assert runs_needed(1.0, deviation, MARGIN, comparisons, TOGETHER) == rounds


def test_a_systematic_error_costs_what_the_plan_says() -> None:
    error = SystematicError(share=0.006)
    found = detectable_difference(60, None, 0.04, MARGIN, 1, TOGETHER, error)
    assert found is not None
    assert 100 * found == pytest.approx(4.2, abs=0.06)
    assert runs_needed(1.0, 0.04, MARGIN, 1, TOGETHER, systematic=error) == 94
    too_large = SystematicError(share=0.02)
    assert runs_needed(1.0, 0.04, MARGIN, 1, TOGETHER, systematic=too_large) is None
