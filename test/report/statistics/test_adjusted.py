"""Ratios adjusted for the host's speed: what they take out, when they hold, and when there are none."""

import math

import numpy as np
import pytest

from report.statistics.adjusted import Adjusted, Refused, Round, adjusted_ratio


def rounds_of(
    draws: np.random.Generator, count: int, ratio: float, noise: float, host: float, power: float = 1.0
) -> list[Round]:
    """Rounds in which the figure follows the host's speed with `power`, each run with a host of its own."""
    index = np.exp(draws.normal(0, host, (count, 2)))
    figures = 1000 * index**power * np.exp(draws.normal(0, noise, (count, 2)))
    return [
        Round(new * ratio, base, new_index, base_index)
        for (new, base), (new_index, base_index) in zip(figures.tolist(), index.tolist(), strict=True)
    ]


def adjusted(rounds: list[Round]) -> Adjusted:
    found = adjusted_ratio(rounds)
    assert isinstance(found, Adjusted), found
    return found


def test_takes_out_what_the_host_did() -> None:
    found = adjusted(rounds_of(np.random.default_rng(3), 12, 1.05, noise=0.004, host=0.05))
    assert found.ratio == pytest.approx(1.05, abs=0.005)
    assert found.interval.low > 1.04
    assert found.interval.high < 1.06
    assert found.slope == pytest.approx(1, abs=0.15)
    assert found.explained > 0.9


def test_without_a_part_of_the_host_the_estimate_is_the_middle_of_the_walsh_averages() -> None:
    # The index differs, both ways alike, and the figures do not follow it.
    shifts = [0.01, 0.02, 0.03, 0.03, 0.02, 0.01]
    signs = [1, -1, 1, -1, 1, -1]
    found = adjusted(
        [Round(math.exp(y), 1.0, math.exp(0.001 * sign), 1.0) for y, sign in zip(shifts, signs, strict=True)]
    )
    averages = sorted((a + b) / 2 for i, a in enumerate(shifts) for b in shifts[i:])
    assert found.ratio == pytest.approx(math.exp(averages[10]), abs=1e-9)
    assert found.interval.coverage == pytest.approx(1 - 2 / 64)
    assert found.p == pytest.approx(2 / 64)


@pytest.mark.parametrize("power", [1.0, 3.0])
def test_covers_the_true_ratio_even_if_the_line_is_wrong(power: float) -> None:
    draws = np.random.default_rng(11)
    trials, outside, refused = 600, 0, 0
    made = trials
    for _ in range(trials):
        found = adjusted_ratio(rounds_of(draws, 10, 1.03, noise=0.02, host=0.04, power=power))
        if isinstance(found, Refused):
            refused += "depends on which" in found.reason
            made -= 1
        elif not found.interval.low <= 1.03 <= found.interval.high:
            outside += 1
    assert outside / made <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / made)
    # The host did not depend on the side: refused by chance, and for no other reason.
    assert refused / trials <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / trials)


def test_is_refused_where_the_speed_of_the_host_depends_on_the_side() -> None:
    draws = np.random.default_rng(5)
    heating = [
        Round(each.new, each.base, 0.97 * each.new_index, each.base_index)
        for each in rounds_of(draws, 10, 1.05, noise=0.01, host=0.005)
    ]
    found = adjusted_ratio(heating)
    assert isinstance(found, Refused)
    assert found.reason == "the host’s speed depends on which of the two ran"
    assert found.balance_p is not None
    assert found.balance_p <= 0.05


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda rounds: rounds[:5], "at least 6 rounds"),
        (lambda rounds: [Round(0.0, 1.0, 1.0, 0.9), *rounds], "failed its load"),
        (lambda rounds: [Round(each.new, each.base, 1.0, 1.0) for each in rounds], "equally fast"),
    ],
)
def test_is_refused_without_what_it_needs(change, reason: str) -> None:  # type: ignore[no-untyped-def]
    found = adjusted_ratio(change(rounds_of(np.random.default_rng(1), 8, 1.0, noise=0.01, host=0.02)))
    assert isinstance(found, Refused)
    assert reason in found.reason
