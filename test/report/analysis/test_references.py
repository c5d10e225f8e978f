"""Campaigns in rounds: the reference, its copy, and runs that were set aside."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from builder import Document, configuration, hash_of, result
from campaign_writer import manifest
from conftest import Build, ranks_of
from report.analysis.cells import Cell, cells
from report.analysis.rankings import resolutions
from report.analysis.summary import summarize
from report.cli.compare_command import main
from report.sections.ranking_text import sentence
from simulated_campaigns import calm, campaign, plan, ramp, rows, throughputs

REFERENCE = "iovalkey"
FAST = "ioredis@valkey"
SLOW = "valkey-glide"
COPY = "iovalkey+copy"
ROUNDS = 10


def cell_of(
    truth: dict[str, float], others: tuple[str, ...] = (FAST, SLOW, COPY), cv: float = 0.005
) -> Cell:
    """On a host that loses, or gains, a fifth of its speed."""
    (cell,) = cells(rows(np.random.default_rng(1), ramp, others, ROUNDS, cv, truth))
    return cell


def test_each_row_is_compared_with_the_reference_by_pairs() -> None:
    (ranking,) = cell_of({FAST: 1.1, SLOW: 0.9}).rankings
    assert ranking.reference and ranking.reference.identity.label == REFERENCE
    compared = {(pair.base.identity.label, pair.new.identity.label) for pair in ranking.pairs}
    assert compared == {(REFERENCE, FAST), (REFERENCE, SLOW)}
    assert {(pair.comparison.pairs, pair.comparison.comparisons) for pair in ranking.pairs} == {
        (10, 2)
    }
    ranked = zip((row.identity.label for row in ranking.summaries), ranks_of(ranking), strict=True)
    assert list(ranked) == [(FAST, 1), (REFERENCE, 2), (SLOW, 3)]
    assert ranking.winner and ranking.winner.identity.label == FAST


def test_the_family_is_the_one_that_the_plan_names() -> None:
    """Ten pairs can decide two comparisons, but not forty: those go without pairs."""
    truth = {FAST: 1.1, SLOW: 0.9}
    planned = rows(np.random.default_rng(1), ramp, (FAST, SLOW, COPY), ROUNDS, 0.005, truth)
    larger = [replace(row, ranking=replace(row.ranking, family=40)) for row in planned]
    (cell,) = cells(larger)
    (ranking,) = cell.rankings
    assert {pair.comparison.pairs for pair in ranking.pairs} == {None}


def test_the_margin_of_a_campaign_decides_what_counts() -> None:
    planned = rows(np.random.default_rng(1), ramp, (FAST, SLOW, COPY), ROUNDS, 0.005, {FAST: 1.1})
    (cell,) = cells([replace(row, margin=0.2) for row in planned])
    (ranking,) = cell.rankings
    assert {pair.comparison.status for pair in ranking.pairs} == {"no difference"}
    assert ranking.winner is None


def test_faster_than_the_reference_is_not_the_fastest() -> None:
    """Two rows are equally fast, and faster than the reference: both are said to be, and none has
    won."""
    (ranking,) = cell_of({FAST: 1.1, SLOW: 1.1}).rankings
    assert {pair.comparison.status for pair in ranking.pairs} == {"better"}
    assert ranking.winner is None


def test_the_copy_is_a_control_that_gates_no_difference_unless_told_apart() -> None:
    cell = cell_of({FAST: 1.04, COPY: 1.01}, cv=0.001)
    (ranking,) = cell.rankings
    assert [copy.identity.label for copy in cell.copies] == [COPY]
    assert COPY not in {row.identity.label for row in ranking.summaries}
    assert ranking.resolution and not ranking.resolution.told_apart
    assert ranking.resolution.share == pytest.approx(0.015, abs=0.005)
    ratio = ranking.resolution.comparison.ratio
    assert ratio
    # Its estimate, not the end of its interval, which stands before it.
    assert f"equal rows came out {100 * (ratio - 1):.1f} % apart" in sentence(ranking)
    (shown,) = [pair for pair in ranking.pairs if pair.comparison.shown]
    assert shown.new.identity.label == FAST
    assert ranking.winner and ranking.winner.identity.label == FAST


def test_the_copies_of_a_campaign_are_one_family() -> None:
    """Each alone, seven pairs in one direction are told apart; of four copies together none is."""
    rng = np.random.default_rng(1)
    campaigns = [
        summarize(
            campaign(slots, throughputs(rng, slots, calm, 0.001, {COPY: 1.05}), REFERENCE, traffic)
        )
        for traffic in ("realistic", "hot", "fixed", "allowed")
        for slots in [plan(rng, REFERENCE, (FAST, COPY), 7)]
    ]
    together = [
        replace(row, id=f"{n}{row.id}", by_turns=True)
        for n, part in enumerate(campaigns)
        for row in part
    ]
    alone = [row for row in together if row.id.startswith("0")]
    for rows_, is_told_apart in ((alone, True), (together, False)):
        copies = resolutions(rows_).values()
        assert {resolution.told_apart for resolution in copies} == {is_told_apart}


def test_where_the_copy_is_told_apart_no_winner_is_named() -> None:
    (ranking,) = cell_of({FAST: 1.2, COPY: 1.05}).rankings
    assert ranking.resolution and ranking.resolution.told_apart
    assert any(pair.comparison.shown for pair in ranking.pairs)
    assert (ranking.winner, dict(ranking.best)) == (None, {})
    assert set(ranks_of(ranking)) == {None}


def test_a_missing_run_of_the_reference_drops_its_partners() -> None:
    summaries = rows(np.random.default_rng(1), ramp, (FAST, SLOW), ROUNDS, 0.005, {FAST: 1.1})
    cut = [row.with_runs(row.runs[1:]) if row.reference else row for row in summaries]
    (ranking,) = cells(cut)[0].rankings
    assert {(pair.comparison.pairs, pair.comparison.dropped) for pair in ranking.pairs} == {(9, 1)}
    assert "had no partner in its round" in sentence(ranking)


def in_rounds(previous: bool = False) -> tuple[Document, list[Document]]:
    """Ten rounds, in a document of version 2 after one that does not count; the fast one is
    faster."""
    configurations = [configuration(label) for label in (REFERENCE, FAST, COPY)]
    rates = dict(zip((hash_of(entry) for entry in configurations), (2000, 2200, 2002), strict=True))
    document = manifest(configurations, ROUNDS)
    document["plan"]["references"] = [hash_of(configurations[0])]
    runs = []
    results = []
    for number in range(0 if previous else 1, ROUNDS + 1):
        for entry in configurations:
            key = hash_of(entry)
            file = f"{key}_run{number}.json"
            run = {"configuration_hash": key, "run": number, "round": number, "file": file}
            runs.append(run | ({"block": 1} if previous else {}))
            rate = rates[key] // (3 if number == 0 else 1) + 4 * (number % 3)
            results.append(result(entry, number, rate))
    document["plan"]["runs"] = runs
    if previous:
        for entry in (document, document["plan"], *results):
            entry["schema_version"] = 2
    return document, results


def table_rows(text: str, label: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("|") and f"`{label}`" in line]


def test_the_report_of_such_a_campaign(build: Build) -> None:
    outcome = build(*in_rounds(previous=True))
    assert outcome.code == 0, outcome.err
    summary = outcome.summary
    (conclusion,) = summary["conclusions"]
    assert (conclusion["reference"], conclusion["winner"]) == (REFERENCE, FAST)
    assert conclusion["resolution"]["copy"] == COPY
    assert "iovalkey+copy is iovalkey once more and had 1.00×" in conclusion["sentence"]
    by_label: dict[str, Any] = {row["label"]: row for row in summary["configurations"]}
    assert by_label[COPY]["control"] is True
    counted = {
        (row["runs"], row["runs_set_aside"], row["missing_runs"]) for row in by_label.values()
    }
    assert counted == {(10, 1, 0)}
    # Those before the first round were three times slower, and are in no figure.
    assert by_label[REFERENCE]["requests_per_second"]["min"] >= 2000

    assert [row["run"] for row in outcome.rows("runs.csv") if row["set_aside"]] == ["1"] * 3
    assert outcome.page.count("set aside<") == 3
    rows_of = {row["Client"]: row for row in outcome.rows()}
    assert (rows_of[COPY]["control"], rows_of[COPY]["copy_of"]) == ("true", REFERENCE)
    text = outcome.text("summary.md")
    (copy,) = table_rows(text, COPY)
    assert "not told apart" in copy or "no difference" in copy
    assert "to the reference" in text


def test_a_plan_without_rounds_is_compared_unpaired(build: Build) -> None:
    document, results = in_rounds()
    for run in document["plan"]["runs"]:
        del run["round"]
    del document["plan"]["references"]
    outcome = build(document, results)
    (conclusion,) = outcome.summary["conclusions"]
    assert conclusion["reference"] is None
    assert [comparison["pairs"] for comparison in conclusion["comparisons"]] == [None]


def test_what_was_set_aside_is_kept_in_a_baseline(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = build(*in_rounds(previous=True)).folder
    (tmp_path / "results").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(["--save-baseline", "main", str(folder)]) == 0
    saved = tmp_path / "results" / "baselines" / "main"
    assert len(list(saved.glob("*_run0.json"))) == 3


def test_rounds_that_were_measured_again_are_listed_and_in_no_figure(build: Build) -> None:
    document, results = in_rounds()
    aborted = {**results[0], "started_at": "2026-01-02T01:00:00.000Z"}
    document["set_aside"] = ["aborted/1-x_run1.json"]
    outcome = build(
        document, results, files={"aborted/1-x_run1.json": json.dumps(aborted).encode()}
    )
    assert outcome.code == 0, outcome.err
    (listed,) = [row for row in outcome.rows("runs.csv") if row["set_aside"]]
    assert (listed["started_at"], listed["file"]) == (
        aborted["started_at"],
        "aborted/1-x_run1.json",
    )
    assert (
        "in no figure: its round was interrupted" in outcome.page
        and aborted["started_at"] in outcome.page
    )
    configurations = outcome.summary["configurations"]
    assert sorted((row["runs"], row["runs_set_aside"]) for row in configurations) == [
        (10, 0),
        (10, 0),
        (10, 1),
    ]
