"""The ratio of pairs: hand-computed intervals."""

import pytest

from report.statistics.median import paired_ratio


def test_six_pairs_give_the_whole_range() -> None:
    # 6 pairs: P(all on one side) = 2/64 = 3.1 %, so smallest to largest covers 96.9 %.
    interval = paired_ratio([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0] * 6)
    assert (interval.median, interval.low, interval.high) == (3.5, 1.0, 6.0)
    assert interval.coverage == pytest.approx(1 - 2 / 64)


def test_fifteen_pairs_leave_out_three_on_each_side() -> None:
    # Binomial(15, 1/2): P(X <= 3) = 576/32768 = 1.76 %, P(X <= 4) = 5.9 %: from the 4th to the 12th.
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
