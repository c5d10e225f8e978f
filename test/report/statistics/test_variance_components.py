"""The noise between campaigns, on campaigns whose truth is known. Seeded."""

import math

import numpy as np
import pytest

from report.statistics.ratio import ratio_of
from report.statistics.variance_components import variance_components


def campaigns(
    rng: np.random.Generator, count: int, runs: int, between: float, within: float
) -> list[list[float]]:
    levels = between * rng.standard_normal(count)
    return [(5000 * np.exp(level + within * rng.standard_normal(runs))).tolist() for level in levels]


def test_a_worked_example_of_unequal_sizes() -> None:
    # Logarithms 0 1 | 2 4 | 3 3 | 1 3 | 0 0 0: by hand, within 4.5 / 6 and between (4.2 - 0.75) / 2.18.
    logs = [[0, 1], [2, 4], [3, 3], [1, 3], [0, 0, 0]]
    found = variance_components([[math.exp(value) for value in each] for each in logs])
    means = [sum(each) / len(each) for each in logs]
    overall = sum(map(sum, logs)) / 11
    effect = sum(len(each) * (mean - overall) ** 2 for each, mean in zip(logs, means, strict=True)) / 4
    size = (11 - (4 * 4 + 9) / 11) / 4
    assert (found.campaigns, found.runs) == (5, 11)
    assert found.within == pytest.approx(math.sqrt(4.5 / 6))
    assert found.between == pytest.approx(math.sqrt((effect - 0.75) / size))


@pytest.mark.parametrize(("between", "within"), [(0.05, 0.02), (0.02, 0.05), (0, 0.02)])
def test_the_components_are_found_on_average(between: float, within: float) -> None:
    rng = np.random.default_rng(32)
    found = [variance_components(campaigns(rng, 40, 5, between, within)) for _ in range(300)]
    assert np.mean([each.within**2 for each in found]) == pytest.approx(within**2, rel=0.05)
    # Where nothing lies between, estimates below 0 are cut off.
    assert np.mean([each.between**2 for each in found]) == pytest.approx(
        between**2, rel=0.1, abs=0.2 * within**2
    )


@pytest.mark.parametrize(("between", "within"), [(0.0, 0.02), (0.01, 0.02), (0.03, 0.02), (0.1, 0.02)])
@pytest.mark.parametrize("count", [5, 10])
def test_equal_campaigns_lie_beyond_the_floor_in_at_most_5_percent(
    between: float, within: float, count: int
) -> None:
    rng = np.random.default_rng(33)
    flagged = 0
    for _ in range(1000):
        floor = max(0.02, variance_components(campaigns(rng, count, 5, between, within)).apart)
        one, other = campaigns(rng, 2, 10, between, within)
        interval = ratio_of(one, other).interval
        assert interval is not None
        flagged += interval.low > 1 + floor or interval.high < 1 - floor
    # Three standard errors of a share of 5 % in 1000.
    assert flagged / 1000 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 1000)


def test_few_campaigns_or_figures_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 5 campaigns"):
        variance_components([[1.0, 2.0]] * 4)
    with pytest.raises(ValueError, match="two positive figures"):
        variance_components([[1.0, 2.0]] * 4 + [[1.0]])
    with pytest.raises(ValueError, match="two positive figures"):
        variance_components([[1.0, 2.0]] * 4 + [[1.0, 0.0]])
