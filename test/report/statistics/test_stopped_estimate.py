"""Estimates of runs that were stopped by what they showed."""

import math

import numpy as np
import pytest

from report.statistics.median_unbiased import PastLook, boundary_of, median_unbiased

LOOKS = (5, 7, 10, 14, 20)
SHARES = (0.008, 0.0067, 0.0067, 0.0067, 0.022)


def past(deviation: float, upto: int) -> list[PastLook]:
    return [
        PastLook(look, boundary_of(deviation / math.sqrt(look), 2 * look - 2, 0.02, share))
        for look, share in zip(LOOKS, SHARES, strict=True)
        if look <= upto
    ]


def test_at_the_first_look_it_is_the_plain_estimate_and_later_it_is_nearer_to_1() -> None:
    assert median_unbiased(0.1, 0.1, past(0.1, 5)) == 0.1
    assert 0 < median_unbiased(0.1, 0.1, past(0.1, 10)) < 0.1
    assert median_unbiased(-0.1, 0.1, past(0.1, 10)) == -median_unbiased(0.1, 0.1, past(0.1, 10))


def test_where_nothing_could_have_stopped_it_earlier_nothing_is_corrected() -> None:
    never = [PastLook(look, 9.0) for look in (5, 7)]
    assert median_unbiased(0.1, 0.1, never) == pytest.approx(0.1, abs=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("truth", [0.0, 0.04, 0.08])
def test_half_of_the_estimates_lie_above_the_truth(truth: float) -> None:
    """Of normal estimates that stop at the first difference in the one direction, or at the last
    look.

    Three standard errors: one in 370 draws would be refused. These are seeded.
    """
    rng = np.random.default_rng(2)
    deviation = 0.08
    trials = 400
    looks = past(deviation, LOOKS[-1])
    corrected = plain = 0
    for runs in rng.normal(truth, deviation, (trials, LOOKS[-1])):
        estimates = np.cumsum(runs)[np.array(LOOKS) - 1] / np.array(LOOKS)
        at = next(
            (n for n, look in enumerate(looks) if estimates[n] > look.boundary), len(LOOKS) - 1
        )
        if estimates[at] < 0:
            continue
        plain += estimates[at] > truth
        corrected += median_unbiased(float(estimates[at]), deviation, looks[: at + 1]) > truth
    assert abs(corrected / trials - 0.5) <= 3 * math.sqrt(0.25 / trials)
    assert plain >= corrected
