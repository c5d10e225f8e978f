"""What several machines say about another one."""

import math
import random

import pytest

from report.claims.across_machines import MIN_MACHINES_TO_PREDICT, across_machines


def test_up_to_four_machines_give_the_range_of_their_attempts() -> None:
    across = across_machines({"a": [1.1, 1.4], "b": [1.2], "c": []})
    assert across and (across.machines, across.low, across.high) == (2, 1.1, 1.4)
    assert not across.predicted
    assert across_machines({"a": []}) is None
    assert across_machines({"a": [math.inf]}) is None


def test_five_machines_predict_another_one_as_often_as_they_say() -> None:
    chance = random.Random(5)  # noqa: S311
    held = 0
    rounds = 2000
    for _ in range(rounds):
        *machines, another = (
            math.exp(chance.gauss(0.1, 0.05)) for _ in range(MIN_MACHINES_TO_PREDICT + 1)
        )
        across = across_machines({str(number): [ratio] for number, ratio in enumerate(machines)})
        assert across and across.predicted
        held += across.low <= another <= across.high
    # 95 %, within four standard errors.
    assert held / rounds == pytest.approx(0.95, abs=0.02)
