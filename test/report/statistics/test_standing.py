"""What stands of a conclusion beside those of the parts of windows (rules M26 and M33)."""

import pytest
from msgspec import structs

from report.statistics.comparison import DEFAULT_MARGIN, Comparison
from report.statistics.conclusions import Status
from report.statistics.decision import standing
from report.statistics.ratio import RatioInterval

SLOWER = (0.85, 0.9)
SLOWER_BY_LITTLE = (0.9, 0.99)
UNDECIDED = (0.9, 1.05)


def compared(low: float, high: float) -> Comparison:
    statuses: dict[tuple[float, float], Status] = {
        SLOWER: "worse",
        SLOWER_BY_LITTLE: "worse, size open",
        UNDECIDED: "not decided",
    }
    return Comparison(
        status=statuses[low, high],
        higher_is_better=True,
        reason="",
        margin=DEFAULT_MARGIN,
        new_runs=9,
        base_runs=9,
        ratio=(low * high) ** 0.5,
        interval=RatioInterval(low, high, 0.95),
    )


@pytest.mark.parametrize(
    ("whole", "parts", "status", "interval"),
    [
        (SLOWER, (SLOWER, SLOWER), "worse", SLOWER),
        (SLOWER, (SLOWER, SLOWER_BY_LITTLE), "worse, size open", (0.85, 0.99)),
        (SLOWER, (SLOWER, UNDECIDED), "not decided", SLOWER),
        # A direction without a size stands no more easily than one with it.
        (SLOWER_BY_LITTLE, (SLOWER_BY_LITTLE, UNDECIDED), "not decided", SLOWER_BY_LITTLE),
        (UNDECIDED, (SLOWER, SLOWER), "not decided", UNDECIDED),
    ],
)
def test_only_what_all_parts_show_stands(
    whole: tuple[float, float],
    parts: tuple[tuple[float, float], tuple[float, float]],
    status: Status,
    interval: tuple[float, float],
) -> None:
    stands = standing(compared(*whole), [compared(*part) for part in parts], "parts differ")
    assert stands.status == status
    assert stands.interval and (stands.interval.low, stands.interval.high) == interval


def test_the_opposite_direction_in_a_part_leaves_nothing() -> None:
    faster = structs.replace(
        compared(*SLOWER), status="better", interval=RatioInterval(1.1, 1.2, 0.95)
    )
    stands = standing(compared(*SLOWER), [compared(*SLOWER), faster], "parts differ")
    assert (stands.status, stands.reason) == ("not decided", "parts differ")
