"""`noise` as it is called: the runs of a campaign against each other, and repeated campaigns."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from builder import configuration, result
from campaign_writer import manifest, write_campaign
from report.cli.noise import main


def campaign(
    folder: Path,
    labels: tuple[str, ...] = ("iovalkey",),
    runs: int = 20,
    deviation: float = 0.02,
    level: float = 5000,
    day: int = 2,
    duration_s: int = 5,
) -> Path:
    rng = np.random.default_rng(day + 2)
    configurations = [configuration(label, extent={"duration_s": duration_s}) for label in labels]
    results = [
        result(
            each,
            run,
            int(level * np.exp(deviation * rng.standard_normal())),
            started_at=f"2026-01-{day:02d}T03:{run:02d}:00.000Z",
            campaign=folder.name,
        )
        for each in configurations
        for run in range(1, runs + 1)
    ]
    started = f"2026-01-{day:02d}T03:00:00.000Z"
    manifested = manifest(configurations, runs, campaign=folder.name, started_at=started)
    return write_campaign(folder, manifested, results)


def test_one_campaign_tells_the_noise_within_it_and_nothing_of_that_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    campaign(tmp_path / "20260102_030405")
    assert main(["20260102_030405"]) == 0
    text = capsys.readouterr().out
    assert "between campaigns: not known: 1 campaign of the 5 that it takes (20260102_030405)" in text
    assert "noise iovalkey --campaigns 5" in text
    assert "throughput: 20 runs" in text
    assert "interleaved comparisons of 10 runs per side" in text
    assert "of 2 comparisons of 5 runs per side that share no run" in text
    assert "a difference of 5 % takes about" in text
    assert main(["20260102_030405", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert set(document["within"]) == {"throughput", "p50", "p99", "cpu"}
    assert document["within"]["throughput"]["flagged_share"] <= 0.05
    # The same campaign twice is still one.
    assert document["between"] == {"campaigns": ["20260102_030405"], "needed": 5, "metrics": {}}


def test_repeated_campaigns_add_up_over_calls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    levels = (5000, 5400, 4700, 5100, 4900, 5300)
    folders = [
        str(campaign(tmp_path / f"day{day}", runs=5, level=level, day=day))
        for day, level in enumerate(levels, start=1)
    ]
    assert main(folders[:3]) == 0
    assert "not known: 3 campaigns of the 5" in capsys.readouterr().out
    assert main(folders[3:]) == 0
    text = capsys.readouterr().out
    assert "the floor of `compare` for this load on this host (6 campaigns)" in text
    assert "6 campaigns, 30 runs" in text
    # Five runs are too few to split.
    assert "interleaved comparisons" not in text
    assert main([*folders, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["between"]
    assert found["campaigns"] == [f"day{day}" for day in range(1, 7)]
    deviation = float(np.std(np.log(levels), ddof=1))
    assert found["metrics"]["throughput"]["between"] == pytest.approx(deviation, rel=0.2)
    assert found["metrics"]["throughput"]["within"] == pytest.approx(0.02, rel=0.4)


def test_campaigns_of_another_window_or_twice_the_same_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = (str(campaign(tmp_path / f"{length}s", duration_s=length)) for length in (5, 10))
    assert main([one, other]) == 2
    assert "measured different things" in capsys.readouterr().err
    assert main([one, one]) == 2
    assert "named twice" in capsys.readouterr().err
    for each in (one, other):
        capsys.readouterr()
        assert main([each]) == 0
        assert "not known: 1 campaign of the 5" in capsys.readouterr().out


def test_which_configuration_is_meant_must_be_clear(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two = str(campaign(tmp_path / "two", ("iovalkey", "valkey-glide"), 12))
    assert main([two]) == 2
    assert "name one --target" in capsys.readouterr().err
    assert main([two, "--target", "iovalkey"]) == 0
    capsys.readouterr()
    assert main([two, "--target", "iovalkey", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["label"] == "iovalkey"


def test_few_runs_and_an_unwritable_state_folder_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(campaign(tmp_path / "few", runs=4))]) == 2
    assert "has 5 runs that count" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert main([str(campaign(tmp_path / "many"))]) == 3
    assert "set XDG_STATE_HOME" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["not JSON", "{}", '{"schema": "ratelimit-bench/repeated-campaigns"}', "[]"])
def test_a_damaged_file_in_the_state_folder_is_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    folder = str(campaign(tmp_path / "one", runs=5))
    assert main([folder]) == 0
    (saved,) = (Path(os.environ["XDG_STATE_HOME"]) / "ratelimit-bench" / "noise").iterdir()
    whole = saved.read_text()
    saved.write_text(text)
    assert main([folder]) == 0
    assert saved.read_text() == whole


@pytest.mark.long
def test_a_host_too_unsteady_to_compare_says_so_without_absurd_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(campaign(tmp_path / "rough", deviation=3))]) == 0
    text = capsys.readouterr().out
    assert "too unsteady to compare anything" in text
    assert "Stop other work on this machine" in text
    assert "off by up to more than 100 %" in text
    assert not re.search(r"\d{4,}(\.\d+)? %|\de[+-]?\d", text)
