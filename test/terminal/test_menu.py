"""The menu, as a person meets it: on a real pseudo-terminal, with real keys."""

import json
from pathlib import Path

from terminal import CTRL_C, CTRL_D, DOWN, ENTER, ESCAPE, Terminal

SPACE = " "


def results(home: Path) -> list[Path]:
    return sorted((home / "results").glob("[0-9]*/*_run*.json"))


def test_from_the_first_page_to_a_finished_campaign(tmp_path: Path) -> None:
    with Terminal(tmp_path, "run") as menu:
        menu.wait_for("Which clients?")
        # The group whole, then none of it; memory goes too: what is left is the control that admits all.
        menu.send(SPACE, SPACE, *[DOWN] * 12, SPACE, ENTER)
        # No client with a store, so no question about one.
        menu.wait_for("Which workload?")
        assert "On which store?" not in menu.text
        menu.send(ENTER)
        menu.wait_for("Which traffic?")
        menu.send(ENTER)
        menu.wait_for("How long is each run measured?")
        menu.send(DOWN, DOWN, DOWN, ENTER)
        menu.wait_for("How many seconds?")
        menu.send("0", ENTER)
        menu.wait_for("from 1 to 86400 seconds")
        menu.send("\x7f", "1", ENTER)
        menu.wait_for("How many connections?")
        menu.send(*[DOWN] * 4, ENTER)
        menu.wait_for("Numbers of connections")
        menu.send("8", ENTER)
        menu.wait_for("How many runs")
        menu.send("1", ENTER)
        menu.wait_for("Where does it run?")
        menu.send(*[DOWN] * 3, ENTER)
        menu.wait_for("Start it?")
        for part in ["1 run of 1 configuration", "until", "MB on disk", "The same without the menu"]:
            assert part in menu.text
        menu.send(ENTER)
        assert menu.exit_code() == 0
        [path] = results(tmp_path)
        result = json.loads(path.read_text())
        assert result["configuration"]["target"]["label"] == "none"
        assert result["configuration"]["load"] == {"model": "closed", "connections": 8}
        manifest = json.loads((path.parent / "manifest.json").read_text())
        assert manifest["command"].replace("'", "") in menu.transcript.replace("\r\n", "").replace("│  ", "")


def test_escape_goes_back_and_keeps_the_answers(tmp_path: Path) -> None:
    with Terminal(tmp_path, "run") as menu:
        menu.wait_for("Which clients?")
        menu.send(ENTER)
        menu.wait_for("On which store?")
        menu.send(ENTER)
        menu.wait_for("Which workload?")
        menu.send(DOWN, ENTER)
        menu.wait_for("Rounds of CPU work")
        menu.send(ESCAPE)
        menu.wait_for("● heavy")
        menu.send(CTRL_C)
        menu.wait_for("cancelled: nothing was started")
        assert menu.exit_code() == 130


def test_a_plan_that_cannot_be_run_is_told_and_can_be_changed(tmp_path: Path) -> None:
    with Terminal(tmp_path, "run") as menu:
        menu.wait_for("Which clients?")
        # valkey-glide alone, on Redis: its script runs on Valkey only.
        menu.send(SPACE, SPACE, DOWN, SPACE, *[DOWN] * 10, SPACE, DOWN, SPACE, ENTER)
        menu.wait_for("On which store?")
        menu.send(SPACE, DOWN, DOWN, SPACE, ENTER)
        for question in [
            "Which workload?",
            "Which traffic?",
            "How long",
            "How many connections?",
            "How many runs",
        ]:
            menu.wait_for(question)
            menu.send(ENTER)
        menu.wait_for("Where does it run?")
        menu.send(*[DOWN] * 3, ENTER)
        menu.wait_for("What now?")
        assert "nothing is left to measure" in menu.text
        assert "● Change clients" in menu.text
        menu.send(*[DOWN] * 8, ENTER)
        assert menu.exit_code() == 130


def test_legacy_asks_three_plain_questions_until_the_answers_are_good(tmp_path: Path) -> None:
    with Terminal(
        tmp_path, "run", "--legacy", "--clients", "none", "--dry-run", "--runtime", "local"
    ) as prompts:
        prompts.wait_for("Duration (dynamic, 30, 120 or seconds) [dynamic]:")
        prompts.send("soon", ENTER)
        prompts.wait_for("give dynamic, fixed30, fixed120 or custom:N")
        prompts.send("7", ENTER)
        prompts.wait_for("Concurrency (connections, with spaces between) [50 100]:")
        prompts.send("5 6", ENTER)
        prompts.wait_for("Workload (light, heavy or both) [light]:")
        prompts.send("huge", ENTER)
        prompts.wait_for('there is no workload "huge"; valid: light, heavy, both')
        prompts.send(ENTER)
        assert prompts.exit_code() == 0
        assert "6 runs of 2 configurations" in prompts.text
        assert "7 s" in prompts.text
        assert not results(tmp_path)


def test_legacy_asks_nothing_where_a_flag_is_wrong(tmp_path: Path) -> None:
    with Terminal(tmp_path, "run", "--legacy", "--runs", "none") as prompts:
        assert prompts.exit_code() == 2
        assert "--runs" in prompts.text
        assert "Duration" not in prompts.text


def test_flags_without_clients_mention_the_menu(tmp_path: Path) -> None:
    with Terminal(tmp_path, "run", "--runs", "3") as refused:
        assert refused.exit_code() == 2
        assert "--clients is missing" in refused.text
        assert "run it without flags to get the menu" in refused.text.replace("\n", "")


def test_legacy_ends_with_its_input(tmp_path: Path) -> None:
    with Terminal(tmp_path, "run", "--legacy") as prompts:
        prompts.wait_for("Duration")
        prompts.send(CTRL_D)
        assert prompts.exit_code() == 130
        assert "nothing was started" in prompts.text
