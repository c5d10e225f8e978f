"""The highest rate that is kept, on targets of known capacity (M30). Seeded."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest

from report.statistics.max_rate_estimate import RateEstimate, estimate_max_rate

CAPACITY = 1000.0
LADDER = 1.03

#: Logarithms by which the capacity moves: of so many moments that follow each other.
Moves = Callable[[np.random.Generator, int], np.ndarray]


@dataclass(frozen=True)
class Host:
    """What moves the capacity: from round to round, and from trial to trial."""

    rounds: Moves
    trials: Moves


def _steady(_rng: np.random.Generator, count: int) -> np.ndarray:
    return np.zeros(count)


def _chance(deviation: float) -> Moves:
    return lambda rng, count: deviation * rng.standard_normal(count)


def _skewed(deviation: float) -> Moves:
    """Bad moments: most trials are near the best, some far below."""
    return lambda rng, count: deviation * (math.log(2) - rng.exponential(size=count))


def _wandering(deviation: float, persistence: float) -> Moves:
    def moves(rng: np.random.Generator, count: int) -> np.ndarray:
        positions = [rng.standard_normal()]
        for _ in range(count - 1):
            positions.append(
                persistence * positions[-1] + math.sqrt(1 - persistence**2) * rng.standard_normal()
            )
        return deviation * np.array(positions)

    return moves


HOSTS: dict[str, Host] = {
    "steady": Host(_steady, _steady),
    "1 %": Host(_steady, _chance(0.01)),
    "3 %": Host(_steady, _chance(0.03)),
    "6 %": Host(_steady, _chance(0.06)),
    "10 %": Host(_steady, _chance(0.1)),
    "bad moments": Host(_steady, _skewed(0.05)),
    "wandering": Host(_steady, _wandering(0.03, 0.5)),
    "rounds 4 %": Host(_chance(0.04), _chance(0.01)),
    "rounds 6 %": Host(_chance(0.06), _chance(0.01)),
    "rounds 8 %": Host(_chance(0.08), _chance(0.02)),
}


def search(rng: np.random.Generator, host: Host, rounds: int = 5) -> RateEstimate:
    """Trials as a search makes them: five rates about a bracket that single trials found, and more
    where they do not enclose the bound. The same rules as in
    src/orchestrator/max-rate/trials.ts."""
    moments, levels = (iter(moves(rng, 2000)) for moves in (host.trials, host.rounds))

    def kept(rate: float, level: float) -> bool:
        return bool(rate <= CAPACITY * math.exp(level + next(moments)))

    low = CAPACITY * np.exp(rng.uniform(-0.47, 0))
    high = 0.0
    while not high:
        step = 1.6 * low
        if kept(step, next(levels)) or kept(step, next(levels)):
            low = step
        else:
            high = step
    while high / low > 1.06:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if kept(middle, next(levels)) else (low, middle)
    first = [math.sqrt(low * high) * LADDER**step for step in range(-2, 3)]
    outcomes: dict[float, list[bool]] = {rate: [] for rate in first}
    trials = []
    while due := [rate for rate, tried in outcomes.items() if len(tried) < rounds]:
        level = next(levels)
        for rate in rng.permutation(due).tolist():
            outcomes[rate].append(kept(rate, level))
            trials.append((rate, outcomes[rate][-1]))
        for rate in _more(outcomes, first):
            outcomes.setdefault(rate, [])
    return estimate_max_rate(trials)


def _more(outcomes: dict[float, list[bool]], first: list[float]) -> list[float]:
    def said(rate: float) -> float:
        """The share that was kept; a half where there are too few trials."""
        tried = outcomes[rate]
        return sum(tried) / len(tried) if len(tried) > 1 else 0.5

    rates = sorted(outcomes)
    found = []
    if outcomes[rates[-1]].count(True) > 0:
        found.append(rates[-1] * LADDER ** (2 ** sum(rate > max(first) for rate in rates)))
    if outcomes[rates[0]].count(False) > 0:
        found.append(rates[0] / LADDER ** (2 ** sum(rate < min(first) for rate in rates)))
    found += [
        math.sqrt(one * other)
        for one, other in pairwise(rates)
        if other / one > 1.06 and said(one) > 0.5 > said(other)
    ]
    return found


@pytest.mark.parametrize(
    ("host", "count"),
    [*(pytest.param(host, 100, marks=pytest.mark.long) for host in HOSTS), ("rounds 6 %", 20)],
)
def test_a_known_capacity_lies_in_the_interval_in_at_least_95_percent(
    host: str, count: int
) -> None:
    """Three standard errors: of an interval that just covers enough one in 700 draws would be
    refused."""
    rng = np.random.default_rng(30)
    estimates = [search(rng, HOSTS[host]) for _ in range(count)]
    covered = sum(
        (estimate.low or 0) <= CAPACITY <= (estimate.high or math.inf) for estimate in estimates
    )
    assert covered / count >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / count)
    widths = [
        math.log(estimate.high / estimate.low)
        for estimate in estimates
        if estimate.low and estimate.high
    ]
    assert len(widths) >= 0.9 * count
    # An interval that says nothing would cover, too.
    assert np.median(widths) < 0.25


def test_where_all_trials_agree_the_interval_is_the_gap_between_them() -> None:
    trials = [(rate, rate < 1000) for rate in (940, 970, 990, 1020, 1050) for _ in range(5)]
    estimate = estimate_max_rate(trials)
    assert (estimate.trials, estimate.kept) == (25, 15)
    assert estimate.low == pytest.approx(990, rel=2e-3)
    assert estimate.high == pytest.approx(1020, rel=2e-3)
    assert estimate.estimate == pytest.approx(math.sqrt(990 * 1020), rel=2e-3)


def test_what_the_trials_do_not_bound_is_open() -> None:
    all_kept = estimate_max_rate([(rate, True) for rate in (900, 1000) for _ in range(5)])
    assert (all_kept.estimate, all_kept.high) == (None, None)
    assert all_kept.low == pytest.approx(1000, rel=5e-3)
    none_kept = estimate_max_rate([(rate, False) for rate in (900, 1000) for _ in range(5)])
    assert (none_kept.estimate, none_kept.low) == (None, None)
    assert none_kept.high == pytest.approx(900, rel=5e-3)
    # Higher rates are not kept more often: such trials tell nothing.
    upside_down = estimate_max_rate([(rate, rate > 950) for rate in (900, 1000) for _ in range(5)])
    assert (upside_down.low, upside_down.high) == (None, None)


def test_the_order_within_a_round_and_the_unit_do_not_matter() -> None:
    rates = (850, 900, 950, 1000)
    rounds = [
        [(rate, rate * (1 + 0.05 * (number % 3)) < 1000) for rate in rates] for number in range(6)
    ]
    found = estimate_max_rate([trial for trials in rounds for trial in trials])
    other = estimate_max_rate(
        [(7 * rate, kept) for trials in rounds for rate, kept in trials[::-1]]
    )
    for one, scaled in (
        (found.estimate, other.estimate),
        (found.low, other.low),
        (found.high, other.high),
    ):
        assert one is not None
        assert scaled == pytest.approx(7 * one, rel=1e-6)


def test_rounds_that_differ_bound_the_rate_less_than_trials_that_do() -> None:
    rates = (900, 950, 1000, 1050, 1100)

    def width(*rounds: str) -> float:
        estimate = estimate_max_rate(
            [
                (rate, outcome == "k")
                for trials in rounds
                for rate, outcome in zip(rates, trials, strict=True)
            ]
        )
        assert estimate.low and estimate.high
        return estimate.high / estimate.low

    by_round = width("k----", "kk---", "kkk--", "kkk--", "kkkk-")
    # Each rate is kept as often.
    by_trial = width("kk---", "kk---", "kkk--", "kkk--", "k-kk-")
    assert by_round > 1.02 * by_trial


def test_too_few_trials_are_refused() -> None:
    with pytest.raises(ValueError, match="at least five"):
        estimate_max_rate([(1000, True)] * 4)
