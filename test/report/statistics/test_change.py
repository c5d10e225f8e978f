"""Whether a ratio changed, from simulated rounds."""

import math

import numpy as np
import pytest

from report.statistics.change import change_of, judged
from simulation import SHAPES, Floats

CAMPAIGNS = 400
ROUNDS = 9
#: Three targets beside the reference, each with four checks.
CHECKS = 12


def _pairs(logs: Floats) -> list[tuple[float, float]]:
    return [(math.exp(log), 1.0) for log in logs.tolist()]


@pytest.mark.parametrize("shape", SHAPES)
def test_campaigns_without_a_change_raise_a_false_alarm_in_at_most_5_percent(shape: str) -> None:
    rng = np.random.default_rng(33)
    # A part of a run deviates by 4 % on each side of a pair, at both times.
    sides = 0.04 * SHAPES[shape](rng, (4, CAMPAIGNS, CHECKS, ROUNDS))
    logs = sides[0] - sides[1] - sides[2] + sides[3]
    alarms = sum(
        "not settled" in judged([change_of(_pairs(rounds)) for rounds in checks]) for checks in logs
    )
    assert alarms / CAMPAIGNS <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / CAMPAIGNS)


def test_a_change_of_15_percent_is_found_in_nine_of_ten_campaigns() -> None:
    rng = np.random.default_rng(33)
    logs = 0.06 * rng.standard_normal((100, CHECKS, ROUNDS))
    logs[:, 0] += math.log(0.85)
    found = sum(
        judged([change_of(_pairs(rounds)) for rounds in checks])[0] == "not settled"
        for checks in logs
    )
    assert found >= 90


@pytest.mark.parametrize(
    ("change", "spread", "status"),
    [
        (1.0, 0.01, "settled"),
        (1.03, 0.005, "settled"),
        (1.12, 0.01, "not settled"),
        (1.0, 0.2, "not checked"),
    ],
)
def test_a_change_below_5_percent_counts_as_none_even_where_it_is_certain(
    change: float, spread: float, status: str
) -> None:
    deviations = np.array([-1, 1, -0.5, 0.5, 0, -1, 1, -0.5, 0.5])
    pairs = _pairs(math.log(change) + spread * deviations)
    assert judged([change_of(pairs)]) == [status]


def test_a_round_in_which_a_side_failed_its_load_does_not_count() -> None:
    assert change_of([(1, 1), (1, 1), (0, 1), (1, math.inf)]) is None
    change = change_of([(1, 1), (1, 1), (1, 1), (0, 1)])
    assert change is not None
    assert (change.low, change.high, change.p) == (1, 1, 1)
