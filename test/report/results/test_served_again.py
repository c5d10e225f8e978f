"""Older results do not state when requests were served again: the timeline tells the same as the
judge."""

import math
from collections.abc import Sequence

import msgspec
import pytest

from report.results.generated.records import FaultFiguresFault, MeasuredResultFault, Timeline
from report.results.served_again import served_again_s

#: Served and failed requests of a slice of 100 ms, in which 10 are due.
SERVED = (10, 0)
FAILS = (0, 10)
HANGS = (0, 0)

Slices = Sequence[tuple[float, tuple[int, int]]]


def timeline(parts: Slices) -> Timeline:
    slices = [each for seconds, each in parts for _ in range(round(10 * seconds))]
    nothing: list[int] = [0] * len(slices)
    waiting = 0
    backlog = []
    for served, failed in slices:
        waiting = max(0, waiting + 10 - served - failed)
        backlog.append(waiting)
    return Timeline(
        width_ms=100,
        opened_at="2026-01-01T00:00:00.000Z",
        opens_s=3,
        allowed=[served for served, _ in slices],
        limited=nothing,
        failed=[failed for _, failed in slices],
        timed_out=nothing,
        p50_us=[],
        p99_us=[],
        p99_second_us=[],
        p99_before_us=[],
        backlog=backlog,
    )


def fault(from_s: float, to_s: float) -> MeasuredResultFault:
    document = {
        "action": "restart",
        "roles": ["store-1"],
        "planned": {"start_s": from_s, "length_s": to_s - from_s},
        "injected": {"from_s": from_s, "to_s": to_s},
        "undone": True,
    }
    return msgspec.convert(document, MeasuredResultFault)


def figures(place: int) -> FaultFiguresFault:
    document = {
        "fault": place,
        **dict.fromkeys(("observed_s", "outage_injected_s", "outage_seen_s", "requests_lost"), 0),
        **dict.fromkeys(("first_error_s", "error_share", "recovery_s", "p99_worst_us", "answers")),
        "recovery": "never",
        "behaviour": "errors",
    }
    return msgspec.convert(document, FaultFiguresFault)


@pytest.mark.parametrize(
    ("parts", "lasts_s", "expected"),
    [
        pytest.param(
            [(1.3, FAILS), (8, SERVED)], 1, 1.3, id="errors until the client is connected again"
        ),
        pytest.param(
            [(2, HANGS), (0.1, (210, 0)), (8, SERVED)], 2, 2, id="what waited is answered"
        ),
        pytest.param([(8, SERVED)], 1, 0, id="no outage"),
        pytest.param([(1, FAILS), (9, (9, 1))], 1, math.inf, id="errors stay"),
        pytest.param([(1, FAILS), (9, (9, 0))], 1, math.inf, id="some requests wait for ever"),
        pytest.param(
            [(1, FAILS), (2.9, SERVED), (0.1, FAILS), (5, SERVED)],
            1,
            4,
            id="three seconds in a row",
        ),
        pytest.param([(4, SERVED), (2, FAILS), (5, SERVED)], 6, 6, id="the outage comes late"),
        pytest.param([(2, SERVED)], 0, None, id="the run ends too soon"),
    ],
)
def test_served_again(parts: Slices, lasts_s: float, expected: float | None) -> None:
    seconds = served_again_s(
        timeline([(10, SERVED), *parts]), [fault(10, 10 + lasts_s)], figures(0)
    )
    assert seconds == expected


def test_each_of_several_faults_is_followed_to_the_next_one() -> None:
    line = timeline([(10, SERVED), (2, FAILS), (4, SERVED), (1, FAILS), (5, SERVED)])
    faults = [fault(16, 17), fault(10, 11)]
    assert [served_again_s(line, faults, figures(place)) for place in (0, 1)] == [1, 2]
