"""`compare --tolerate`: what a gate says of a campaign and an audit, and its exit codes."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from audit_documents import audit_of, audited, finding
from builder import Document, configuration, hash_of, result
from campaign_writer import manifest, write_campaign
from report.cli.compare_command import main
from report.cli.decide_rounds_command import main as decide_rounds

BASE = "iovalkey"
HEAD = "ioredis@valkey"
ROUNDS = 20
GROUP = {"group": 2, "turns": 10, "lead_in_ms": 5, "slice_ms": 100, "drained_s": 0.1}


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def gate(self) -> dict[str, Any]:
        gate: dict[str, Any] = json.loads(self.out)["gate"]
        return gate


Gate = Callable[..., Answer]


@pytest.fixture
def gate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Gate:
    """Calls `compare BASE HEAD --tolerate 10%` on the campaign of `put`."""

    def call(*words: str, form: str = "json") -> Answer:
        capsys.readouterr()
        flags = ["--tolerate", "10%", "--campaign", str(tmp_path / "one"), "--format", form]
        code = main([BASE, HEAD, *flags, *words])
        printed = capsys.readouterr()
        return Answer(code, printed.out, printed.err)

    return call


def put(
    folder: Path,
    speed: float,
    cpu: float = 1.0,
    *,
    rounds: int = ROUNDS,
    scatter: float = 0.01,
    tolerate: bool = False,
) -> Path:
    """A campaign by turns whose head has so much of the base's throughput and CPU per request.

    With `tolerate` it is one that looks at its runs, up to the first look that has all rounds."""
    sides = [(configuration(BASE), 1.0, 1.0), (configuration(HEAD), speed, cpu)]
    manifested = manifest([config for config, _, _ in sides], runs=ROUNDS)
    plan = manifested["plan"]
    plan |= {"order": "turns", "references": [hash_of(sides[0][0])]}
    for run in plan["runs"]:
        run |= {"round": run["run"], "group": 1}
    if tolerate:
        plan["adaptive"] = {"looks": [9, 13, 20], "tolerate_percent": 10}
        hashes = {hash_of(config): rounds for config, _, _ in sides}
        manifested["adaptive"] = {"rounds": hashes, "looked": rounds, "spent_s": 1}
    results = []
    for config, speed_of_side, cpu_of_side in sides:
        for run in range(1, rounds + 1):
            # The host is the same for both sides of a round.
            host = 1 + run % 4 / 10
            luck = 1 + scatter * (run * 7 % 5 - 2) * (speed_of_side != 1 or cpu_of_side != 1)
            document = result(config, run, round(5000 * host * luck * speed_of_side), turns=GROUP)
            server = document["resources"]["server-1"]
            server["cpu_us_per_request"] = 100 / host * cpu_of_side * luck
            results.append(document)
    return write_campaign(folder / "one", manifested, results)


@pytest.mark.parametrize(
    ("speed", "cpu", "code", "verdict"),
    [
        (1.0, 1.0, 0, "passes"),
        (0.95, 1.0, 0, "passes"),
        (0.85, 1.0, 6, "fails"),
        (1.0, 1.2, 6, "fails"),
    ],
)
def test_a_gate_passes_below_the_tolerated_loss_and_fails_beyond_it(
    tmp_path: Path, gate: Gate, speed: float, cpu: float, code: int, verdict: str
) -> None:
    put(tmp_path, speed, cpu)
    junit = tmp_path / "gate.xml"
    answer = gate("--junit", str(junit))
    assert (answer.code, answer.gate["verdict"]) == (code, verdict)
    assert {row["figure"] for row in answer.gate["figures"]} == {"throughput", "CPU per request"}
    # In JUnit's XML a loss that was shown is a failure where the gate fails.
    failures = (speed < 0.9) + (cpu > 1.1)
    assert junit.read_text(encoding="utf-8").count("<failure") == failures
    assert gate("--fail-on", "never").code == 0


def test_a_smaller_slow_down_is_told_though_it_passes(tmp_path: Path, gate: Gate) -> None:
    put(tmp_path, 0.95)
    assert "5 % slower" in gate().gate["headline"]
    assert "5 % slower" in gate(form="md").out.splitlines()[0]
    assert "5 % slower" in gate(form="table").out.splitlines()[0]


def test_a_loss_that_is_neither_bounded_nor_shown_is_not_decided(
    tmp_path: Path, gate: Gate
) -> None:
    put(tmp_path, 0.999, scatter=0.15)
    assert gate().code == 7


def findings(head: Document, base: Document) -> Document:
    return audit_of(audited(BASE, base), audited(HEAD, head))


HOLDS = finding("exact-burst", "holds", promised="20 of 100", seen="20")
BREAKS = finding("exact-burst", "broken", promised="20 of 100", seen="21")
FAILS = finding("exact-burst", "failed", reason="no answer")


@pytest.mark.parametrize(
    ("head", "base", "code", "change"),
    [
        (HOLDS, HOLDS, 0, None),
        (BREAKS, HOLDS, 6, "broke"),
        (BREAKS, BREAKS, 0, "was broken before"),
        (HOLDS, BREAKS, 0, "holds now"),
        (FAILS, HOLDS, 7, "not checked"),
    ],
)
def test_a_promise_that_only_the_head_breaks_fails_whatever_the_speed(
    tmp_path: Path, gate: Gate, head: Document, base: Document, code: int, change: str | None
) -> None:
    put(tmp_path, 1.02)
    (tmp_path / "audit.json").write_text(json.dumps(findings(head, base)), encoding="utf-8")
    answer = gate("--audit", str(tmp_path))
    assert answer.code == code
    assert [row["change"] for row in answer.gate["promises"]] == ([change] if change else [])
    assert ("exact-burst" in answer.gate["headline"]) is (change not in (None, "was broken before"))


def test_what_a_gate_cannot_judge_is_refused_with_the_remedy(tmp_path: Path, gate: Gate) -> None:
    put(tmp_path, 1.0)
    (tmp_path / "audit.json").write_text(json.dumps(audit_of(audited(BASE, HOLDS))), "utf-8")
    for words, remedy in (
        (["--audit", str(tmp_path)], HEAD),
        (["--metric", "cpu"], "--metric"),
        (["--tolerate", "1%"], "--margin"),
        (["--tolerate", "much"], "--tolerate"),
    ):
        answer = gate(*words)
        assert (answer.code, answer.err.count("\n")) == (2, 1)
        assert remedy in answer.err
    campaign = str(tmp_path / "one")
    assert main([BASE, HEAD, "--campaign", campaign, "--audit", str(tmp_path)]) == 2


@pytest.mark.parametrize(
    ("speed", "scatter", "goes_on"), [(1.0, 0.01, False), (0.8, 0.01, False), (0.999, 0.15, True)]
)
def test_a_campaign_of_a_gate_ends_at_the_first_look_that_decides_it(
    tmp_path: Path,
    gate: Gate,
    capsys: pytest.CaptureFixture[str],
    speed: float,
    scatter: float,
    goes_on: bool,
) -> None:
    folder = put(tmp_path, speed, rounds=9, scatter=scatter, tolerate=True)
    assert decide_rounds([str(folder), "--round", "9"]) == 0
    decision = json.loads(capsys.readouterr().out)
    assert {row["goes_on"] for row in decision["configurations"]} == {goes_on}
    assert bool(decision["not_concluded"]) is goes_on
    # What the campaign decided is what the comparison says of the same runs.
    answer = gate()
    assert (answer.code == 7) is goes_on
    assert answer.gate["judged_after_round"] == 9
