"""A search for the highest rate, from its folder to its page."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from builder import Document, configuration, hash_of, result
from campaign_writer import manifest, write_campaign
from conftest import Build
from report.analysis.campaign_analysis import analyse
from report.base.paths import SCHEMAS
from report.results.load import load_campaign
from report.sections.max_rate import max_rate_document

OBJECTIVES = ["p99<10ms", "errors<0.1%"]
NEAR = (940, 970, 1000, 1030, 1060)
LATE = "p99<10ms: 43"
GENERATOR = {"resource": "generator", "text": "the generator's event loop was 97 % busy"}

Trial = tuple[str, float, bool, str]
"""Label, rate, whether it brackets, and what it said."""


def at_rate(label: str, rate: float) -> Document:
    load = {"model": "open", "rate_per_second": rate, "arrivals": "constant", "connections": 200}
    return configuration(label, load=load)


def searched(
    trials: list[Trial], why: str | None = "done", **changes: Any
) -> tuple[Document, list[Document]]:
    """Manifest and results of a search; files are named as `write_campaign` names them."""
    configurations = {
        hash_of(config): config for label, rate, _, _ in trials for config in [at_rate(label, rate)]
    }
    run_counts: dict[str, int] = {}
    runs = []
    states = []
    results = []
    for number, (label, rate, bracket, status) in enumerate(trials):
        hashed = hash_of(at_rate(label, rate))
        run_counts[hashed] = run_counts.get(hashed, 0) + 1
        file = f"{number:02d}_run{run_counts[hashed]}.json"
        planned = {"configuration_hash": hashed, "run": run_counts[hashed], "file": file}
        runs.append({**planned, **({"bracket": True} if bracket else {})})
        reason = {"kept": "", "missed": LATE, "void": "M8 counts differ"}[status]
        states.append({"file": file, "status": status, "reason": reason})
        results.append(
            result(at_rate(label, rate), run_counts[hashed], max(100, int(rate)), **changes)
        )
    manifested = manifest(list(configurations.values()))
    manifested["plan"]["runs"] = runs
    manifested["plan"]["max_rate"] = {
        "objectives": OBJECTIVES,
        "from": 1000,
        "min": 0.1,
        "max": 1_000_000,
        "trials_per_rate": 5,
    }
    manifested["max_rate"] = {
        "trials": states,
        "spent_s": 60,
        **({"ended": {"why": why}} if why else {}),
    }
    return manifested, results


def of(label: str, capacity: float) -> list[Trial]:
    def status(rate: float) -> str:
        return "kept" if rate <= capacity else "missed"

    bracket: list[Trial] = [(label, rate, True, status(rate)) for rate in (625, 1000, 1600)]
    near: list[Trial] = [(label, rate, False, status(rate)) for _ in range(5) for rate in NEAR]
    return bracket + near


def documents(folder: Path, *parts: Any) -> list[dict[str, Any]]:
    return list(
        map(max_rate_document, analyse(load_campaign(write_campaign(folder, *parts))).max_rates)
    )


def test_each_target_has_its_estimate_with_the_interval_and_what_limited_it(build: Build) -> None:
    manifested, results = searched([*of("iovalkey", 1010), *of("ioredis", 960)])
    built = build(manifested, results, "--summary-json")
    assert built.code == 0, built.err
    document = json.loads(built.out)
    Draft202012Validator(json.loads((SCHEMAS / "summary.schema.json").read_text())).validate(
        document
    )
    iovalkey, ioredis = document["max_rate"]
    assert (iovalkey["label"], ioredis["label"]) == ("iovalkey", "ioredis")
    assert iovalkey["interval"] == pytest.approx({"low": 1000, "high": 1030}, rel=2e-3)
    assert ioredis["interval"] == pytest.approx({"low": 940, "high": 970}, rel=2e-3)
    assert (iovalkey["confirmed_per_second"], iovalkey["missed_per_second"]) == (1000, 1030)
    assert len(iovalkey["trials"]) == 28
    assert document["recommendation"]["sentences"][0] == (
        "iovalkey: 1,015/s is the highest rate that keeps p99<10ms, errors<0.1% (95 % interval 999/s to "
        "1,031/s, 25 trials at 5 rates); limited by: server loop (the server's event loop was 97 % busy)."
    )
    alone = {"command": manifested["command"], "found": document["max_rate"]}
    assert json.loads(built.text("max-rate.json")) == alone


def test_the_page_has_every_trial_by_rate(build: Build) -> None:
    built = build(*searched([*of("iovalkey", 1010), ("iovalkey", 1030, False, "void")]))
    section = built.page.partition('id="max-rate"')[2].partition("</section>")[0]
    near, _, bracket = section.partition('id="max-rate-1-bracket"')
    rows = re.findall(r'<th scope="row"[^>]*>([\d,]+)</th>(.*?)</tr>', near, re.S)
    assert [rate for rate, _ in rows] == ["1,060", "1,030", "1,000", "970", "940"]
    trials = [re.sub(r"[^●○×]", "", row) for _, row in rows]
    assert [row.count("●") for row in trials] == [0, 0, 5, 5, 5]
    assert [row.count("○") for row in trials] == [5, 5, 0, 0, 0]
    assert "×" in trials[1]
    assert "0 of 5" in rows[1][1]
    assert LATE.replace("<", "&lt;") in rows[0][1]
    assert re.sub(r"[^●]", "", bracket.partition("</table>")[0]) == "●●"
    # Figures at each of its rates are no answer.
    assert 'class="decision"' not in built.page


def test_a_target_that_the_generator_limits_is_censored(tmp_path: Path) -> None:
    (document,) = documents(tmp_path / "c", *searched(of("iovalkey", 1010), limited_by=GENERATOR))
    assert document["censored_by"] == "generator"
    assert (document["estimate_per_second"], document["interval"]["high"]) == (None, None)
    assert document["sentence"].startswith("iovalkey: at least 999/s keeps p99<10ms")
    assert (
        "the load generator was the limit (the generator's event loop was 97 % busy)"
        in document["sentence"]
    )


def test_trials_without_a_bound_say_so(tmp_path: Path) -> None:
    (document,) = documents(tmp_path / "c", *searched(of("iovalkey", 1100)))
    assert document["interval"] == {"low": pytest.approx(1060, rel=2e-3), "high": None}
    assert "errors<0.1% is at least 1,058/s (25 trials" in document["sentence"]


@pytest.mark.parametrize(
    ("why", "text"),
    [
        (None, "The search ended early: it was interrupted."),
        ("budget", "The search ended early: its time was used up."),
    ],
)
def test_an_early_end_leaves_a_partial_answer(tmp_path: Path, why: str | None, text: str) -> None:
    trials = of("iovalkey", 1010)
    (bracket,) = documents(tmp_path / "a", *searched(trials[:3], why))
    assert bracket["sentence"] == (
        "iovalkey: no estimate yet; in single trials 1,000/s keeps p99<10ms, errors<0.1%, 1,600/s does not. "
        + text
    )
    (near,) = documents(tmp_path / "b", *searched(trials[:23], why))
    assert near["interval"]["low"] < 1015 < near["interval"]["high"]
    assert near["sentence"].endswith(text)


def test_no_rate_at_all_is_a_result_too(tmp_path: Path) -> None:
    trials: list[Trial] = [("iovalkey", rate, True, "missed") for rate in (1000, 0.1)]
    (document,) = documents(tmp_path / "c", *searched(trials))
    assert document["sentence"] == "iovalkey: not even 0.1/s keeps p99<10ms, errors<0.1%."
    assert document["estimate_per_second"] is None
