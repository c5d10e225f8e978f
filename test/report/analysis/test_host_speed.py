"""The host's speed beside the runs: which runs it makes suspect, and when it is said once (rule M21)."""

import csv
import io
from collections.abc import Sequence

from builder import Document, configuration, result, verdict
from conftest import Build, analysis_of_results
from report.analysis.campaign_analysis import Analysis
from report.sections.caveats import caveats_of


def speed(integer_us: float, **changes: float) -> Document:
    return {"integer_us": integer_us, "chase_us": 12_000.0, "ping_pong_us": 25.0, "cpus": 2, **changes}


def around(before_us: float, after_us: float | None = None) -> Document:
    return {"before": speed(before_us), "after": speed(after_us or before_us)}


def campaign(times: Sequence[float], label: str = "iovalkey") -> list[Document]:
    return [
        result(configuration(label), number, 2000 + number, host_speed=around(each))
        for number, each in enumerate(times, start=1)
    ]


def suspects(analysis: Analysis) -> dict[int, list[str]]:
    return {
        run.run: [f"{reason.rule}: {reason.text}" for reason in run.reasons]
        for run in analysis.campaign.runs
        if run.verdict == "suspect"
    }


STEADY = [15_000.0, 15_050, 14_950, 15_020, 14_990, 15_010, 14_980, 15_000]


def test_a_run_beside_which_the_host_was_slowed_is_suspect_and_no_other() -> None:
    assert suspects(analysis_of_results(*campaign(STEADY))) == {}
    found = analysis_of_results(*campaign([*STEADY, 16_200.0]))
    assert suspects(found) == {
        9: ["M21: before and after this run the host was 8.0 % slower than beside the campaign’s median run"]
    }
    (summary,) = found.summaries
    assert summary.suspect_runs == 1
    assert summary.counted_runs == 9
    assert not any("changed throughout" in line.text for line in caveats_of(found))


def test_a_faster_host_is_as_unusual_as_a_slower_one() -> None:
    (reasons,) = suspects(analysis_of_results(*campaign([*STEADY, 14_000.0]))).values()
    assert "7.1 % faster" in reasons[0]


def test_before_and_after_count_alike() -> None:
    # 4 % slower before and as usual after: within the limit by the geometric mean.
    documents = [
        *campaign(STEADY),
        result(configuration(), 9, host_speed=around(15_600.0, 15_000.0)),
    ]
    assert suspects(analysis_of_results(*documents)) == {}


def test_memory_and_loopback_flag_nothing() -> None:
    slow = {"chase_us": 30_000.0, "ping_pong_us": 80.0}
    moments = {"before": speed(15_000, **slow), "after": speed(15_000, **slow)}
    documents = [*campaign(STEADY), result(configuration(), 9, host_speed=moments)]
    assert suspects(analysis_of_results(*documents)) == {}


def test_a_host_that_drifts_throughout_is_said_once_and_flags_no_run() -> None:
    found = analysis_of_results(*campaign([13_900.0, 14_300, 14_600, 14_900, 15_200, 15_500, 15_800, 16_100]))
    assert suspects(found) == {}
    texts = [line.text for line in caveats_of(found) if "changed throughout" in line.text]
    assert len(texts) == 1
    assert "0.93× to 1.08×" in texts[0]
    assert "beside 5 of 8 runs" in texts[0]


def test_few_runs_have_no_unusual_one() -> None:
    assert suspects(analysis_of_results(*campaign([15_000.0, 15_000, 15_000, 17_000]))) == {}


def test_an_invalid_run_stays_invalid() -> None:
    stated = verdict("invalid", ("M8", "counts"))
    broken = result(configuration(), 9, verdict=stated, host_speed=around(17_000))
    found = analysis_of_results(*campaign(STEADY), broken)
    assert [run.verdict for run in found.campaign.runs].count("invalid") == 1
    assert suspects(found) == {}


def test_runs_without_a_probe_are_judged_as_before() -> None:
    found = analysis_of_results(*[result(configuration(), number) for number in range(1, 7)])
    assert found.host_speed is None
    assert suspects(found) == {}


def test_both_csv_files_have_the_speed_and_runs_the_times_too(build: Build) -> None:
    outcome = build(None, campaign([*STEADY, 16_200.0]))
    assert outcome.code == 0, outcome.err
    runs = list(csv.DictReader(io.StringIO((outcome.folder / "report" / "runs.csv").read_text("utf-8"))))
    slowed = runs[-1]
    assert slowed["host_speed"] == "0.9259"
    assert slowed["host_integer_before_us"] == "16200.0"
    assert slowed["host_chase_after_us"] == "12000.0"
    assert slowed["host_ping_pong_before_us"] == "25.000"
    assert slowed["verdict"] == "suspect"
    (row,) = csv.DictReader(io.StringIO(outcome.csv))
    assert (row["host_speed_min"], row["host_speed_max"]) == ("0.9259", "1.0033")
    assert float(row["host_speed"]) > 0.99
