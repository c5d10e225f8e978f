"""Every option that separates rankings is named in the report by its entry in the list of
options."""

import pytest
from msgspec import structs

from builder import configuration, result
from conftest import summaries_of
from report.analysis.cells import cells
from report.analysis.summary import Summary
from report.results.catalog import SAME_SCRIPT, SEPARATIONS, Separation
from report.results.model import PlannedRanking
from report.sections.script_text import difference, mode_text


def _planned(rows: tuple[Summary, ...], **properties: object) -> list[Summary]:
    """The rows as one ranking of the plan, whatever their targets are."""
    keys = tuple(row.identity.key for row in rows)
    ranking = structs.replace(
        PlannedRanking(id=f"ranking-{rows[0].id}", members=keys, family=1), **properties
    )
    return [structs.replace(row, ranking=ranking) for row in rows]


@pytest.mark.parametrize("separation", SEPARATIONS, ids=lambda separation: separation.option)
def test_an_option_that_separates_rankings_is_named(separation: Separation) -> None:
    option = separation.option.replace("<version>", "22")
    rows = summaries_of(*(result(configuration(label)) for label in ("iovalkey", "valkey-glide")))
    if separation.compares == "itself":
        (cell,) = cells(_planned(rows, client="iovalkey", varies=(separation.what,)))
        assert f"iovalkey {separation.words}" in mode_text(cell.rankings[0])
        return
    default, varied = rows
    (cell,) = cells([*_planned((default,)), *_planned((varied,), conditions=(option,))])
    assert any(separation.words in mode_text(ranking) for ranking in cell.rankings)
    if option != SAME_SCRIPT:
        value = separation.value or separation.words
        sentence = f"The {separation.what} differ: {separation.default_words} and {value}."
        assert sentence in difference(cell)


def test_rows_are_ranked_as_the_plan_says_whatever_their_targets_are() -> None:
    labels = ("iovalkey", "ioredis", "valkey-glide+tls")
    rows = summaries_of(
        *(result(configuration(label), run) for label in labels for run in range(1, 6))
    )
    (cell,) = cells(_planned(rows))
    (ranking,) = cell.rankings
    assert {row.identity.label for row in ranking.summaries} == set(labels)
