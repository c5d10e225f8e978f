"""What the analysis says of campaigns by turns in which something is planted."""

import numpy as np
import pytest

from report.analysis.campaign_analysis import analyse
from report.analysis.figures import consumer_cpu, throughput
from report.analysis.rankings import Ranking
from report.analysis.settled import Settling
from report.export.summary_json import conclusions
from report.sections.ranking_text import sentence
from report.sections.screen_text import screen_lines
from report.sections.settled import settled
from report.statistics.comparison import Comparison
from turning_targets import Target, campaign_by_turns

REFERENCE = "iovalkey"
PLANTED = "valkey-glide"
EQUAL = "ioredis@valkey"
ROUNDS = 9
CAMPAIGNS = 10


def ranking_of(seed: int, planted: Target, lead_in_ms: float = 5, rounds: int = ROUNDS) -> Ranking:
    targets = {REFERENCE: Target(), EQUAL: Target(), PLANTED: planted}
    campaign = campaign_by_turns(
        np.random.default_rng(seed), targets, REFERENCE, rounds, lead_in_ms=lead_in_ms
    )
    (cell,) = analyse(campaign).cells
    (ranking,) = cell.rankings
    return ranking


def settling(ranking: Ranking, label: str) -> Settling:
    (row,) = [row for row in ranking.summaries if row.identity.label == label]
    found = ranking.settling_of(row, throughput)
    assert found
    return found


SLOW_AFTER_IDLING = Target(after_idling=0.8)
STEP = Target(second_half=0.75)


@pytest.mark.parametrize(
    ("planted", "lead_in_ms", "expected"),
    [
        (SLOW_AFTER_IDLING, 5, range(9, CAMPAIGNS + 1)),
        # The lead-in hides what is over by then.
        (SLOW_AFTER_IDLING, 50, range(2)),
        (STEP, 5, range(9, CAMPAIGNS + 1)),
        (Target(), 5, range(2)),
    ],
)
def test_what_is_planted_is_found_and_its_equal_is_not(
    planted: Target, lead_in_ms: float, expected: range
) -> None:
    rankings = [ranking_of(seed, planted, lead_in_ms) for seed in range(CAMPAIGNS)]

    def unsettled(label: str) -> int:
        return sum(settling(ranking, label).status == "not settled" for ranking in rankings)

    assert unsettled(PLANTED) in expected
    assert unsettled(EQUAL) <= 1


def compared(ranking: Ranking) -> Comparison:
    (pair,) = [pair for pair in ranking.ranked_by if pair.new.identity.label == PLANTED]
    return pair.comparison


def test_a_conclusion_stands_where_both_parts_have_it() -> None:
    ranking = ranking_of(1, Target(typical=0.85, after_idling=0.8))
    assert settling(ranking, PLANTED).status == "not settled"
    assert compared(ranking).status == "worse"


def test_a_conclusion_that_only_one_part_has_does_not_stand() -> None:
    # It is faster on average, and slower than the reference in the first 50 ms of each turn.
    ranking = ranking_of(1, Target(typical=1.1, after_idling=0.7))
    assert compared(ranking).status == "not decided"
    assert "it is not settled at the start of turns (0.7" in compared(ranking).reason
    assert ranking.winner is None


def test_both_ratios_are_in_words_and_in_documents() -> None:
    targets = {REFERENCE: Target(), PLANTED: Target(after_idling=0.7)}
    analysis = analyse(campaign_by_turns(np.random.default_rng(1), targets, REFERENCE, ROUNDS))
    (ranking,) = analysis.cells[0].rankings
    text = settling(ranking, PLANTED).text
    assert text.startswith("not settled at the start of turns (0.69× at first, ")
    assert f"The throughput of valkey-glide is {text}." in sentence(ranking)
    checked = "Of 2 ratios to the reference, 1 is not checked and 1 is not settled (M33)."
    assert checked in sentence(ranking)
    assert checked in " ".join(screen_lines(analysis))
    assert text in " ".join(screen_lines(analysis))

    (document,) = conclusions(analysis.cells)
    by_throughput, by_cpu = document["settled"]
    assert (by_throughput["status"], by_throughput["text"]) == ("not settled", text)
    assert by_throughput["checks"][0]["earlier"]["ratio"] == pytest.approx(0.7, abs=0.02)
    assert by_throughput["checks"][0]["later"]["ratio"] > 0.87
    # These results tell nothing of the CPU.
    assert by_cpu["status"] == "not checked"
    assert ranking.settling_of(ranking.summaries[-1], consumer_cpu) is not None

    (table,) = settled(analysis).tables
    assert [cell.plain for cell in table.rows[0].cells[:4]] == [
        "valkey-glide",
        "throughput",
        "at the start of turns",
        "not settled",
    ]
