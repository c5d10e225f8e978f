"""The command as it is called: from anywhere, on any folder, whatever is in the way."""

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from builder import configuration, result
from campaign_writer import manifest, write_campaign
from package_copy import copy_start
from report.base import files
from report.base.paths import ROOT
from report.cli.generate_command import main
from report.cli.report_command import main as report_main

SCRIPT = ROOT / "scripts" / "generate_report.py"


def call(*arguments: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    return write_campaign(
        tmp_path / "with space" / "results" / "20260102_030405",
        manifest([configuration()], 1),
        [result(configuration())],
    )


# [R-place-1]
def test_any_folder_link_locale_and_working_directory(campaign: Path, tmp_path: Path) -> None:
    (campaign.parent / "latest").symlink_to(campaign.name)
    done = call("with space/results/latest", cwd=tmp_path, LC_ALL="C", TZ="Pacific/Kiritimati")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == str(campaign / "report" / "index.html")
    assert (campaign / "report" / "index.html").is_file()


def test_modules_of_another_python_are_not_loaded(campaign: Path, tmp_path: Path) -> None:
    for name in ("json", "pathlib", "jinja2", "report"):
        (tmp_path / f"{name}.py").write_text(
            "raise SystemExit('of another Python')", encoding="utf-8"
        )
    done = call(campaign, cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--nonsense", "x"],
        ["a", "b"],
        ["x", "--output-format", "pdf"],
        ["x", "--include-trends"],
        ["x", "--baseline", "y"],
        ["x", "--compare-runs", "y"],
        ["--extract-median", "--compare-runs", "y"],
        ["--compare-runs", "y", "--summary-json"],
        ["--compare-runs", "y", "--images"],
    ],
)
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as error:
        main(arguments)
    assert error.value.code == 2
    assert "usage:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "prefix"), [(main, "generate_report: "), (report_main, "report: ")]
)
def test_a_failure_begins_with_the_command_that_was_called(
    command: Callable[[list[str]], int],
    prefix: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command([str(tmp_path / "nosuch")]) == 2
    assert capsys.readouterr().err.startswith(prefix)


def copied_script(folder: Path) -> Path:
    """The script in a checkout of its own."""
    script = copy_start(folder)
    (folder / "pyproject.toml").touch()
    return script


def test_goes_on_in_the_projects_environment(tmp_path: Path) -> None:
    script = copied_script(tmp_path / "a project")
    python = tmp_path / "a project" / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    done = subprocess.run(
        [sys.executable, str(script), "a b", "--summary-json"],
        capture_output=True,
        text=True,
        check=False,
    )
    script_folder = str(script.parents[1] / "report")
    assert done.stdout.splitlines() == ["-I", script_folder, "generate", "a b", "--summary-json"]


def test_missing_packages_are_one_line(tmp_path: Path) -> None:
    copied_script(tmp_path)
    done = subprocess.run(
        [sys.executable, "-IS", str(tmp_path / "report"), "generate", "x"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert "run ./scripts/setup.sh" in done.stderr


def test_environment_that_does_not_start_is_one_line(tmp_path: Path) -> None:
    script = copied_script(tmp_path)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("not a program", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script), "x"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1


def test_report_that_cannot_be_made(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (campaign / "report").write_text("in the way", encoding="utf-8")
    assert main([str(campaign)]) == 3
    assert "cannot be written" in capsys.readouterr().err
    assert (campaign / "report").read_text(encoding="utf-8") == "in the way"


# [R-link-5]
def test_report_folder_that_leads_elsewhere(campaign: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (campaign / "report").symlink_to(elsewhere)
    assert main([str(campaign)]) == 3
    assert list(elsewhere.iterdir()) == []


# [R-full-disk-3]
def test_full_disk_leaves_the_old_report(
    campaign: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(campaign)]) == 0
    before = {path.name: path.read_bytes() for path in (campaign / "report").iterdir()}
    (campaign / "more.json").write_text(json.dumps(result(configuration(), 2)), encoding="utf-8")
    written: list[Path] = []

    def write_one(path: Path, text: str) -> None:
        if written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written.append(path)
        path.write_text(text, encoding="utf-8")

    monkeypatch.setattr(files, "_write_synced", write_one)
    assert main([str(campaign)]) == 4
    assert "No space left on device" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in (campaign / "report").iterdir()} == before


def test_chart_library_that_is_not_installed(
    campaign: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("report.html.page.CHART_SCRIPTS", (campaign / "nothing.js",))
    assert main([str(campaign)]) == 3
    assert "run ./scripts/setup.sh" in capsys.readouterr().err
    assert not (campaign / "report").exists()


def of_runs(root: Path, name: str, *rates: int) -> Path:
    """A campaign of one configuration, with a run at each rate."""
    runs = [
        result(configuration(), number, requests_per_second=rate, campaign=name)
        for number, rate in enumerate(rates, 1)
    ]
    return write_campaign(root / name, manifest([configuration()], len(rates), campaign=name), runs)


@pytest.mark.parametrize("given", ["results", "results/latest", None])
def test_extract_median_copies_the_selected_run_over_all_campaigns(
    tmp_path: Path,
    given: str | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = tmp_path / "results"
    of_runs(root, "20260101_000000", 100, 900)
    of_runs(root, "20260102_000000", 800, 500, 200)
    (root / "latest").symlink_to("20260102_000000")
    monkeypatch.chdir(tmp_path)
    flags = ["--extract-median", *([given] if given else [])]
    assert main([*flags, "--output-format", "both"]) == 0
    (medians,) = root.glob("median_results_*")
    assert capsys.readouterr().out.strip() == str(medians / "report" / "index.html")
    (copied,) = medians.glob("*.json")
    assert copied.read_bytes() == (root / "20260102_000000" / copied.name).read_bytes()
    assert json.loads(copied.read_text(encoding="utf-8"))["run"] == 2
    assert "median of 5 runs" in (medians / "median_extraction_summary.txt").read_text(
        encoding="utf-8"
    )
    # Copies are no campaign of their own.
    assert main([*flags[1:], "--compare-runs"]) == 0
    assert "median_results_" not in (root / "report" / "compare.csv").read_text(encoding="utf-8")


def test_extract_median_needs_two_campaigns(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(campaign), "--extract-median"]) == 2
    assert "two or more" in capsys.readouterr().err
    assert [path.name for path in campaign.parent.iterdir()] == [campaign.name]
