"""A target that fails in 3 of 10 runs beside an equal one that does not: page, CSV, summary,
`compare`."""

import json
from pathlib import Path

import pytest

from builder import Document, configuration, result
from campaign_writer import manifest, write_campaign
from conftest import Build
from report.cli.compare_command import main as compare

#: Two targets with the same script, and the same throughputs in the same rounds.
STEADY = "iovalkey+same-script"
FLAKY = "ioredis@valkey+same-script"
THROUGHPUTS = (6000, 6012, 5988, 6006, 5994, 6018, 5982, 6003, 5997, 6009)
FAILED = (2, 5, 9)
SAID = "failed its load in 3 of 10"


def run_of(label: str, run: int, throughput: int, failed: bool = False) -> Document:
    """A run; one that failed answered the rest of its load more quickly than any other."""
    if not failed:
        return result(configuration(label), run, throughput)
    return result(
        configuration(label),
        run,
        throughput * 2,
        timed_out_us={1_000_000: throughput * 5 // 80},
        outcome="failed",
        outcome_text="1.25 % of its requests timed out",
    )


def runs() -> list[Document]:
    return [
        run_of(label, run, throughput, label == FLAKY and run in FAILED)
        for label in (STEADY, FLAKY)
        for run, throughput in enumerate(THROUGHPUTS, start=1)
    ]


def planned() -> Document:
    return manifest([configuration(STEADY), configuration(FLAKY)], 10)


# [R-spoiled-3]
def test_the_report_ranks_it_below_its_copy_and_says_how_often_it_failed(build: Build) -> None:
    outcome = build(planned(), runs())
    assert outcome.code == 0
    assert SAID in outcome.page
    rows = {row["Client"]: row for row in outcome.rows()}
    steady = rows[STEADY]
    flaky = rows[FLAKY]
    assert [(row["served_runs"], row["spoiled_runs"]) for row in (steady, flaky)] == [
        ("10", "0"),
        ("7", "3"),
    ]
    assert float(flaky["ReqPerSec"]) < float(steady["ReqPerSec"]) < 7000, (
        "no figure is of a run that failed"
    )
    markdown = outcome.text("summary.md")
    assert SAID in markdown
    assert markdown.index(f"| `{STEADY}`") < markdown.index(f"| `{FLAKY}`"), "the best comes first"
    summaries = {row["label"]: row for row in outcome.summary["configurations"]}
    counted = ("runs", "valid_runs", "served_runs", "spoiled_runs")
    assert [summaries[FLAKY][count] for count in counted] == [10, 10, 7, 3]
    assert summaries[STEADY]["spoiled_runs"] == 0
    assert summaries[FLAKY]["median_run"] not in FAILED


@pytest.mark.parametrize("metric", ["throughput", "p50", "p99"])
def test_compare_counts_the_runs_that_failed_as_the_worst(
    metric: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results" / "20260102_030405"
    write_campaign(folder, planned(), runs())
    (folder.parent / "latest").symlink_to(folder.name)

    def compared(base: str, new: str) -> tuple[int, Document]:
        capsys.readouterr()
        code = compare([base, new, "--metric", metric, "--format", "json"])
        document = json.loads(capsys.readouterr().out)
        assert SAID in json.dumps(document)
        (row,) = document["comparisons"]
        return code, row

    code, row = compared(STEADY, FLAKY)
    # Three of ten runs reach into the interval: nobody may call the two equal, or the failing one
    # better.
    assert row["conclusion"] in ("not decided", "slower", "worse")
    assert code in (6, 7)
    interval = row["interval"]
    worst = interval["low"] if metric == "throughput" else interval["high"]
    assert worst in (0, None) or abs(worst - 1) > 0.02
    assert (row["base"]["runs"], row["new"]["runs"]) == (10, 10)
    back_code, back = compared(FLAKY, STEADY)
    assert back["conclusion"] in ("not decided", "faster", "better")
    assert back_code in (0, 7)
