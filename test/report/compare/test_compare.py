"""`compare` as it is called: sides, margins, rounds and exit codes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from builder import Document, configuration, result, verdict
from campaign_writer import manifest, write_campaign
from compared_campaigns import (
    CLOSED,
    GLIDE,
    IOVALKEY,
    JITTER,
    REFERENCE,
    TURNS,
    Call,
    Put,
    at_rate,
    changing,
)
from report.base.errors import REGRESSION
from report.base.paths import PACKAGE


def test_two_targets_of_the_latest_campaign(call: Call, put: Put, tmp_path: Path) -> None:
    put("one", {IOVALKEY: 6000, GLIDE: 5000})
    junit = tmp_path / "comparison.xml"
    worse = call(IOVALKEY, GLIDE, "--format", "json", "--junit", str(junit))
    assert worse.code == 6
    assert '<failure message="0.833×' in junit.read_text(encoding="utf-8")
    (row,) = worse.document["comparisons"]
    assert row["conclusion"] == "slower"
    assert row["ratio"] == pytest.approx(5 / 6, rel=1e-3)
    assert row["ratio_of_medians"] is None, "ratio is the one estimate"
    assert row["interval"]["low"] < 5 / 6 < row["interval"]["high"] < 0.98
    assert (row["base"]["runs"], row["new"]["runs"], row["p"]) == (6, 6, pytest.approx(2 / 924))
    assert row["reference"] is None
    assert worse.document["margin_percent"] == pytest.approx(2)
    better = call(GLIDE, IOVALKEY)
    assert better.code == 0
    assert better.out.endswith("no regression\n")
    assert call(IOVALKEY, GLIDE, "--fail-on", "never").code == 0


@pytest.mark.parametrize("metric", ["p50", "p99"])
def test_what_is_better_when_lower(call: Call, put: Put, metric: str) -> None:
    # The builder's latency is inverse to the throughput.
    put("one", {IOVALKEY: 6000, GLIDE: 5000})
    (row,) = call(IOVALKEY, GLIDE, "--metric", metric, "--format", "json").document["comparisons"]
    assert row["conclusion"] == "worse"
    assert row["ratio"] == pytest.approx(1.2, rel=0.01)


BURNING = "iovalkey+autopipelining+same-script"


@pytest.fixture
def put_burning(put: Put) -> Callable[..., None]:
    """A campaign in which a target takes a tenth more CPU per request than another, at the same
    loads."""

    def write(*loads: Document, runs: int = 6) -> None:
        for document in changing(
            put("one", {IOVALKEY: 6000, BURNING: 6000}, JITTER[:runs], loads=loads)
        ):
            if document["configuration"]["target"]["label"] == BURNING:
                document["resources"]["server-1"]["cpu_us_per_request"] *= 1.1

    return write


def test_a_tenth_more_cpu_per_request_at_one_rate_is_a_regression(
    call: Call, put_burning: Callable[..., None]
) -> None:
    put_burning(at_rate(6000))
    completed = call(IOVALKEY, BURNING, "--metric", "cpu")
    assert completed.code == 6 and "full load" not in completed.out
    assert call(BURNING, IOVALKEY, "--metric", "cpu").code == 0
    assert call(IOVALKEY, BURNING).code == 0


@pytest.mark.parametrize("runs", [3, 6])
def test_in_a_closed_loop_cpu_per_request_is_no_second_conclusion(
    call: Call, put_burning: Callable[..., None], runs: int
) -> None:
    put_burning(CLOSED, runs=runs)
    assert call(BURNING, IOVALKEY, "--metric", "cpu").code == 7
    completed = call(IOVALKEY, BURNING, "--metric", "cpu")
    assert completed.code == 7
    assert "(--rate)" in completed.out and "full load" in completed.out
    (row,) = call(IOVALKEY, BURNING, "--metric", "cpu", "--format", "json").document["comparisons"]
    assert row["ratio"] == pytest.approx(1.1, rel=0.01)
    assert (row["conclusion"], row["p"], row["p_holm"], row["runs_needed"]) == (
        "not decided",
        None,
        None,
        None,
    )
    assert call(IOVALKEY, BURNING, "--metric", "cpu", "--fail-on", "never").code == 0


def test_cpu_at_one_rate_decides_beside_a_closed_loop(
    call: Call, put_burning: Callable[..., None]
) -> None:
    put_burning(CLOSED, at_rate(6000), at_rate(3000))
    rows = call(IOVALKEY, BURNING, "--metric", "cpu", "--format", "json")
    assert [row["conclusion"] for row in rows.document["comparisons"]] == [
        "not decided",
        "worse",
        "worse",
    ]
    assert (rows.code, rows.document["verdict"]) == (6, "regression")
    # What concludes nothing does not leave the rest undecided.
    assert call(BURNING, IOVALKEY, "--metric", "cpu").code == 0


def test_output_that_nobody_reads_ends_quietly_with_the_code_of_the_comparison(put: Put) -> None:
    folder = put("one", {IOVALKEY: 6000, GLIDE: 5000})
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, str(PACKAGE), "compare", IOVALKEY, GLIDE, "--campaign", str(folder)]
    done = subprocess.run(words, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.stderr, done.returncode) == (b"", REGRESSION)


def test_few_runs_decide_nothing(call: Call, put: Put) -> None:
    put("one", {IOVALKEY: 6000, GLIDE: 5000}, JITTER[:3])
    completed = call(IOVALKEY, GLIDE)
    assert completed.code == 7
    assert (
        "not decided: 3 runs per side cannot show a difference, it takes at least 5"
        in completed.out
    )


def test_the_margin_is_the_users(call: Call, put: Put) -> None:
    put("one", {IOVALKEY: 6000, GLIDE: 5000})
    assert call(IOVALKEY, GLIDE, "--margin", "30%").code == 0
    assert call(IOVALKEY, GLIDE, "--margin", "0.5").code == 6
    for wrong in ("-1", "100", "x", "2%%", ""):
        refused = call(IOVALKEY, GLIDE, f"--margin={wrong}")
        assert (refused.code, refused.err.count("\n")) == (2, 1)


def test_the_margin_is_that_of_the_campaign_unless_it_is_given(call: Call, put: Put) -> None:
    folder = put("one", {IOVALKEY: 6000, GLIDE: 5900})
    assert call(IOVALKEY, GLIDE, "--format", "json").document["margin_percent"] == pytest.approx(2)

    path = folder / "manifest.json"
    document = json.loads(path.read_text("utf-8"))
    document["plan"]["margin_percent"] = 5
    path.write_text(json.dumps(document), encoding="utf-8")
    by_campaign = call(IOVALKEY, GLIDE, "--format", "json").document
    assert by_campaign["margin_percent"] == pytest.approx(5)
    assert by_campaign["comparisons"][0]["conclusion"] == "no difference"

    given = call(IOVALKEY, GLIDE, "--margin", "1", "--format", "json").document
    assert given["margin_percent"] == pytest.approx(1)


def test_campaigns_are_matched_by_target_and_say_what_only_one_has(call: Call, put: Put) -> None:
    put("one", {IOVALKEY: 6000, GLIDE: 5000}, reference=4000)
    put("two", {IOVALKEY: 5000, GLIDE: 5000, "ioredis@valkey+same-script": 4000}, reference=4000)
    completed = call("results/one", "results/two")
    assert completed.code == 6
    assert "only in two: ioredis@valkey+same-script" in completed.out
    assert call("results/one#" + GLIDE, "results/two").code == 0
    assert call("results/one", f"results/two#{IOVALKEY}").code == 6


def test_consecutive_runs_decide_nothing(call: Call, put: Put) -> None:
    plan = manifest([configuration(IOVALKEY), configuration(GLIDE)], 6)["plan"]
    put("one", {IOVALKEY: 6000, GLIDE: 5000}, plan={**plan, "order": "consecutive"})
    completed = call(IOVALKEY, GLIDE, "--format", "json")
    (row,) = completed.document["comparisons"]
    assert (completed.code, row["conclusion"]) == (7, "not decided")
    assert "the host does not cancel" in row["reason"]
    assert row["ratio"] == pytest.approx(5 / 6, rel=1e-3)


def test_what_the_host_did_to_both_cancels_between_campaigns(call: Call, put: Put) -> None:
    # The second campaign met a host that is half as fast.
    put("one", {IOVALKEY: 6000, GLIDE: 5000}, reference=4000)
    put("two", {IOVALKEY: 3000, GLIDE: 2250}, reference=2000)
    completed = call("results/one", "results/two", "--format", "json")
    assert completed.code == 6
    first, second = completed.document["comparisons"]
    assert [row["new"]["label"] for row in (first, second)] == [IOVALKEY, GLIDE]
    assert (first["conclusion"], first["reference"]) == ("no difference", REFERENCE)
    assert second["conclusion"] == "slower"
    assert second["ratio"] == pytest.approx(0.9, rel=2e-3)
    assert second["interval"]["low"] < 0.9 < second["interval"]["high"]
    assert (second["pairs"], second["comparisons_in_family"]) == (None, 2)
    assert call("results/one", f"results/two#{IOVALKEY}").code == 0


def test_six_rounds_on_each_side_are_needed(call: Call, put: Put) -> None:
    put("one", {IOVALKEY: 6000}, JITTER[:5], reference=4000)
    put("two", {IOVALKEY: 3000}, JITTER, reference=4000)
    assert call("results/one", "results/two").code == 7
    put("three", {IOVALKEY: 6000}, JITTER, reference=4000)
    assert call("results/three", "results/two").code == 6


@pytest.mark.parametrize("change", ["version", "store", "none", "consecutive"])
def test_without_a_common_reference_nothing_is_decided(call: Call, put: Put, change: str) -> None:
    put("one", {IOVALKEY: 6000}, reference=4000)
    folder = put("two", {IOVALKEY: 3000}, reference=None if change == "none" else 4000)
    if change == "consecutive":
        manifested = json.loads((folder / "manifest.json").read_text())
        manifested["plan"]["order"] = change
        for run in manifested["plan"]["runs"]:
            del run["round"], run["group"]
        (folder / "manifest.json").write_text(json.dumps(manifested))
    for document in changing(folder):
        if document["configuration"]["target"]["label"] == REFERENCE and change in (
            "version",
            "store",
        ):
            document["versions"]["client" if change == "version" else "store"] = "9.9.9"
    completed = call("results/one", "results/two", "--allow", "order,store", "--format", "json")
    (row,) = [
        each for each in completed.document["comparisons"] if each["new"]["label"] == IOVALKEY
    ]
    assert (completed.code, row["conclusion"], row["reference"]) == (7, "not decided", None)
    assert "the host does not cancel" in row["reason"]
    assert "--reference auto" in row["reason"]
    assert row["ratio"] == pytest.approx(0.5, rel=1e-2)


def test_a_round_in_which_the_reference_failed_its_load_is_left_out(call: Call, put: Put) -> None:
    put("one", {IOVALKEY: 6000}, reference=4000)
    folder = put("two", {IOVALKEY: 6000}, (*JITTER, *JITTER), reference=4000)
    for number, document in enumerate(changing(folder)):
        if number < 2:
            assert document["configuration"]["target"]["label"] == REFERENCE
            document |= {"outcome": "failed", "outcome_text": "failed"}
    completed = call("results/one", "results/two", "--format", "json")
    (row,) = completed.document["comparisons"]
    assert (completed.code, row["conclusion"], row["ratio"]) == (
        0,
        "no difference",
        pytest.approx(1, abs=0.01),
    )


@pytest.mark.parametrize(
    ("turns", "code"), [({"group": 5}, 2), ({"slice_ms": 400}, 2), ({"slice_ms": 120}, 0), ({}, 0)]
)
def test_order_group_and_slice_are_checked(
    call: Call, put: Put, turns: Document, code: int
) -> None:
    put("one", {IOVALKEY: 6000}, reference=4000)
    put("two", {IOVALKEY: 6000}, reference=4000, turns=TURNS | turns)
    assert call("results/one", "results/two").code == code
    assert call("results/one", "results/two", "--allow", "order").code == 0
    put("three", {IOVALKEY: 6000}, reference=4000, order="interleaved")
    refused = call("results/one", "results/three")
    assert (refused.code, "order differs: turns, then interleaved" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["a"], "give BASE and NEW"),
        (["iovalkei+same-script", IOVALKEY], "did you mean iovalkey+same-script?"),
        ([IOVALKEY, IOVALKEY], "both sides are the same runs"),
        (["#x", IOVALKEY], "give DIR#TARGET"),
        (["", IOVALKEY], "is empty"),
        (["results/none", "results/one"], "is not a folder"),
        ([IOVALKEY, GLIDE, "--allow", "everything"], "--allow 'everything': give of machine"),
        (["--baseline", "main", IOVALKEY, GLIDE], "give one side at most"),
    ],
)
def test_wrong_usage_is_one_line(call: Call, put: Put, arguments: list[str], text: str) -> None:
    put("one", {IOVALKEY: 6000, GLIDE: 5000})
    if "--baseline" in arguments:
        call("--save-baseline", "main")
    refused = call(*arguments)
    assert refused.code == 2
    assert text in refused.err
    assert (refused.out, refused.err.count("\n")) == ("", 1)


def test_a_target_of_another_campaign_is_found_there(call: Call, put: Put) -> None:
    put("20260101_000000", {IOVALKEY: 6000, GLIDE: 5000})
    put("example", {IOVALKEY: 6000, GLIDE: 5000})
    put("20260102_000000", {IOVALKEY: 6000, GLIDE: 5000})
    put("20260103_000000", {"ioredis": 6000})
    refused = call(IOVALKEY, GLIDE)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert f"{IOVALKEY} is no target of campaign 20260103_000000" in refused.err
    assert refused.err.endswith(
        "; campaign 20260102_000000 has it: --campaign results/20260102_000000\n"
    )
    assert call(IOVALKEY, GLIDE, "--campaign", "results/20260102_000000").code == 6


def test_no_load_in_common(call: Call, put: Put, tmp_path: Path) -> None:
    put("one", {IOVALKEY: 6000})
    fixed = configuration(IOVALKEY, traffic="fixed")
    write_campaign(tmp_path / "results" / "two", None, [result(fixed, 1, campaign="two")])
    refused = call("results/one", "results/two")
    assert refused.code == 2
    assert "have no load in common: light · realistic" in refused.err


def test_runs_that_are_invalid_do_not_count(call: Call, put: Put) -> None:
    for number, document in enumerate(changing(put("one", {IOVALKEY: 6000, GLIDE: 5000}))):
        if number == 0:
            document["verdict"] = verdict("invalid", ("M9", "failed"))
    (row,) = call(IOVALKEY, GLIDE, "--format", "json").document["comparisons"]
    assert (row["base"]["runs"], row["new"]["runs"]) == (5, 6)


def test_markdown_is_a_table_whose_names_are_code_and_mention_nobody(call: Call, put: Put) -> None:
    put("one_@two", {IOVALKEY: 6000, GLIDE: 5000})
    lines = call(IOVALKEY, GLIDE, "--format", "md").out.splitlines()
    assert lines[0].startswith("**regression**: `one_@two#valkey-glide+same-script` against")
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 3
    assert {line.count("|") for line in table} == {10}
    assert "slower" in table[2]


def test_markdown_names_the_load_and_the_versions_of_both_sides(call: Call, put: Put) -> None:
    versions = {**result(configuration())["versions"], "client": "5.7.0"}
    put("one", {IOVALKEY: 6000, GLIDE: 5000}, result_changes={"versions": versions})
    text = call(IOVALKEY, GLIDE, "--format", "md").out
    (row,) = [line for line in text.splitlines() if line.startswith("|") and "slower" in line]
    assert "50 connections" in row
    assert f"- {IOVALKEY}: client 5.7.0" in text
    assert f"- {GLIDE}: client 5.7.0" in text


def test_everything_behind_one_exit_code_is_one_family(call: Call, put: Put) -> None:
    """Each load alone could be decided by five runs; as one of seven it cannot."""
    loads = [{"model": "closed", "connections": 10 * number} for number in range(1, 8)]
    put("one", {IOVALKEY: 6000, GLIDE: 5000}, JITTER[:5], loads=loads)
    completed = call(IOVALKEY, GLIDE, "--format", "json")
    assert {row["comparisons_in_family"] for row in completed.document["comparisons"]} == {7}
    assert completed.code == 7
    few = put("two", {IOVALKEY: 6000, GLIDE: 5000}, JITTER[:5], loads=loads[:3])
    assert call(IOVALKEY, GLIDE, "--campaign", str(few)).code == 6
