"""What passes, what fails, and what a gate leaves open."""

import numpy as np
import pytest

from report.statistics.gate import (
    GatedFigure,
    GatedSample,
    PromiseChangeKind,
    Verdict,
    gated_figures,
    verdict_of,
)
from report.statistics.samples import Sample
from report.statistics.sequential import LookSchedule, level_at

MARGIN = 0.02
TOLERATED = 0.10
PAIRS = 12


def sample(ratio: float, deviation: float, seed: int = 1, pairs: int = PAIRS) -> Sample:
    """Pairs of runs by turns whose ratios scatter around one ratio."""
    draws = np.random.default_rng(seed).normal(0, deviation, pairs)
    ratios = ratio * np.exp(draws - draws.mean())
    values = tuple((float(value), 1.0) for value in ratios)
    return Sample(
        new=tuple(new for new, _ in values),
        base=(1.0,) * pairs,
        pairs=values,
        rounds=pairs,
        together=True,
    )


def judged(
    throughput: tuple[float, float], cpu: tuple[float, float], pairs: int = PAIRS
) -> tuple[GatedFigure, ...]:
    """A gate of two figures, each with the ratio of its runs and their deviation."""
    return gated_figures(
        [
            GatedSample(sample(*throughput, pairs=pairs), higher_is_better=True),
            GatedSample(sample(*cpu, seed=2, pairs=pairs), higher_is_better=False),
        ],
        MARGIN,
        TOLERATED,
    )


@pytest.mark.parametrize(
    ("throughput", "cpu", "verdict"),
    [
        # Equal sides, and a head that is faster.
        ((1.0, 0.01), (1.0, 0.01), "passes"),
        ((1.3, 0.02), (0.8, 0.02), "passes"),
        # A loss beyond the margin that is bounded below what is tolerated.
        ((0.95, 0.01), (1.05, 0.01), "passes"),
        # A loss that is larger, in either figure alone.
        ((0.85, 0.02), (1.0, 0.01), "fails"),
        ((1.0, 0.01), (1.15, 0.02), "fails"),
        # A loss beyond the margin that may reach what is tolerated.
        ((0.92, 0.06), (1.0, 0.01), "fails"),
        # Nothing shown, and nothing bounded.
        ((1.0, 0.3), (1.0, 0.01), "not decided"),
        ((1.0, 0.01), (1.0, 0.3), "not decided"),
        # One figure is bounded, and the other one is shown to be worse.
        ((0.62, 0.5), (1.7, 0.05), "fails"),
    ],
)
def test_the_runs_decide(
    throughput: tuple[float, float], cpu: tuple[float, float], verdict: Verdict
) -> None:
    assert verdict_of(judged(throughput, cpu)) == verdict


def test_too_few_pairs_bound_nothing() -> None:
    figures = judged((1.0, 0.001), (1.0, 0.001), pairs=4)
    assert [figure.bounded for figure in figures] == [False, False]
    assert verdict_of(figures) == "not decided"
    assert verdict_of([]) == "not decided"


@pytest.mark.parametrize(
    ("throughput", "promises", "verdict"),
    [
        (1.0, ["broke"], "fails"),
        (0.8, ["broke"], "fails"),
        (1.0, ["not checked"], "not decided"),
        (0.8, ["not checked"], "fails"),
        (1.0, ["was broken before", "holds now"], "passes"),
    ],
)
def test_promises_decide_with_the_runs(
    throughput: float, promises: list[PromiseChangeKind], verdict: Verdict
) -> None:
    assert verdict_of(judged((throughput, 0.01), (1.0, 0.01)), promises) == verdict


def test_throughput_and_cpu_are_one_family() -> None:
    """Six pairs can decide one figure at 5 %, and no family of two."""
    six = [GatedSample(sample(0.5, 0.01, pairs=6), higher_is_better=True)]
    (alone,) = gated_figures(six, MARGIN, TOLERATED)
    (together, _) = gated_figures(
        [*six, GatedSample(sample(1.0, 0.01, pairs=6), higher_is_better=False)], MARGIN, TOLERATED
    )
    assert (alone.comparison.status, together.comparison.status) == ("worse", "not decided")
    assert together.comparison.comparisons == 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("throughput", "wrong"), [(1.0, "fails"), (1 - TOLERATED, "passes")], ids=["equal", "too slow"]
)
def test_looks_together_err_in_at_most_5_percent(throughput: float, wrong: Verdict) -> None:
    schedule = LookSchedule(looks=(9, 13, 20))
    random = np.random.default_rng(20260102)
    errors = 0
    for _ in range(400):
        ratios = throughput * np.exp(random.normal(0, 0.06, 20))
        costs = 1 / throughput * np.exp(random.normal(0, 0.06, 20))
        verdict: Verdict = "not decided"
        for look, share in schedule.levels:
            samples = [
                GatedSample(
                    Sample(
                        new=tuple(values[:look].tolist()),
                        base=(1.0,) * look,
                        pairs=tuple((value, 1.0) for value in values[:look].tolist()),
                        rounds=look,
                        together=True,
                    ),
                    higher_is_better,
                )
                for values, higher_is_better in ((ratios, True), (costs, False))
            ]
            verdict = verdict_of(
                gated_figures(samples, MARGIN, TOLERATED, level_at(share, 2, 2, 2))
            )
            if verdict != "not decided":
                break
        errors += verdict == wrong
    assert errors <= 0.05 * 400
