"""docs/accuracy.md tells of the archives what they say."""

import numpy as np
import pytest

from generated_pages import plain
from report.analysis.error_budget import read_budget
from report.base.paths import ROOT
from report.readme.accuracy import (
    PAGE,
    accuracy_markdown,
    neighbour_correlation,
    read_layer_figures,
)


@pytest.mark.long
def test_the_page_is_that_of_the_archives() -> None:
    text = (ROOT / "docs" / PAGE).read_text(encoding="utf-8")
    generated = accuracy_markdown(read_layer_figures(ROOT / "results"), read_budget())
    assert plain(generated) == plain(text), "run npm run accuracy, then npm run format"


def _pairs(correlation: float, rng: np.random.Generator) -> list[tuple[float, float]]:
    """Ten rounds whose log ratios remember a share of the round before."""
    log = rng.standard_normal()
    pairs = []
    for noise in rng.standard_normal(10):
        log = correlation * log + (1 - correlation**2) ** 0.5 * noise
        pairs.append((float(np.exp(0.04 * log)), 1.0))
    return pairs


@pytest.mark.parametrize(("correlation", "low", "high"), [(0.0, -0.03, 0.03), (0.5, 0.25, 0.5)])
def test_rounds_that_remember_are_correlated(correlation: float, low: float, high: float) -> None:
    """Without any memory the estimate is 0 on average, however few the rounds are."""
    rng = np.random.default_rng(3)
    estimates = [neighbour_correlation(_pairs(correlation, rng)) for _ in range(1500)]
    mean = float(np.mean([estimate for estimate in estimates if estimate is not None]))
    assert low < mean < high


def test_too_few_rounds_and_failed_ones_have_no_correlation() -> None:
    assert neighbour_correlation([(1.0, 2.0)] * 5) is None
    assert neighbour_correlation([(1.0, 2.0)] * 8) is None
    assert neighbour_correlation([*[(1.0, 2.0), (3.0, 2.0)] * 4, (0.0, 1.0)]) is None
