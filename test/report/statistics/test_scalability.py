"""The Universal Scalability Law: what is planted is found, and what it says follows from its formula."""

import math

import numpy as np
import pytest

from report.statistics.resampling import Resamples, estimate_of
from report.statistics.scalability import ScalingLaw, fit_scaling_law

LAWS = [
    ScalingLaw(14_000, 0.05, 0.002),
    ScalingLaw(14_000, 0.0, 0.01),
    ScalingLaw(14_000, 0.2, 0.0),
    ScalingLaw(0.5, 0.0, 0.0),
]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("numbers", [(1, 2, 4), (2, 3, 5, 8)])
def test_planted_parameters_are_found(law: ScalingLaw, numbers: tuple[int, ...]) -> None:
    found = fit_scaling_law({servers: law.throughput(servers) for servers in numbers})
    assert found is not None
    assert found.one_server == pytest.approx(law.one_server)
    assert found.contention == pytest.approx(law.contention, abs=1e-9)
    assert found.coherency == pytest.approx(law.coherency, abs=1e-9)


def test_the_formula_is_gunthers() -> None:
    # 3 · 1000 ÷ (1 + 0.1 · 2 + 0.05 · 3 · 2)
    assert ScalingLaw(1000, 0.1, 0.05).throughput(3) == pytest.approx(2000)


def test_growth_beyond_linear_counts_as_linear() -> None:
    found = fit_scaling_law({1: 1000, 2: 2300, 4: 5000})
    assert found is not None
    assert (found.contention, found.coherency) == (0, 0)


@pytest.mark.parametrize("throughputs", [{1: 1000.0, 2: 1900.0}, {1: 1000.0, 2: 1900.0, 4: 0.0}])
def test_less_than_three_numbers_are_never_fitted(throughputs: dict[int, float]) -> None:
    with pytest.raises(ValueError, match="needs 3 numbers of servers"):
        fit_scaling_law(throughputs)


@pytest.mark.parametrize("law", LAWS)
def test_the_smallest_number_that_reaches_a_throughput(law: ScalingLaw) -> None:
    for share in (0.3, 0.9, 1.0, 1.7, 2.5, 4.0):
        wanted = share * law.one_server
        servers = law.servers_for(wanted)
        assert servers is not None
        assert law.throughput(servers) >= wanted
        assert servers == 1 or law.throughput(servers - 1) < wanted


def test_what_is_beyond_the_peak_or_the_ceiling_is_out_of_reach() -> None:
    peaked = ScalingLaw(1000, 0.04, 0.01)
    # √(0.96 ÷ 0.01) = 9.8
    assert peaked.peak_servers == 10
    assert max(range(1, 40), key=peaked.throughput) == 10
    assert peaked.servers_for(peaked.ceiling) == 10
    assert peaked.servers_for(peaked.ceiling * 1.001) is None
    level = ScalingLaw(1000, 0.1, 0.0)
    assert (level.peak_servers, level.ceiling) == (None, 10_000)
    assert level.servers_for(9_900) == 891
    assert level.servers_for(10_000) is None
    assert ScalingLaw(1000, 1.5, 0.0).peak_servers == 1


def test_intervals_hold_what_was_planted_under_noise() -> None:
    """Six runs of each number with a deviation of 2 %. Of 40 such campaigns 38 should hold the truth; that
    fewer than 33 do has a chance below 1 in 1000 (binomial)."""
    law, wanted = ScalingLaw(14_000, 0.06, 0.004), 50_000
    rng = np.random.default_rng(20)
    held = {"contention": 0, "throughput of 4": 0, "servers": 0}
    for _ in range(40):
        runs = {n: law.throughput(n) * np.exp(0.02 * rng.standard_normal(6)) for n in (1, 2, 4, 6)}
        drawn = [Resamples(6, rng).medians(values.tolist())[:400] for values in runs.values()]
        fitted = [
            found
            for medians in zip(*drawn, strict=True)
            if (found := fit_scaling_law(dict(zip(runs, map(float, medians), strict=True))))
        ]
        figures = {
            "contention": ([each.contention for each in fitted], law.contention),
            "throughput of 4": ([each.throughput(4) for each in fitted], law.throughput(4)),
            "servers": ([each.servers_for(wanted) or math.inf for each in fitted], law.servers_for(wanted)),
        }
        for name, (values, truth) in figures.items():
            interval = estimate_of(0.0, values)
            assert truth is not None and interval.low is not None and interval.high is not None
            held[name] += interval.low <= truth <= interval.high
    assert min(held.values()) >= 33, held
