"""Tests what the systematic error does to intervals and conclusions (rule M34)."""

import pytest

from bench.conclusions_by_turns import CORRELATIONS, SIZES, by_turns
from report.analysis.error_budget import Budget, Component
from report.statistics.comparison import Comparison
from report.statistics.decision import compare_samples
from report.statistics.samples import Sample
from report.statistics.systematic_error import COMPONENTS, SystematicError


def compared(ratio: float, systematic: SystematicError) -> Comparison:
    pairs = tuple((1000 * ratio * (1 + 0.001 * (index % 3 - 1)), 1000.0) for index in range(12))
    sample = Sample(
        new=tuple(new for new, _ in pairs),
        base=tuple(base for _, base in pairs),
        pairs=pairs,
        rounds=12,
        together=True,
        systematic=systematic,
    )
    return compare_samples([sample])[0]


def component(name: str, at_most: float) -> Component:
    return Component(
        component=name,
        layer="server",
        figure="throughput",
        at_most=at_most,
        command="a command",
        source="a file",
    )


def test_an_interval_is_widened_at_both_ends() -> None:
    plain = compared(1.1, SystematicError())
    widened = compared(1.1, SystematicError(share=0.01))
    assert plain.interval is not None
    assert widened.interval is not None
    assert widened.interval.low == pytest.approx(plain.interval.low / 1.01)
    assert widened.interval.high == pytest.approx(plain.interval.high * 1.01)


def test_what_was_not_measured_forbids_only_no_difference() -> None:
    unmeasured = SystematicError(unmeasured=COMPONENTS)
    assert compared(1.0, SystematicError()).status == "no difference"
    assert compared(1.0, unmeasured).status == "not decided"
    assert compared(1.0, unmeasured).runs_needed is None
    assert compared(1.1, unmeasured).status == compared(1.1, SystematicError()).status == "better"


def test_an_error_beyond_the_difference_leaves_no_direction() -> None:
    assert compared(1.03, SystematicError()).direction == "better"
    assert compared(1.03, SystematicError(share=0.05)).direction is None
    assert compared(1.0, SystematicError(share=0.05)).status == "not decided"


def test_a_budget_adds_squares_of_what_applies_and_names_what_is_missing() -> None:
    budget = Budget(components=(component("drift", 0.03), component("order", 0.04)))
    error = budget.error("server", "throughput", "targets")
    assert error.share == pytest.approx(0.05)
    assert error.unmeasured == ("start of a turn", "group size")
    assert budget.error("limiter", "throughput", "targets").unmeasured == COMPONENTS
    assert budget.error("server", "throughput", "one program").unmeasured == ("copies",)


def test_a_new_measurement_replaces_that_of_the_same_component() -> None:
    budget = Budget(components=(component("drift", 0.03),))
    assert budget.with_components([component("drift", 0.01)]).components == (
        component("drift", 0.01),
    )


@pytest.mark.parametrize("sizes", SIZES)
def test_a_bias_inside_the_budget_is_covered(sizes: str) -> None:
    shares = by_turns(CORRELATIONS[0], sizes, 60)
    assert sum(shares["covered"]) / 60 >= 0.95
    # 5 % and three standard errors of 60 families.
    assert sum(shares["false conclusion"]) / 60 <= 0.05 + 3 * (0.05 * 0.95 / 60) ** 0.5
