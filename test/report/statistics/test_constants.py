"""What a plan says of its runs is what the report computes for them: both read one list of
constants."""

import pytest

from report.base.contract import CONSTANTS
from report.statistics.power import PAIRED, TOGETHER, UNPAIRED
from report.statistics.rank_test import exact_coverage, exact_rank, smallest_p
from report.statistics.ratio import ALPHA


def test_the_smallest_p_of_a_plan_is_that_of_the_exact_tests() -> None:
    constants = CONSTANTS["smallest_p"]
    counts = range(1, 1 + len(constants["paired"]))

    assert constants["paired"] == pytest.approx([smallest_p(count, None) for count in counts])
    assert constants["unpaired"] == pytest.approx([smallest_p(count, count) for count in counts])


def test_the_smallest_numbers_of_runs_are_those_that_a_test_can_use() -> None:
    assert (UNPAIRED.fewest, PAIRED.fewest, TOGETHER.fewest) == (
        CONSTANTS["min_runs"],
        CONSTANTS["min_pairs"],
        CONSTANTS["min_pairs"],
    )
    # The fewest pairs are the first whose interval leaves out no more than the level.
    assert (
        exact_coverage(TOGETHER.fewest, None, exact_rank(TOGETHER.fewest, None, ALPHA)) >= 1 - ALPHA
    )
    assert smallest_p(TOGETHER.fewest, None) <= ALPHA < smallest_p(TOGETHER.fewest - 1, None)
    # The first look spends just enough for two sides that do not overlap.
    assert smallest_p(UNPAIRED.fewest, UNPAIRED.fewest) <= CONSTANTS["look_shares"]["first"]


def test_one_look_spends_the_level() -> None:
    shares = CONSTANTS["look_shares"]
    assert shares["first"] + shares["last"] < ALPHA == CONSTANTS["level"]
