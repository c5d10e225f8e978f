"""Rounds of two campaigns as `compare` pairs them, and campaigns that ended early."""

from collections.abc import Sequence

import pytest

from builder import configuration
from campaign_writer import manifest
from compared_campaigns import (
    CLOSED,
    GLIDE,
    IOVALKEY,
    REFERENCE,
    Call,
    Put,
)

#: Runs of ten rounds on a host that slows down by a third.
SLOWING = tuple(1 - 0.03 * number for number in range(10))


def put_in_rounds(
    put: Put, throughputs: dict[str, float], references: Sequence[str] = (IOVALKEY,)
) -> None:
    configured = [configuration(label, load=CLOSED) for label in throughputs]
    plan = manifest(configured, len(SLOWING))["plan"]
    for run in plan["runs"]:
        run |= {"round": run["run"]}
    hashes = {
        each["configuration"]["target"]["label"]: each["hash"] for each in plan["configurations"]
    }
    plan["references"] = [hashes[label] for label in references]
    put("one", throughputs, SLOWING, plan=plan)


def test_runs_of_one_round_are_compared_by_pairs(call: Call, put: Put) -> None:
    put_in_rounds(put, {IOVALKEY: 6000, GLIDE: 5700})
    completed = call(IOVALKEY, GLIDE)
    assert completed.code == 6
    assert "runs of one round are compared with each other" in completed.out
    (row,) = call(IOVALKEY, GLIDE, "--format", "json").document["comparisons"]
    assert (row["pairs"], row["ratio"]) == (10, pytest.approx(0.95, rel=1e-3))
    # The same runs without their rounds: the host's drift hides it.
    put("two", {IOVALKEY: 6000, GLIDE: 5700}, SLOWING)
    assert call(IOVALKEY, GLIDE).code == 7


def test_a_copy_is_compared_with_nothing_of_another_campaign_and_gates_nothing(
    call: Call, put: Put
) -> None:
    put_in_rounds(put, {IOVALKEY: 6000, GLIDE: 5700, "iovalkey+copy+same-script": 6360})
    assert call(IOVALKEY, GLIDE).code == 6
    assert call("--save-baseline", "main").code == 0
    rows = call("--baseline", "main", "--format", "json").document["comparisons"]
    assert [(row["new"]["label"], row["reference"]) for row in rows] == [(GLIDE, IOVALKEY)]


def put_adaptive(put: Put, name: str, throughputs: dict[str, float], rounds: int) -> None:
    configured = [configuration(label, load=CLOSED) for label in (REFERENCE, *throughputs)]
    plan = manifest(configured, 20)["plan"] | {"adaptive": {"looks": [5, 7, 10, 14, 20]}}
    asked = {each["hash"]: rounds for each in plan["configurations"]}
    factors = tuple(0.99 + 0.002 * ((7 * n) % 10) for n in range(rounds))
    adaptive = {"rounds": asked, "looked": rounds, "spent_s": 1}
    put(name, throughputs, factors, reference=4000, plan=plan, adaptive=adaptive)


def test_campaigns_that_stopped_early_are_compared_at_the_earlier_look(
    call: Call, put: Put
) -> None:
    put_adaptive(put, "one", {IOVALKEY: 6000, GLIDE: 5000}, 5)
    put_adaptive(put, "two", {IOVALKEY: 5000, GLIDE: 5000}, 10)
    completed = call("results/one", "results/two", "--format", "json")
    assert completed.code == 7, "two comparisons of five runs at 0.8 %: 2/252 for each is too much"
    row, _ = completed.document["comparisons"]
    assert (row["base"]["runs"], row["new"]["runs"]) == (5, 5)
    assert any(
        "the first 5 rounds" in note and "0.8 %" in note for note in completed.document["notes"]
    )
    assert row["interval"]["coverage"] > 0.98
    put_adaptive(put, "three", {IOVALKEY: 6000, GLIDE: 5000}, 10)
    assert call("results/three", "results/two").code == 6
