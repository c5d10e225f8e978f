"""The correlation of neighbouring rounds, and the rule by which a report warns of it."""

import numpy as np
import pytest

from report.statistics.neighbouring_rounds import (
    FALSE_ALARMS,
    neighbour_correlation,
    round_correlation,
)

Pair = tuple[float, float]


def _pairs(correlation: float, rng: np.random.Generator) -> list[tuple[float, float]]:
    """Ten rounds whose log ratios remember a share of the round before."""
    log = rng.standard_normal()
    pairs = []
    for noise in rng.standard_normal(10):
        log = correlation * log + (1 - correlation**2) ** 0.5 * noise
        pairs.append((float(np.exp(0.04 * log)), 1.0))
    return pairs


@pytest.mark.parametrize(("correlation", "low", "high"), [(0.0, -0.03, 0.03), (0.5, 0.25, 0.5)])
def test_rounds_that_remember_are_correlated(correlation: float, low: float, high: float) -> None:
    """Without any memory the estimate is 0 on average, however few the rounds are."""
    rng = np.random.default_rng(3)
    estimates = [neighbour_correlation(_pairs(correlation, rng)) for _ in range(1500)]
    mean = float(np.mean([estimate for estimate in estimates if estimate is not None]))
    assert low < mean < high


def test_too_few_rounds_and_failed_ones_have_no_correlation() -> None:
    assert neighbour_correlation([(1.0, 2.0)] * 5) is None
    assert neighbour_correlation([(1.0, 2.0)] * 8) is None
    assert neighbour_correlation([*[(1.0, 2.0), (3.0, 2.0)] * 4, (0.0, 1.0)]) is None


def _family(correlation: float, rounds: int, rng: np.random.Generator) -> list[list[Pair]]:
    """Three targets and the reference that they share, all of which remember the round before."""
    draws = rng.standard_normal((4, rounds))
    for index in range(1, rounds):
        fresh = (1 - correlation**2) ** 0.5 * draws[:, index]
        draws[:, index] = correlation * draws[:, index - 1] + fresh
    reference, *targets = np.exp(0.035 * draws).tolist()
    return [list(zip(target, reference, strict=True)) for target in targets]


def _share_with_a_warning(correlation: float, rounds: int, families: int) -> float:
    rng = np.random.default_rng(5)
    found = [round_correlation(_family(correlation, rounds, rng)) for _ in range(families)]
    return float(np.mean([result is not None and result.is_beyond for result in found]))


@pytest.mark.parametrize("rounds", [6, 7, 12])
def test_rounds_without_memory_are_seldom_called_correlated(rounds: int) -> None:
    families = 1200
    standard_error = (FALSE_ALARMS * (1 - FALSE_ALARMS) / families) ** 0.5
    share = _share_with_a_warning(0.0, rounds, families)
    assert share <= FALSE_ALARMS + 3 * standard_error


def test_many_rounds_that_remember_much_are_called_correlated() -> None:
    assert _share_with_a_warning(0.7, 20, 60) >= 0.8


def test_a_drift_is_a_correlation_and_alternation_is_none() -> None:
    drifting = [(1 + 0.01 * index, 1.0) for index in range(8)]
    alternating = [(1.0 + 0.1 * (index % 2) + 0.001 * index, 1.0) for index in range(8)]
    result = round_correlation([drifting])
    assert result is not None
    assert result.is_beyond
    assert (result.rounds, result.p <= FALSE_ALARMS) == (8, True)
    opposite = round_correlation([alternating])
    assert opposite is not None
    assert (opposite.correlation < 0, opposite.p, opposite.is_beyond) == (True, 1.0, False)


def test_rows_with_fewer_rounds_or_failed_ones_do_not_count() -> None:
    drifting = [(1 + 0.01 * index, 1.0) for index in range(8)]
    failed = [(0.0, 1.0), *drifting[1:]]
    alone = round_correlation([drifting])
    assert round_correlation([drifting, drifting[:6], failed]) == alone
    assert round_correlation([failed, drifting[:5]]) is None


def test_the_same_rounds_give_the_same_p() -> None:
    rows = _family(0.6, 12, np.random.default_rng(2))
    assert round_correlation(rows) == round_correlation(rows)
