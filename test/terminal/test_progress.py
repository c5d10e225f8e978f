"""The live screen of a campaign, as a person sees it in a terminal emulator, wide and narrow."""

import json
import re
from pathlib import Path

import pytest

from terminal import CTRL_C, ENTER, Terminal

QUICK = (
    "--runs",
    "2",
    "--concurrency",
    "8",
    "--cooldown",
    "0",
    "--runtime",
    "local",
    "--seed",
    "1",
)


def campaign(home: Path, rows: int, columns: int, *flags: str, **env: str) -> Terminal:
    output = ("--output", str(home / "results root"))
    parameters = ("run", "--clients", "none", *QUICK, *output, *flags)
    return Terminal(home, *parameters, rows=rows, columns=columns, env=env)


def measured(home: Path) -> list[Path]:
    return sorted((home / "results root").glob("[0-9]*/*_run*.json"))


@pytest.mark.long
@pytest.mark.parametrize("columns", [80, 40])
def test_a_campaign_is_seen_live_and_ends_with_its_figures(tmp_path: Path, columns: int) -> None:
    with campaign(
        tmp_path, 24, columns, "--warmup", "0.3", "--duration-mode", "custom:3", NO_COLOR="1"
    ) as terminal:
        terminal.wait_for("busy", "requests/s", "0/2 runs")
        live = " ".join(terminal.text.split())
        assert terminal.cursor_hidden()
        for part in [
            r"\[#*-+\]",
            r"\d+ s left \(until \d\d:\d\d\)",
            r"none, light, realistic, 8 connections, run 1 of 2",
            r"measure \[#*-*\] [0-3] of 3 s",
            r"[1-9]\d* requests/s p99 \d+\.\d\d ms 0\.0 % limited generator \d+ % busy",
        ]:
            assert re.search(part, live), f"{part} is not on the screen:\n{terminal.text}"
        # In place: one frame, however often it was drawn.
        assert terminal.text.count("left (until") == 1
        assert terminal.text.count("run 1 of 2") == 1
        if columns < 80:
            terminal.send(CTRL_C)
            assert terminal.exit_code() == 130
            return

        assert terminal.exit_code() == 0
        assert not terminal.cursor_hidden()
        assert not re.search(r"\x1b\[[\d;]*m", terminal.transcript), "NO_COLOR was asked for"
        seen = " ".join(terminal.history.split())
        results = [json.loads(path.read_text()) for path in measured(tmp_path)]
        rates = [result["requests"]["average"] for result in results]
        # The median of two runs is their mean.
        assert f"{sum(rates) / 2:,.0f}" in seen
        assert "left (until" not in terminal.text, "the frame is gone"
        # Lines break anywhere, also at the space in the folder's name.
        unbroken = "".join(terminal.history.split())
        folder = "".join(str(measured(tmp_path)[0].parent).split())
        assert f"{folder}/report/index.html" in unbroken
        assert f"{folder}/benchmark.log" in unbroken


@pytest.mark.long
def test_a_resize_leaves_one_whole_frame_and_a_second_ctrl_c_ends_at_once(
    tmp_path: Path,
) -> None:
    with campaign(tmp_path, 24, 100, "--warmup", "30") as terminal:
        terminal.wait_for("warm-up")
        assert terminal.cursor_hidden()
        for rows, columns in [(24, 40), (10, 60), (24, 120)]:
            terminal.resize(rows, columns)
            terminal.wait_for_new("left (until")
            assert terminal.text.count("left (until") == 1
            assert terminal.text.count("warm-up") == 1
        terminal.send(CTRL_C, CTRL_C)
        assert terminal.exit_code() == 130
        assert not terminal.cursor_hidden()
    with Terminal(tmp_path, "clean", "--yes") as clean:
        clean.exit_code()


def test_ctrl_c_gives_the_cursor_back_and_says_what_is_kept(tmp_path: Path) -> None:
    with campaign(tmp_path, 40, 80, "--warmup", "3", "--duration-mode", "custom:1") as terminal:
        terminal.wait_for("run 2 of 2", "warm-up")
        assert terminal.cursor_hidden()
        # Enter moves the cursor, but the frame stays in its place.
        for _ in range(3):
            terminal.send(ENTER)
            terminal.wait_for_new("left (until")
        assert terminal.history.count("left (until") == 1
        terminal.send(CTRL_C)
        assert terminal.exit_code() == 130
        assert not terminal.cursor_hidden()
        seen = " ".join(terminal.history.split())
        assert seen.count("interrupted by SIGINT") == 1
        assert re.search(
            r"finished runs are kept; continue with: \S*run-all.sh --resume \d+_\d+", seen
        )
        assert "the report is partial: 1 of 2 runs is measured and kept in" in seen
        assert "left (until" not in terminal.text
        statuses = [json.loads(path.read_text())["status"] for path in measured(tmp_path)]
        assert statuses == ["measured", "aborted"]


def test_a_line_of_the_original_shows_its_plan_first_and_ctrl_c_leaves_nothing(
    tmp_path: Path,
) -> None:
    with Terminal(
        tmp_path, "run", "--clients", "none", "--runtime", "local", rows=40, columns=100
    ) as terminal:
        terminal.wait_for("Ctrl-C stops it")
        assert re.search(
            r"24 runs of 8 configurations, about .* \(until \d\d:\d\d\)", terminal.history
        )
        terminal.send(CTRL_C)
        assert terminal.exit_code() == 130
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
