"""Golden numbers, each worked out by hand."""

from dataclasses import dataclass

import pytest

from report.statistics.runs import select_median_run, spread


@dataclass
class Run:
    run: int
    requests_per_second: float | None
    eligible: bool = True
    spoiled: bool = False


def chosen(*runs: Run) -> int | None:
    found = select_median_run(runs)
    return found.run if found else None


def test_median_of_an_odd_number_is_the_one_in_the_middle() -> None:
    assert chosen(Run(1, 300), Run(2, 100), Run(3, 200)) == 3


def test_median_of_an_even_number_is_the_lower_of_the_two_in_the_middle() -> None:
    assert chosen(Run(1, 400), Run(2, 100), Run(3, 300), Run(4, 200)) == 4


def test_runs_that_failed_their_load_rank_lowest() -> None:
    # 100, 300 | 200 failed its load: it ranks below 100, so that 100 is in the middle.
    spoiled = Run(3, 200, eligible=False, spoiled=True)
    assert chosen(Run(1, 300), Run(2, 100), spoiled) == 2
    assert chosen(Run(1, 300), spoiled) == 3


def test_median_of_two_is_the_slower() -> None:
    assert chosen(Run(1, 200), Run(2, 100)) == 2


def test_equal_throughputs_are_ordered_by_run_number() -> None:
    assert chosen(Run(3, 100), Run(1, 100), Run(2, 100)) == 2
    assert chosen(Run(2, 100), Run(1, 100)) == 1


def test_runs_that_are_not_eligible_have_no_say() -> None:
    assert chosen(Run(1, 100), Run(2, 900, eligible=False), Run(3, 200), Run(4, 300)) == 3


def test_runs_without_throughput_have_no_say() -> None:
    assert chosen(Run(1, None), Run(2, None), Run(3, 200)) == 3


def test_without_an_eligible_run_there_is_no_median() -> None:
    assert chosen(Run(1, 100, eligible=False), Run(2, None)) is None
    assert chosen() is None


def test_the_order_of_the_runs_does_not_matter() -> None:
    runs = [Run(1, 400), Run(2, 100), Run(3, 300), Run(4, 200)]
    assert {chosen(*runs[i:], *runs[:i]) for i in range(4)} == {4}


def test_spread_is_the_samples() -> None:
    found = spread([2, 4, 4, 4, 5, 5, 7, 9])
    assert found is not None
    # Mean 5, squares of the deviations sum to 32, 32 / 7 = 4.571428…
    assert (found.count, found.mean, found.min, found.max) == (8, 5, 2, 9)
    assert found.stdev == pytest.approx(2.1380899353)
    assert found.cv_percent == pytest.approx(42.761798706)


def test_one_value_has_no_deviation() -> None:
    found = spread([5])
    assert found is not None
    assert (found.min, found.max, found.stdev, found.cv_percent) == (5, 5, None, None)
    assert spread([]) is None


def test_zeros_have_no_coefficient_of_variation() -> None:
    found = spread([0, 0])
    assert found is not None
    assert (found.stdev, found.cv_percent) == (0, None)
