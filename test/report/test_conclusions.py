"""What the whole procedure concludes on hosts whose speed changes: a part of `npm run bench:conclusions`.

Seeded; shares are held against what the rules ask within three standard errors.
"""

import pytest

from conclusions_study import MORE, OTHERS, Counted, auto, gate, rankings
from simulated_campaigns import HOSTS

PLANTED = {OTHERS[0]: 1.05, OTHERS[2]: 0.95}


def assert_honest(found: Counted) -> None:
    assert found.at_least("covered", 0.95)
    for wrong in ("false flag", "wrong equality", "wrong winner", "copy told apart"):
        assert found.at_most(wrong, 0.05), wrong


@pytest.mark.parametrize("host", ["AR(1)", "bursts"])
def test_equal_targets_in_blocks_are_seldom_told_apart(host: str) -> None:
    assert_honest(rankings(host, 60, 10))


@pytest.mark.long
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("rounds", [5, 10])
def test_equal_targets_are_seldom_told_apart_on_any_host(host: str, rounds: int) -> None:
    assert_honest(rankings(host, 150, rounds, seed=2))


@pytest.mark.long
def test_a_reference_of_two_blocks_tells_no_more_apart() -> None:
    assert_honest(rankings("AR(1)", 100, 5, others=MORE))
    assert_honest(rankings("level shifts", 100, 10, others=MORE))


def test_5_percent_are_found_in_80_percent_of_campaigns_of_10_rounds() -> None:
    found = rankings("calm", 80, 10, truth=PLANTED)
    assert found.at_least("5 % found", 0.8)
    assert_honest(found)


@pytest.mark.long
@pytest.mark.parametrize("host", HOSTS)
def test_campaigns_that_stop_by_what_they_see_are_as_honest(host: str) -> None:
    assert_honest(auto(host, 80))
    assert_honest(auto(host, 80, truth=PLANTED))


@pytest.mark.long
@pytest.mark.parametrize("host", ["calm", "AR(1)", "bursts"])
def test_twenty_equal_loads_seldom_end_with_6(host: str) -> None:
    assert gate(host, 40).at_most("exit 6", 0.05)
