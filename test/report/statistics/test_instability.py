"""Signs of unsteady runs: each planted and found, and seldom seen where none was planted."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from report.statistics.instability import SLICE_S, trend, two_levels, warm_up_ramp


def ramped(
    rng: np.random.Generator,
    runs: int,
    seconds: float,
    ramp_s: float,
    depth: float,
    noise: float = 0.06,
) -> list[list[float]]:
    """Answers of each 100 ms: from `1 - depth` up to 1 within `ramp_s`, with noise that carries
    on."""
    count = round(seconds / SLICE_S)
    level = 1 - depth * np.clip(1 - np.arange(count) * SLICE_S / max(ramp_s, SLICE_S), 0, 1)
    drawn = rng.standard_normal((runs, count))
    # Neighbours are alike, as under a garbage collection that lasts longer than a slice.
    drawn[:, 1:] = 0.2 * drawn[:, :-1] + 0.98 * drawn[:, 1:]
    series: list[list[float]] = (500 * level * (1 + noise * drawn)).tolist()
    return series


@pytest.mark.parametrize("runs", [1, 3, 10])
@pytest.mark.parametrize(("window_s", "ramp_s"), [(3, 1.0), (5, 1.5), (10, 3.0), (30, 10.0)])
def test_a_warm_up_ramp_is_seen(runs: int, window_s: float, ramp_s: float) -> None:
    rng = np.random.default_rng(5)
    ramps = [warm_up_ramp(ramped(rng, runs, window_s, ramp_s, 0.5, 0.03)) for _ in range(20)]
    detected = [ramp for ramp in ramps if ramp]
    assert len(detected) >= 18
    assert all(0.1 < ramp.seconds <= 1.3 * ramp_s and ramp.change < -0.1 for ramp in detected)


def test_a_fast_start_is_seen_too() -> None:
    ramp = warm_up_ramp(ramped(np.random.default_rng(5), 3, 30, 10, -0.3))
    assert ramp is not None
    assert ramp.change > 0.1


def test_a_window_below_three_seconds_says_nothing() -> None:
    assert warm_up_ramp(ramped(np.random.default_rng(5), 3, 2.9, 1, 0.5)) is None
    assert warm_up_ramp([[0.0] * 30]) is None
    assert warm_up_ramp([]) is None


def test_runs_that_rise_are_seen() -> None:
    rising = trend([1000, 1010, 1025, 1030, 1050])
    assert rising is not None
    assert rising.change == pytest.approx(0.047, abs=0.003)
    # All in order: 2 of 5! orders.
    assert rising.p == pytest.approx(2 / 120)


def test_a_drift_below_two_percent_is_not_told() -> None:
    assert trend([1000, 1001, 1002, 1003, 1004]) is None


def test_two_levels_are_seen() -> None:
    levels = two_levels([1000, 1004, 996, 1001, 1100, 1104, 1098, 1099])
    assert levels is not None
    assert (levels.low_runs, levels.high_runs) == (4, 4)
    assert (levels.low, levels.high) == pytest.approx((1000.5, 1099.5))


def test_one_outlier_is_not_a_level() -> None:
    assert two_levels([1000, 1004, 996, 1001, 1003, 1002, 998, 700]) is None


@pytest.mark.parametrize(
    "alarm",
    [
        lambda rng: trend((1000 * (1 + 0.05 * rng.standard_normal(5))).tolist()),
        lambda rng: trend((1000 * (1 + 0.05 * rng.standard_normal(12))).tolist()),
        lambda rng: two_levels((1000 * (1 + 0.05 * rng.standard_normal(10))).tolist()),
        *(
            partial(
                lambda runs, window_s, rng: warm_up_ramp(ramped(rng, runs, window_s, 0, 0.0)),
                runs,
                window_s,
            )
            for window_s in (3, 5, 10, 30)
            for runs in (1, 5)
        ),
    ],
    ids=[
        "trend of 5",
        "trend of 12",
        "two levels",
        *(f"ramp of {runs} in {window_s} s" for window_s in (3, 5, 10, 30) for runs in (1, 5)),
    ],
)
def test_steady_runs_seldom_raise_an_alarm(alarm: Callable[[np.random.Generator], object]) -> None:
    rng = np.random.default_rng(11)
    assert sum(alarm(rng) is not None for _ in range(500)) <= 15
