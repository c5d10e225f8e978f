"""Rule M17 case by case."""

import json
import math
import subprocess
import sys

import pytest

from report.base.paths import PACKAGE
from report.cli.statistics_command import power
from report.statistics.comparison import DEFAULT_MARGIN, Comparison
from report.statistics.decision import compare_runs, compare_samples
from report.statistics.power import runs_needed
from report.statistics.samples import Sample

STEADY = [1000.0, 1002, 1004, 1006, 1008]


def times(factor: float, runs: list[float] = STEADY) -> list[float]:
    return [factor * value for value in runs]


def compare_family(
    pairs: list[tuple[list[float], list[float]]], margin: float = DEFAULT_MARGIN
) -> tuple[Comparison, ...]:
    return compare_samples(
        [Sample(new=tuple(new), base=tuple(base)) for new, base in pairs], margin
    )


@pytest.mark.parametrize(
    ("factor", "higher_is_better", "status"),
    [
        (1.10, True, "better"),
        (0.90, True, "worse"),
        (1.10, False, "worse"),
        (0.90, False, "better"),
        (1.00, True, "no difference"),
        (1.01, True, "no difference"),
        (1.02, True, "slightly better"),
        (0.98, False, "slightly better"),
    ],
)
def test_decisions(factor: float, higher_is_better: bool, status: str) -> None:
    comparison = compare_runs(times(factor), STEADY, higher_is_better=higher_is_better)
    assert comparison.status == status
    assert comparison.ratio == pytest.approx(factor)
    assert comparison.reason == ""


def test_a_difference_below_the_margin_is_none_however_significant() -> None:
    very = [1000.0, 1001, 1002, 1003, 1004]
    comparison = compare_runs(times(1.015, very), very)
    assert comparison.p == pytest.approx(2 / 252)
    assert comparison.status == "no difference"
    assert compare_runs(times(1.015, very), very, margin=0.005).status == "better"


def test_four_runs_decide_nothing_and_say_what_it_takes() -> None:
    comparison = compare_runs(times(1.5)[:4], STEADY)
    assert comparison.too_few_runs
    assert comparison.reason == "4 runs per side cannot show a difference, it takes at least 5"
    assert (comparison.p, comparison.p_holm, comparison.runs_needed) == (None, None, 5)
    assert compare_runs([900], [1000]).runs_needed is None


def test_five_runs_cannot_decide_ten_comparisons() -> None:
    # 10 · 2/252 = 0.079: no order of runs is clear enough.
    family = compare_family([(times(1.5), STEADY)] * 10)
    assert {comparison.status for comparison in family} == {"not decided"}
    assert "too few for 10 comparisons" in family[0].reason
    assert family[0].detectable is None
    needed = family[0].runs_needed
    assert needed == 6
    six = [*STEADY, 1010.0]
    assert {comparison.status for comparison in compare_family([(times(1.5, six), six)] * 10)} == {
        "better"
    }


def test_six_comparisons_of_five_runs_can_be_decided() -> None:
    family = compare_family([(times(1.5), STEADY)] * 6)
    assert {comparison.status for comparison in family} == {"better"}
    assert family[0].p_holm == pytest.approx(6 * 2 / 252)


def test_correction_can_take_a_difference_away() -> None:
    # The interval lies beyond 2 %, p = 4/252; once for itself, once among four.
    base = [1000.0, 1001, 1002, 1003, 1051]
    new = [1050.0, 1060, 1061, 1062, 1063]
    alone = compare_runs(new, base, margin=0.0)
    assert alone.status == "better"
    (first, *_) = compare_family([(new, base)] * 4, margin=0.0)
    assert first.status == "not decided"
    assert "Holm" in first.reason


def test_comparisons_that_are_not_tested_do_not_count_in_the_correction() -> None:
    few, enough = compare_family([(STEADY[:3], STEADY), (times(1.2), STEADY)])
    assert (few.too_few_runs, enough.status, enough.comparisons) == (True, "better", 1)


def test_nothing_to_compare_is_said() -> None:
    comparison = compare_runs([], STEADY)
    assert (comparison.status, comparison.ratio) == ("not comparable", None)
    assert comparison.reason


def test_who_is_not_decided_needs_more_runs_than_he_has() -> None:
    comparison = compare_runs([1000.0, 1020, 1040, 1060, 1080], STEADY)
    assert comparison.status == "not decided"
    assert comparison.runs_needed is not None
    assert comparison.runs_needed > 5


def test_no_number_of_runs_decides_a_ratio_on_the_margin() -> None:
    assert runs_needed(1.02, 0.02, 0.02) is None
    assert runs_needed(1.1, 0.0, 0.02) == 5


def test_other_programs_ask_the_service() -> None:
    question = {"question": "paired_ratio", "a": times(1.1) * 2, "b": STEADY * 2}
    words = [sys.executable, str(PACKAGE), "statistics"]
    done = subprocess.run(
        words, input=json.dumps(question), capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["median"] == pytest.approx(1.1)


def test_rounds_of_equal_targets_say_what_a_machine_can_show() -> None:
    pairs = [(1000 * math.exp(0.04 * (-1) ** number), 1000.0) for number in range(8)]
    answer = power(pairs, [1.03, 1.05], 7)
    assert answer["interval"]["low"] < 1 < answer["interval"]["high"]
    assert answer["ratio"] == pytest.approx(1)
    assert answer["deviation"] == pytest.approx(0.04 * math.sqrt(8 / 7))
    more, needed = answer["rounds_needed"]
    assert more > needed
    # So many rounds find 5 %, and one fewer does not.
    assert (
        power(pairs, [], needed)["detectable"] <= 0.05 < power(pairs, [], needed - 1)["detectable"]
    )
    with pytest.raises(ValueError, match="two pairs"):
        power(pairs[:1], [1.1], 7)
