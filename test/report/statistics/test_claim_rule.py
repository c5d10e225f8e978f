"""From what was shown of a ratio to a verdict."""

import pytest

from report.statistics.claim_rule import (
    ELSEWHERE,
    HOLDS,
    REFUTED,
    TOLD_APART,
    UNMEASURED,
    UNTOLD,
    Evidence,
    Expectation,
    Part,
    Verdict,
    combined,
    judge,
)

#: 35 % faster, as published.
FASTER = Expectation(ratio=1.35, at_least=1.2, at_most=1.5, refuted_below=1.1, refuted_above=2.0)
#: Of one direction, without a figure.
CHEAPER = Expectation(at_most=0.98, refuted_above=0.98)


def seen(ratio: float, low: float, high: float, expected: Expectation = FASTER, **more: object) -> Evidence:
    """What an interval shows of each bound."""
    return Evidence(
        ratio=ratio,
        above=frozenset(bound for bound in expected.bounds if low > bound),
        below=frozenset(bound for bound in expected.bounds if high < bound),
        **more,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("ratio", "low", "high", "verdict"),
    [
        (1.35, 1.25, 1.45, HOLDS),
        (1.0, 0.95, 1.05, REFUTED),
        (2.4, 2.2, 2.6, REFUTED),
        # Reaches across a bound: neither is shown.
        (1.3, 1.15, 1.45, UNTOLD),
        (1.08, 1.0, 1.15, UNTOLD),
        # Another ratio than the published one, and nothing that would refute it.
        (1.15, 1.12, 1.18, UNTOLD),
        (1.7, 1.6, 1.8, UNTOLD),
    ],
)
def test_a_ratio_holds_within_its_bounds_and_is_refuted_beyond_others(
    ratio: float, low: float, high: float, verdict: Verdict
) -> None:
    found = judge(FASTER, seen(ratio, low, high))
    assert found.verdict == verdict
    assert bool(found.reason) == (verdict == UNTOLD)


@pytest.mark.parametrize(
    ("ratio", "low", "high", "verdict"),
    [(0.8, 0.7, 0.9, HOLDS), (1.1, 1.0, 1.2, REFUTED), (0.97, 0.95, 1.0, UNTOLD)],
)
def test_a_claim_of_one_direction(ratio: float, low: float, high: float, verdict: Verdict) -> None:
    assert judge(CHEAPER, seen(ratio, low, high, CHEAPER)).verdict == verdict


def test_what_would_decide_is_named_where_nothing_is_shown() -> None:
    found = judge(FASTER, seen(1.3, 1.15, 1.45, takes="about 20 runs per side would decide"))
    assert "1.20×" in found.reason
    assert found.takes == "about 20 runs per side would decide"


def test_a_copy_that_is_told_apart_leaves_nothing_to_tell() -> None:
    for ratio, low, high in ((1.35, 1.25, 1.45), (1.0, 0.95, 1.05)):
        found = judge(FASTER, seen(ratio, low, high, copy_told_apart=True))
        assert (found.verdict, found.reason) == (UNTOLD, TOLD_APART)


def test_no_smaller_distance_from_a_bound_is_called_shown_than_that_of_a_copy() -> None:
    """1.24 is 3 % above the bound of 1.2, and 1.05 is 5 % below that of 1.1."""
    for ratio, low, high, verdict in ((1.24, 1.22, 1.26, HOLDS), (1.05, 1.03, 1.07, REFUTED)):
        assert judge(FASTER, seen(ratio, low, high, resolution=0.02)).verdict == verdict
        assert judge(FASTER, seen(ratio, low, high, resolution=0.06)).verdict == UNTOLD


def test_an_obstacle_decides_before_the_ratio() -> None:
    found = judge(FASTER, seen(1.35, 1.25, 1.45, obstacle="3 runs per side cannot show a difference"))
    assert (found.verdict, found.reason) == (UNTOLD, "3 runs per side cannot show a difference")
    assert judge(FASTER, Evidence(ratio=None)).verdict == UNTOLD


def part(verdict: Verdict, as_published: bool = True, conditions: str = "then", reason: str = "") -> Part:
    return Part(verdict, reason, as_published, conditions)


NOW = part(HOLDS, as_published=False, conditions="versions of now")


@pytest.mark.parametrize(
    ("parts", "verdict", "words"),
    [
        ([part(HOLDS), part(HOLDS)], HOLDS, ""),
        # Whatever holds elsewhere, or does not.
        ([part(HOLDS), part(REFUTED, as_published=False)], HOLDS, ""),
        ([part(REFUTED)], REFUTED, ""),
        ([part(HOLDS), part(REFUTED, conditions="p99")], REFUTED, "p99"),
        ([part(REFUTED), NOW], ELSEWHERE, "versions of now; not so as published"),
        ([part(UNTOLD, reason="too few runs"), NOW], ELSEWHERE, "it cannot be told: too few runs"),
        ([part(UNMEASURED), NOW], ELSEWHERE, "not measured as published"),
        ([part(UNTOLD, reason="too few runs")], UNTOLD, "too few runs"),
        ([part(HOLDS), part(UNTOLD, reason="too few runs")], UNTOLD, "too few runs"),
        (
            [part(UNTOLD, reason="wide", conditions="rate"), part(UNTOLD, reason="near", conditions="p99")],
            UNTOLD,
            "rate: wide; p99: near",
        ),
        ([part(HOLDS), part(UNMEASURED)], UNTOLD, "not all of it was measured"),
        ([part(UNMEASURED), part(UNMEASURED, as_published=False)], UNMEASURED, ""),
    ],
)
def test_how_a_claim_of_several_parts_ends(parts: list[Part], verdict: Verdict, words: str) -> None:
    found, reason = combined(parts)
    assert found == verdict
    assert words in reason


def test_where_the_published_conditions_cannot_be_measured_other_ones_may_still_tell() -> None:
    assert combined([], "it is in no version") == (UNTOLD, "it is in no version")
    verdict, reason = combined([NOW], "it is in no version")
    assert verdict == ELSEWHERE
    assert reason.startswith("versions of now")
    assert "it is in no version" in reason
    assert combined([part(REFUTED, as_published=False)], "it is in no version")[0] == UNTOLD
    assert combined([part(UNMEASURED, as_published=False)], "it is in no version")[0] == UNMEASURED
