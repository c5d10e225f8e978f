"""What is kept of a campaign, so that ten thousand results fit into memory, and nothing is lost by
it."""

from pathlib import Path

import pytest

from builder import Document, configuration, result
from campaign_writer import manifest, write_campaign
from evidence import slices
from report.analysis.summary import summarize
from report.results import load
from report.results.load import load_campaign
from report.results.model import Campaign
from report.sections.environment import campaign_notices


def ramped(run: int, rate: int, slower: int = 2) -> Document:
    """A run of 20 s whose first 4 s are so many times slower."""
    document = result(configuration(), run, rate)
    document["samples"] = [
        {
            "t_s": second,
            "interval_s": 1,
            "allowed": (rate // slower if second <= 4 else rate) + second % 3,
            "limited": 0,
            "failed": 0,
        }
        for second in range(1, 21)
    ]
    document["duration"] = 20
    document["slices"] = slices(
        [(rate // slower if place < 40 else rate) // 10 + place % 3 for place in range(200)]
    )
    return document


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    # The selected run is steady.
    runs = [ramped(1, 1000), ramped(2, 1200), ramped(3, 1100, slower=1)]
    return load_campaign(write_campaign(tmp_path / "campaign", manifest([configuration()]), runs))


def test_seconds_stay_of_the_selected_run_alone(campaign: Campaign) -> None:
    seconds_by_run = {run.run: len(run.measured.seconds) for run in campaign.runs if run.measured}
    assert seconds_by_run == {1: 0, 2: 0, 3: 20}


def test_warm_up_is_judged_from_all_runs(campaign: Campaign) -> None:
    answers = [list(run.measured.answers_each_slice) for run in campaign.runs if run.measured]
    assert [len(slices) for slices in answers] == [200, 200, 200]
    assert answers[0][:2] == [50, 51]
    (summary,) = summarize(campaign)
    assert any(": the first 4.2 s" in text for text in summary.warnings)


def test_equal_properties_are_kept_once(campaign: Campaign) -> None:
    first, *others = campaign.runs
    for other in others:
        assert other.identity is first.identity
        assert other.versions is first.versions
        assert other.record.runtime is first.record.runtime


def test_series_beyond_the_limit_are_left_out_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "MAX_SERIES_READINGS", 25)
    labels = ("iovalkey", "ioredis", "valkey-glide")
    runs = [{**ramped(1, 1000)} for _ in labels]
    for run, label in zip(runs, labels, strict=True):
        fresh = result(configuration(label))
        run.update(
            {name: fresh[name] for name in ("configuration", "configuration_hash", "consumers")}
        )
    campaign = load_campaign(write_campaign(tmp_path / "many", None, runs))
    assert [len(run.measured.seconds) for run in campaign.runs if run.measured] == [20, 0, 0]
    assert campaign_notices(campaign) == (
        "The per-second series of 2 selected runs are left out: there are too many to show.",
    )


def test_readings_of_roles_count_as_seconds_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = ramped(1, 1000)
    document["resources"]["store-1"]["samples"] = [
        {"t_s": second, "cpu_percent": 10, "resident_bytes": 1} for second in (1, 2, 3)
    ]
    series = []
    for most in (23, 22):
        monkeypatch.setattr(load, "MAX_SERIES_READINGS", most)
        (run,) = load_campaign(write_campaign(tmp_path / f"most{most}", None, [document])).runs
        series.append(run.measured and (len(run.measured.seconds), list(run.measured.usage)))
    assert series == [(20, ["store"]), (0, [])]


def test_reading_for_a_comparison_keeps_no_seconds(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "c", manifest([configuration()], 1), [ramped(1, 1000)])
    (run,) = load_campaign(folder, series=False).runs
    assert run.measured is not None
    assert run.measured.seconds == ()
