"""A change of level inside windows by turns, with the ratio over the parts (rule M26)."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from report.analysis.cells import cells
from report.analysis.rankings import Ranking
from report.analysis.summary import Summary, summarize
from report.results.generated.records import LevelChange, Turns
from report.results.model import Run
from report.sections.ranking_text import sentence, shown_text
from simulated_campaigns import calm, campaign, plan, throughputs

REFERENCE = "iovalkey"
SLOW = "valkey-glide"
OTHER = "ioredis@valkey"
ROUNDS = 9
CYCLES = 30
SOME_ROUNDS = (3, 4)
ALL_ROUNDS = tuple(range(1, ROUNDS + 1))


def windowed(run: Run, step: float, rounds: Sequence[int], changing: Sequence[str]) -> Run:
    """A run by turns of slices of 100 ms. In these rounds the rate of the changing targets is
    `step` times as high in its second half."""
    changes = run.identity.label in changing and run.run in rounds
    measured = run.measured
    assert measured
    rate = (measured.requests_per_second or 0) / 10
    later = rate * (step if changes else 1)
    change = LevelChange(cycles_before=CYCLES // 2, ratio=step, error=0.02)
    turns = Turns(
        group=3,
        turns=CYCLES,
        lead_in_ms=5,
        slice_ms=100,
        drained_s=0.1,
        level_change=change if changes else None,
    )
    return replace(
        run,
        measured=replace(
            measured,
            record=structs.replace(measured.record, turns=turns),
            requests_per_second=10 * (rate + later) / 2,
            answers_each_slice=[round(rate)] * (CYCLES // 2) + [round(later)] * (CYCLES // 2),
        ),
    )


def ranking_with(
    step: float, truth: float, rounds: Sequence[int], changing: Sequence[str] = (SLOW,)
) -> Ranking:
    rng = np.random.default_rng(1)
    slots = plan(rng, REFERENCE, (SLOW, OTHER), ROUNDS)
    values = throughputs(rng, slots, calm, 0.005, {SLOW: truth})
    simulated = campaign(slots, values, REFERENCE)
    by_turns = replace(
        simulated,
        counted=tuple(windowed(run, step, rounds, changing) for run in simulated.counted),
        planned=tuple(structs.replace(entry, by_turns=True) for entry in simulated.planned),
    )
    (cell,) = cells(summarize(by_turns))
    (ranking,) = cell.rankings
    return ranking


def slow_row(ranking: Ranking) -> Summary:
    return next(row for row in ranking.summaries if row.identity.label == SLOW)


def test_the_ratio_over_the_parts_is_printed_and_a_conclusion_of_both_stands() -> None:
    ranking = ranking_with(0.75, 0.8, SOME_ROUNDS)
    assert ranking.conclusion_of(slow_row(ranking)) == "slower"
    (changed,) = [pair for pair in ranking.ranked_by if pair.level_change]
    assert changed.new is slow_row(ranking)
    changed_text = "In the ratio of valkey-glide the level changed inside 2 windows"
    assert changed_text in sentence(ranking)
    assert re.search(
        r"whose parts range from 0\.(59|60|61)× to 0\.(79|80|81)×\.", sentence(ranking)
    )


def test_an_answer_names_several_rows_in_one_clause_and_leaves_their_ranges_to_the_tables() -> None:
    ranking = ranking_with(0.75, 0.8, SOME_ROUNDS, (SLOW, OTHER))
    assert sentence(ranking).count("whose parts range") == 2
    answer = shown_text(ranking, (), brief=True)
    assert answer.count("the level changed inside windows") == 1
    assert "whose parts range" not in answer
    # Of one row the range stands in the answer.
    alone = ranking_with(0.75, 0.8, SOME_ROUNDS)
    assert "whose parts range" in shown_text(alone, (), brief=True)


@pytest.mark.parametrize("step", [0.75, 1.3])
def test_a_conclusion_that_one_part_does_not_have_falls(step: float) -> None:
    ranking = ranking_with(step, 1.0, ALL_ROUNDS)
    comparison = ranking.versus_base(slow_row(ranking))
    assert comparison and comparison.status == "not decided"
    assert comparison.blocked
    assert "whose parts range" in comparison.reason
    assert "whose parts range" in sentence(ranking)


def test_a_direction_that_both_parts_show_stands_with_the_size_that_both_show() -> None:
    ranking = ranking_with(1.3, 0.87, ALL_ROUNDS[:1])
    comparison = ranking.versus_base(slow_row(ranking))
    assert comparison and comparison.status == "worse, size open"
    assert not comparison.blocked
    assert comparison.interval and 0.98 < comparison.interval.high < 1
    assert "whose parts range" in comparison.reason


def test_windows_of_one_level_have_no_such_text() -> None:
    ranking = ranking_with(1, 0.8, ())
    assert not any(pair.level_change for pair in ranking.ranked_by)
    assert "level" not in sentence(ranking)
