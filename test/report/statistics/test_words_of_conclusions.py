"""The words of conclusions: one for each direction of a figure."""

import json
import math

import numpy as np
import pytest

from report.analysis.texts import interval_of
from report.base.paths import SCHEMAS
from report.statistics.comparison import Comparison
from report.statistics.conclusions import CONCLUSIONS, Status, conclusion_of
from report.statistics.decision import compare_runs, compare_samples
from report.statistics.samples import Sample


@pytest.mark.parametrize(
    ("higher_is_better", "of_more", "of_less"),
    [(True, "faster", "slower"), (False, "worse", "better")],
)
def test_a_rate_is_faster_and_a_cost_is_better(
    higher_is_better: bool, of_more: str, of_less: str
) -> None:
    base = [99.0, 100.0, 101.0, 102.0, 103.0]
    more = compare_runs([2 * value for value in base], base, higher_is_better=higher_is_better)
    less = compare_runs([value / 2 for value in base], base, higher_is_better=higher_is_better)
    assert [more.conclusion, less.conclusion] == [of_more, of_less]
    assert more.inverted().conclusion == of_less


def by_turns(low: float, high: float, *, higher_is_better: bool = True) -> Comparison:
    """A comparison by six pairs, whose interval runs from their lowest to their highest ratio."""
    logs = np.linspace(math.log(low), math.log(high), 6)
    pairs = tuple((1000 * math.exp(log), 1000.0) for log in logs)
    new, base = zip(*pairs, strict=True)
    sample = Sample(new=new, base=base, pairs=pairs, rounds=6, together=True)
    (comparison,) = compare_samples([sample], higher_is_better=higher_is_better)
    return comparison


@pytest.mark.parametrize(
    ("low", "high", "statement"),
    [
        (0.984, 1.012, "no difference, at most 2 % slower, at most 1 % faster"),
        (1.004, 1.012, "no difference, at most 1 % faster"),
        (0.9996, 1.012, "no difference, at most 0.04 % slower, at most 1 % faster"),
        (1.05, 1.12, "faster, at least 5 %"),
        (0.80, 0.85, "slower, at least 15 %"),
        # 2 % would hide that it lies beyond the margin.
        (1.0204, 1.08, "faster, at least 2.04 %"),
        (1.008, 1.034, "slightly faster, at most 3 %"),
        (0.966, 0.99, "slightly slower, at most 3 %"),
        (1.018, 1.092, "faster, size open, at least 2 %"),
        (0.92, 0.997, "slower, size open, at least 0.3 %"),
        (0.96, 1.05, "not decided, at most 4 % slower, at most 5 % faster"),
        # 2 % would look like no difference.
        (0.9796, 1.01, "not decided, at most 2.04 % slower, at most 1 % faster"),
    ],
)
def test_a_row_states_what_its_interval_bounds(low: float, high: float, statement: str) -> None:
    assert by_turns(low, high).statement == statement


def test_the_statement_of_a_cost_has_words_of_costs() -> None:
    assert by_turns(1.018, 1.092, higher_is_better=False).statement == (
        "worse, size open, at least 2 %"
    )
    assert by_turns(0.96, 1.05, higher_is_better=False).statement == (
        "not decided, at most 4 % lower, at most 5 % higher"
    )


def test_the_other_side_has_the_opposite_words() -> None:
    open_size = by_turns(1.018, 1.092)
    assert open_size.inverted().statement == "slower, size open, at least 2 %"
    assert by_turns(1.008, 1.035).inverted().conclusion == "slightly slower"


def test_an_interval_has_the_digits_that_show_the_rule() -> None:
    assert interval_of(by_turns(1.018, 1.092)) == "1.05×, 1.018–1.092×"
    assert interval_of(by_turns(1.05, 1.12)) == "1.08×, 1.05–1.12×"
    assert interval_of(by_turns(0.9796, 1.012)) == "1.00×, 0.9796–1.0120×"


def test_what_may_not_be_compared_bounds_nothing() -> None:
    blocked = by_turns(1.018, 1.092).undecided_by("other programs were busier beside one side")
    assert blocked.statement == "not decided"


def test_only_a_difference_beyond_the_margin_is_shown() -> None:
    """Copies are told apart, winners named and claims judged by it."""
    comparisons = [by_turns(1.05, 1.12), by_turns(1.008, 1.035), by_turns(1.018, 1.092)]
    assert [comparison.shown for comparison in comparisons] == [True, False, False]
    assert [comparison.decided for comparison in comparisons] == [True, False, False]
    assert [comparison.direction for comparison in comparisons] == ["better"] * 3


@pytest.mark.parametrize("status", ["no difference", "not decided", "not comparable"])
@pytest.mark.parametrize("higher_is_better", [True, False])
def test_what_names_no_side_has_one_word(status: Status, higher_is_better: bool) -> None:
    assert conclusion_of(status, higher_is_better=higher_is_better) == status


def test_the_schema_of_the_summary_lists_these_words() -> None:
    document = json.loads((SCHEMAS / "summary.schema.json").read_text("utf-8"))
    comparison = document["$defs"]["comparison"]["properties"]["conclusion"]
    server_ratio = document["$defs"]["server_ratio"]["anyOf"][1]["properties"]["conclusion"]
    assert comparison["enum"] == server_ratio["enum"] == list(CONCLUSIONS)
