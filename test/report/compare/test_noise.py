"""`noise` as it is called: a configuration's runs against each other."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from builder import configuration, result
from campaign_writer import manifest, write_campaign
from report.cli.compare import main as compare
from report.cli.noise import main


def campaign(
    folder: Path, labels: tuple[str, ...] = ("iovalkey",), runs: int = 20, deviation: float = 0.02
) -> Path:
    rng = np.random.default_rng(4)
    configurations = [configuration(label) for label in labels]
    results = [
        result(
            each,
            run,
            int(5000 * np.exp(deviation * rng.standard_normal())),
            started_at=f"2026-01-02T03:{run:02d}:00.000Z",
            campaign=folder.name,
        )
        for each in configurations
        for run in range(1, runs + 1)
    ]
    return write_campaign(folder, manifest(configurations, runs, campaign=folder.name), results)


def test_noise_is_told_and_saved_for_compare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    campaign(tmp_path / "results" / "20260102_030405")
    assert main(["results/20260102_030405"]) == 0
    text = capsys.readouterr().out
    assert "throughput: 20 runs" in text
    assert "interleaved comparisons of 10 runs per side" in text
    assert "of 2 comparisons of 5 runs per side that share no run" in text
    assert "a difference of 5 % takes about" in text
    (saved,) = (tmp_path / "results" / "noise").iterdir()
    document = json.loads(saved.read_text())
    assert set(document["metrics"]) == {"throughput", "p50", "p99", "cpu"}
    figures = document["metrics"]["throughput"]
    assert 0.005 < figures["noise_floor"] < 0.04
    assert figures["flagged_share"] <= 0.05
    # The floor of a comparison across campaigns on that host is now this one.
    campaign(tmp_path / "results" / "other")
    compare(["results/20260102_030405", "results/other"])
    floor = f"{100 * figures['noise_floor']:.3g} %, measured in campaign 20260102_030405"
    assert floor in capsys.readouterr().out


def test_which_configuration_is_meant_must_be_clear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    campaign(tmp_path / "results" / "two", ("iovalkey", "valkey-glide"), 12)
    assert main(["results/two"]) == 2
    assert "name one --target" in capsys.readouterr().err
    assert main(["results/two", "--target", "iovalkey"]) == 0
    capsys.readouterr()
    assert main(["results/two", "--target", "iovalkey", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["label"] == "iovalkey"


def test_few_runs_and_no_root_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    campaign(tmp_path / "results" / "few", runs=9)
    assert main(["results/few"]) == 2
    assert "has 10 runs that count" in capsys.readouterr().err
    campaign(tmp_path / "results" / "many")
    assert main(["results/many", "--output", "nowhere"]) == 3
    assert "give --output DIR" in capsys.readouterr().err


@pytest.mark.long
def test_a_host_too_unsteady_to_compare_says_so_without_absurd_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    campaign(tmp_path / "results" / "rough", deviation=3)
    assert main(["results/rough"]) == 0
    text = capsys.readouterr().out
    assert "too unsteady to compare anything" in text
    assert "Stop other work on this machine" in text
    assert "noise floor: more than 100 % either way" in text
    assert not re.search(r"\d{4,}(\.\d+)? %|\de[+-]?\d", text)
