"""Golden numbers, each worked out by hand."""

from dataclasses import dataclass

import pytest

from report.statistics.run_samples import paired_ratio, select_run, spread


@dataclass
class Run:
    run: int
    selection_rank: float | None
    eligible: bool = True
    spoiled: bool = False


def chosen(*runs: Run) -> int | None:
    selected = select_run(runs)
    return selected.run if selected else None


FAILED = Run(3, 200, eligible=False, spoiled=True)


@pytest.mark.parametrize(
    ("runs", "median"),
    [
        # The one in the middle; of an even number the lower of the two; of two the slower.
        ([Run(1, 300), Run(2, 100), Run(3, 200)], 3),
        ([Run(1, 400), Run(2, 100), Run(3, 300), Run(4, 200)], 4),
        ([Run(1, 200), Run(2, 100)], 2),
        # A run that failed its load ranks lowest, whatever its throughput.
        ([Run(1, 300), Run(2, 100), FAILED], 2),
        ([Run(1, 300), FAILED], 3),
        # Runs of equal rank are ordered by run number.
        ([Run(3, 100), Run(1, 100), Run(2, 100)], 2),
        ([Run(2, 100), Run(1, 100)], 1),
        # Runs that are not eligible, or have no rank, have no say.
        ([Run(1, 100), Run(2, 900, eligible=False), Run(3, 200), Run(4, 300)], 3),
        ([Run(1, None), Run(2, None), Run(3, 200)], 3),
        ([Run(1, 100, eligible=False), Run(2, None)], None),
        ([], None),
    ],
)
def test_the_selected_run(runs: list[Run], median: int | None) -> None:
    assert chosen(*runs) == median


def test_the_order_of_the_runs_does_not_matter() -> None:
    runs = [Run(1, 400), Run(2, 100), Run(3, 300), Run(4, 200)]
    assert {chosen(*runs[i:], *runs[:i]) for i in range(4)} == {4}


def test_spread_is_the_samples() -> None:
    distribution = spread([2, 4, 4, 4, 5, 5, 7, 9])
    assert distribution is not None
    # Mean 5, squares of the deviations sum to 32, 32 / 7 = 4.571428…
    assert (distribution.count, distribution.mean, distribution.min, distribution.max) == (
        8,
        5,
        2,
        9,
    )
    assert distribution.stdev == pytest.approx(2.1380899353)
    assert distribution.cv_percent == pytest.approx(42.761798706)


def test_one_value_has_no_deviation() -> None:
    distribution = spread([5])
    assert distribution is not None
    assert (distribution.min, distribution.max, distribution.stdev, distribution.cv_percent) == (
        5,
        5,
        None,
        None,
    )
    assert spread([]) is None


def test_zeros_have_no_coefficient_of_variation() -> None:
    distribution = spread([0, 0])
    assert distribution is not None
    assert (distribution.stdev, distribution.cv_percent) == (0, None)


def test_six_pairs_give_the_whole_range() -> None:
    # 6 pairs: P(all on one side) = 2/64 = 3.1 %, so smallest to largest covers 96.9 %.
    interval = paired_ratio([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0] * 6)
    assert (interval.median, interval.low, interval.high) == (3.5, 1.0, 6.0)
    assert interval.coverage == pytest.approx(1 - 2 / 64)


def test_fifteen_pairs_leave_out_three_on_each_side() -> None:
    # Binomial(15, 1/2): P(X <= 3) = 576/32768 = 1.76 %, P(X <= 4) = 5.9 %: from the 4th to the
    # 12th.
    interval = paired_ratio([float(n) for n in range(1, 16)], [1.0] * 15)
    assert (interval.median, interval.low, interval.high) == (8.0, 4.0, 12.0)
    assert interval.coverage == pytest.approx(1 - 2 * 576 / 32768)


def test_pairs_stay_pairs() -> None:
    # The machine got twice as slow half-way: each ratio is still 1.1.
    a = [1.1, 1.1, 1.1, 2.2, 2.2, 2.2]
    b = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]
    assert paired_ratio(a, b).median == pytest.approx(1.1)


@pytest.mark.parametrize("a", [[1.0] * 5, [1.0] * 7])
def test_too_few_or_unequal_sides_are_refused(a: list[float]) -> None:
    with pytest.raises(ValueError, match=r"at least 6|zip"):
        paired_ratio(a, [1.0] * (5 if len(a) == 5 else 6))
