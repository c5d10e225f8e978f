"""Each precondition of a verdict: an attempt that meets all others cannot be told."""

from math import inf

import pytest
from msgspec import structs

from report.claims import preconditions as rules
from report.claims.preconditions import PRECONDITIONS, Claimed, Evidence, unmet

GOOD = Evidence(
    metric="p50",
    settled="settled",
    suspect_share=0.3,
    limits=("server CPU", "store CPU"),
    met="turns",
    versions={"ioredis": "5.6.1", "valkey": "8.1.1"},
    transports=("grpc", "grpc"),
    has_rate=True,
)
CLAIMED = Claimed(
    states="latency",
    versions={"ioredis": "5.6", "redis": "7"},
    transport="grpc",
    figure=1.3,
    attainable=(0.5, 2.0),
)

#: For each rule, evidence that breaks it alone, and the reason.
BROKEN: dict[rules.Precondition, list[tuple[dict[str, object], str]]] = {
    rules.is_settled: [
        ({"settled": "not checked"}, "not checked"),
        ({"settled": "not settled"}, "not settled"),
    ],
    rules.has_few_suspect_runs: [({"suspect_share": 1 / 3}, "a third of runs suspect")],
    rules.is_limited_by_what_is_compared: [
        ({"limits": ("host CPU",)}, "the host limited it"),
        ({"limits": ("none", "generator")}, "the generator limited it"),
        ({"limits": ("client",)}, "our own client limited it"),
    ],
    rules.has_sides_that_met: [({"met": "unpaired"}, "the sides ran unpaired")],
    rules.has_the_claimed_versions: [
        ({"versions": {"ioredis": "5.60.1"}}, "ioredis: another version than claimed"),
        ({"versions": {"redis": "8.0.2"}}, "redis: another version than claimed"),
    ],
    rules.has_the_claimed_transport: [
        ({"transports": ("grpc", "http")}, "another transport than claimed")
    ],
    rules.judges_latency_by_latency: [
        ({"metric": "store_cpu"}, "latency claim, another figure measured")
    ],
    rules.has_a_rate_for_latency: [({"has_rate": False}, "latency without a rate")],
    rules.is_not_late: [({"late_runs": 1}, "p50 of late requests")],
    rules.has_enough_samples: [({"unsupported_runs": 1}, "too few samples for p50")],
    rules.has_equal_copies: [({"copy_differs": True}, "a copy differs as well")],
    rules.is_undisturbed: [({"disturbed": True}, "other programs disturbed one side")],
    rules.has_an_interval: [({"has_interval": False}, "too few runs")],
}

#: The rules about what is claimed rather than about the evidence.
OF_THE_CLAIM = {rules.is_attainable, rules.has_a_rate_for_processor_time}


def test_an_attempt_that_meets_all_of_them_is_judged() -> None:
    assert unmet(GOOD, CLAIMED) == ()


@pytest.mark.parametrize(
    ("change", "reason"), [case for cases in BROKEN.values() for case in cases]
)
def test_each_precondition_alone_prevents_a_verdict(change: dict[str, object], reason: str) -> None:
    assert unmet(structs.replace(GOOD, **change), CLAIMED) == (reason,)
    assert len(reason.split()) <= 5


def test_every_precondition_is_tested() -> None:
    assert {*BROKEN, *OF_THE_CLAIM} == set(PRECONDITIONS)


@pytest.mark.parametrize(
    ("figure", "confirms", "attained"),
    [
        (1.35, None, False),
        (1.04, None, True),
        (None, (1.2, inf), False),
        (None, (1.04, inf), True),
    ],
)
def test_a_ratio_that_cannot_be_shown_here_decides_nothing(
    figure: float | None, confirms: tuple[float, float] | None, attained: bool
) -> None:
    # Of a request of 1,260 µs the client has 55.
    claimed = Claimed(figure=figure, confirms=confirms, attainable=(0.95, 1.05))
    expected = () if attained else ("claimed figure not attainable here",)
    assert unmet(GOOD, claimed) == expected


def test_processor_time_of_the_server_needs_a_rate() -> None:
    closed = structs.replace(GOOD, metric="cpu", has_rate=False)
    assert unmet(closed, Claimed()) == ("CPU follows from the throughput",)


def test_a_limit_that_the_claim_is_about_and_a_rc_of_the_claimed_version_are_fine() -> None:
    evidence = structs.replace(GOOD, limits=("client",), versions={"ioredis": "5.6-rc1"})
    about_client = structs.replace(CLAIMED, about=("client",))
    assert unmet(evidence, about_client) == ()
