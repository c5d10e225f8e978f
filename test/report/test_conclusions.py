"""Tests what the whole procedure concludes on hosts whose speed changes, which is a part of `npm
run bench:conclusions`.

Shares may differ from what the rules demand by three standard errors. A share that is just as large
as allowed would be refused in one of 700 draws. The draws are seeded, so that unchanged code does
not fail by chance.
"""

import pytest

from bench.conclusions import HOSTS, MORE, OTHERS, SMALL, Counted, auto, between, gate, rankings

PLANTED = {OTHERS[0]: 1.05, OTHERS[2]: 0.95}


def assert_honest(counted: Counted) -> None:
    assert counted.at_least("covered", 0.95)
    for wrong in (
        "false flag",
        "wrong direction",
        "wrong equality",
        "wrong winner",
        "copy told apart",
    ):
        assert counted.at_most(wrong, 0.05), wrong


@pytest.mark.long
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("rounds", [5, 10])
def test_equal_targets_are_seldom_told_apart_on_any_host(host: str, rounds: int) -> None:
    assert_honest(rankings(host, 50, rounds, seed=2))


@pytest.mark.long
@pytest.mark.parametrize(("host", "rounds"), [("AR(1)", 5), ("level shifts", 10)])
def test_more_targets_tell_no_more_apart(host: str, rounds: int) -> None:
    assert_honest(rankings(host, 40, rounds, others=MORE))


@pytest.mark.long
def test_5_percent_are_found_in_80_percent_of_campaigns_of_10_rounds() -> None:
    counted = rankings("calm", 60, 10, truth=PLANTED)
    assert counted.at_least("5 % found", 0.8)
    assert_honest(counted)


@pytest.mark.long
@pytest.mark.parametrize("host", HOSTS)
def test_campaigns_that_stop_by_what_they_see_are_as_honest(host: str) -> None:
    """Two of four targets are equal, and so is the copy."""
    assert_honest(auto(host, 40, truth=PLANTED))


@pytest.mark.parametrize("runs", ["fixed", "auto"])
def test_small_differences_seldom_get_the_wrong_words(runs: str) -> None:
    counted = (
        rankings("calm", 40, 10, truth=SMALL, cv=0.01)
        if runs == "fixed"
        else auto("calm", 25, truth=SMALL, cv=0.01)
    )
    assert_honest(counted)


@pytest.mark.long
def test_twenty_equal_loads_seldom_end_with_6() -> None:
    assert gate("bursts", 30).at_most("exit 6", 0.05)


@pytest.mark.parametrize(
    ("host", "campaigns"),
    [
        *(pytest.param(host, 120, marks=pytest.mark.long) for host in HOSTS),
        ("AR(1)", 30),
        ("level shifts", 30),
    ],
)
def test_campaigns_are_compared_through_their_reference_whatever_the_host_did(
    host: str, campaigns: int
) -> None:
    counted = between(host, campaigns, truth={OTHERS[0]: 0.9})
    assert counted.at_least("covered", 0.95)
    assert counted.at_most("false flag", 0.05)
    if host == "calm":
        assert counted.at_least("10 % found", 0.8)
