"""The words of conclusions: one for each direction of a figure."""

import json

import pytest

from report.base.paths import SCHEMAS
from report.statistics.conclusions import CONCLUSIONS, Status, conclusion_of
from report.statistics.decision import compare_runs


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


@pytest.mark.parametrize("status", ["no difference", "not decided", "not comparable"])
@pytest.mark.parametrize("higher_is_better", [True, False])
def test_what_names_no_side_has_one_word(status: Status, higher_is_better: bool) -> None:
    assert conclusion_of(status, higher_is_better=higher_is_better) == status


def test_the_schema_of_the_summary_lists_these_words() -> None:
    document = json.loads((SCHEMAS / "summary.schema.json").read_text("utf-8"))
    comparison = document["$defs"]["comparison"]["properties"]["conclusion"]
    server_ratio = document["$defs"]["server_ratio"]["anyOf"][1]["properties"]["conclusion"]
    assert comparison["enum"] == server_ratio["enum"] == list(CONCLUSIONS)
