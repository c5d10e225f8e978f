"""A conclusion from runs of which a third or more are suspect says so in its own sentence."""

import pytest

from builder import Document, configuration, result, verdict
from conftest import analysis_of_results
from report.analysis.campaign_analysis import Analysis
from report.sections.recommendation import recommend
from report.sections.screen_text import screen_lines

STEADY = (0.997, 0.999, 1.0, 1.001, 1.003)
SUSPECT = verdict("suspect", ("M8", "the counts differ"))


def analysis_of(suspect: int) -> Analysis:
    """Ten runs of two targets that differ, of which so many of the faster one are suspect."""

    def runs_of(label: str, rate: int, suspect: int = 0) -> list[Document]:
        verdicts = [SUSPECT] * suspect + [verdict()] * (len(STEADY) - suspect)
        return [
            result(configuration(label), run, int(rate * factor), verdict=stated)
            for run, (factor, stated) in enumerate(zip(STEADY, verdicts, strict=True), start=1)
        ]

    return analysis_of_results(*runs_of("iovalkey", 6000, suspect), *runs_of("valkey-glide", 5000))


@pytest.mark.parametrize("suspect", [4, 5])
def test_who_is_fastest_although_many_runs_are_suspect(suspect: int) -> None:
    analysis = analysis_of(suspect)
    although = f"although {suspect} of 10 runs are suspect"
    fastest, slower, *_ = recommend(analysis).lead.split(". ")
    assert "is the fastest" in fastest and although in fastest
    assert "is slower than" in slower and although in slower
    (line,) = [line for line in screen_lines(analysis) if "although" in line]
    assert although in line


def test_below_a_third_the_sentence_is_plain() -> None:
    analysis = analysis_of(3)
    assert "although" not in " ".join([recommend(analysis).lead, *screen_lines(analysis)])
