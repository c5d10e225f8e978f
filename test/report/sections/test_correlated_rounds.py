"""A campaign whose neighbouring rounds are correlated says so wherever its conclusions are read."""

from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from report.analysis.campaign_analysis import Analysis, analyse
from report.export.summary_json import summary_document
from report.export.summary_markdown import summary_markdown
from report.sections.recommendation import recommend
from report.sections.screen_text import screen_lines
from simulated_campaigns import campaign, plan

REFERENCE = "iovalkey"
OTHER = "valkey-glide"
ROUNDS = 10
#: A word that nothing else on these pages has.
WORD = "correlated"


def by_turns(drift: float) -> Analysis:
    """A campaign in which the ratio grows by this share from round to round."""
    rng = np.random.default_rng(3)
    slots = plan(rng, REFERENCE, [OTHER], ROUNDS)
    rates = [
        1000 * (1 + drift * slot.place[0] * (slot.label == OTHER)) * float(np.exp(noise))
        for slot, noise in zip(slots, 0.01 * rng.standard_normal(len(slots)), strict=True)
    ]
    planned = campaign(slots, rates, REFERENCE)
    entries = tuple(structs.replace(entry, by_turns=True) for entry in planned.planned)
    return analyse(replace(planned, planned=entries))


@pytest.fixture(scope="module")
def drifting() -> Analysis:
    return by_turns(0.02)


@pytest.fixture(scope="module")
def steady() -> Analysis:
    return by_turns(0.0)


def warnings(analysis: Analysis) -> list[dict[str, object]]:
    (conclusion,) = summary_document(analysis, "")["conclusions"]
    return [entry for entry in conclusion["round_correlations"] if entry["warning"]]


def test_in_json(drifting: Analysis, steady: Analysis) -> None:
    (warning,) = warnings(drifting)
    assert (warning["figure"], warning["rounds"]) == ("throughput", ROUNDS)
    assert warnings(steady) == []


def test_on_the_page_and_in_markdown(drifting: Analysis, steady: Analysis) -> None:
    (caveat,) = [line for line in recommend(drifting).caveats if WORD in line.text]
    assert set(caveat.ids.split()) == {row.id for row in drifting.summaries}
    assert WORD in summary_markdown(drifting)
    assert WORD not in summary_markdown(steady)


def test_on_the_console(drifting: Analysis, steady: Analysis) -> None:
    assert WORD in " ".join(screen_lines(drifting))
    assert WORD not in " ".join(screen_lines(steady))
