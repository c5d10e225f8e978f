"""The menu, as a person meets it: on a real pseudo-terminal, with real keys."""

import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from terminal import CTRL_C, CTRL_D, DOWN, ENTER, ESCAPE, UP, Terminal

SPACE = " "
QUESTIONS = [
    "Which clients?",
    "On which store?",
    "Which workload?",
    "Which traffic?",
    "How long",
    "How many connections?",
    "How many runs",
]


def to_all_questions(menu: Terminal) -> None:
    """Chooses the goal that asks one question each: the last one, which is above the first."""
    menu.wait_for("◆  What do you want to do?", "└")
    menu.send(UP, ENTER)
    menu.wait_for("Which clients?")


def to_the_last_question(menu: Terminal) -> None:
    """Every answer but the last one is what is offered."""
    to_all_questions(menu)
    for question in QUESTIONS:
        menu.wait_for(question)
        menu.send(ENTER)
    menu.wait_for("Where does it run?")


class SlowEngine:
    """A `docker` on PATH that answers the doctor once it is released."""

    def __init__(self, home: Path) -> None:
        self._answer = home / "answer"
        programs = home / "programs"
        programs.mkdir()
        docker = programs / "docker"
        docker.write_text(
            f"#!/bin/sh\nuntil [ -e '{self._answer}' ]; do sleep 0.05; done\necho 1.0\n"
        )
        docker.chmod(0o755)
        self.env = {"PATH": f"{programs}:{os.environ['PATH']}"}

    def release(self) -> None:
        self._answer.touch()

    def hold(self) -> None:
        self._answer.unlink()


def results(home: Path) -> list[Path]:
    return sorted((home / "results").glob("[0-9]*/*_run*.json"))


@pytest.mark.long
def test_from_the_first_page_to_a_finished_campaign(tmp_path: Path) -> None:
    with Terminal(tmp_path, "run") as menu:
        to_all_questions(menu)
        # The group whole, then none of it: what is left is the control that admits all.
        menu.send(SPACE, SPACE, ENTER)
        # No client with a store, so no question about one.
        menu.wait_for("Which workload?")
        assert "On which store?" not in menu.text
        menu.send(DOWN, ENTER)
        menu.wait_for("Rounds of CPU work")
        # It goes back and keeps the answer.
        menu.send(ESCAPE)
        menu.wait_for("● heavy")
        menu.send(UP, ENTER)
        menu.wait_for("Which traffic?")
        menu.send(ENTER)
        menu.wait_for("How long is each run measured?")
        menu.send(UP, ENTER)
        menu.wait_for("How many seconds?")
        menu.send("0", ENTER)
        menu.wait_for("from 1 to 86400 seconds")
        menu.send("\x7f", "1", ENTER)
        menu.wait_for("How many connections?")
        menu.send(UP, ENTER)
        menu.wait_for("Numbers of connections")
        menu.send("8", ENTER)
        menu.wait_for("How many runs")
        menu.send("1", ENTER)
        menu.wait_for("Where does it run?")
        menu.send(UP, ENTER)
        menu.wait_for("Start it?")
        for part in [
            "1 run of 1 configuration",
            "until",
            "MB on disk",
            "The same without the menu",
        ]:
            assert part in menu.text
        menu.send(ENTER)
        assert menu.exit_code() == 0
        [path] = results(tmp_path)
        result = json.loads(path.read_text())
        assert result["configuration"]["target"]["label"] == "none"
        assert result["configuration"]["load"] == {"model": "closed", "connections": 8}
        manifest = json.loads((path.parent / "manifest.json").read_text())
        words = manifest["command"].removeprefix("./")
        assert words in menu.history.replace(" \\\n ", "")


@pytest.mark.parametrize("columns", [80, pytest.param(0, marks=pytest.mark.long)])
def test_the_plan_fits_80_columns(tmp_path: Path, columns: int) -> None:
    with Terminal(tmp_path, "run", rows=24, columns=columns) as menu:
        to_the_last_question(menu)
        menu.send(UP, ENTER)
        menu.wait_for("Start it?")
        lines = menu.history.splitlines()
        plan = lines[lines.index("│  The plan") :]
        # What all have in common is said once above the rows.
        row = re.compile(r"\bvalkey-glide\b")
        assert any(row.search(line) for line in plan)
        # The terminal breaks what is wider: its last column would not be free.
        assert [line for line in plan if len(line) > 79] == []
        assert not re.search(r"\b[0-9a-f]{16}\b", "\n".join(plan))
        menu.send(CTRL_C)
        assert menu.exit_code() == 130


def test_the_plan_is_in_sight_of_the_decision_in_24_rows(tmp_path: Path) -> None:
    with Terminal(tmp_path, "run", rows=24, columns=80) as menu:
        to_the_last_question(menu)
        menu.send(UP, ENTER)
        menu.wait_for("● Start", "○ Cancel", "└")
        lines = menu.text.splitlines()
        title = lines.index("│  The plan")
        question = next(row for row, line in enumerate(lines) if line.startswith("◆"))
        plan = "\n".join(lines[title:question])
        for part in [
            r"\b7 rounds",
            r"\bvalkey-glide\b",
            r"GB of memory",
            r"\d+ runs of .* about",
        ]:
            assert re.search(part, plan), part
        assert re.search(r"… \d+ more", plan)
        # Moving the mark keeps it in sight.
        menu.send(DOWN)
        menu.wait_for("● Change an answer", "│  The plan")
        menu.send(CTRL_C)
        assert menu.exit_code() == 130


def test_answers_are_kept_back_and_forward_in_80_by_24(tmp_path: Path) -> None:
    with Terminal(tmp_path, "run", rows=24, columns=80) as menu:
        to_all_questions(menu)
        # The first line is whole, and the list scrolls in itself.
        assert max(map(len, menu.history.splitlines())) < 80
        assert all(not line or line[0] in "┌│◆◇└" for line in menu.history.splitlines())
        # Up from the first one leads to the last.
        menu.send(UP)
        menu.wait_for("◆  Which clients?", "envoy-http")
        menu.send(ENTER)
        menu.wait_for("◆  On which store?")
        menu.send(ENTER)
        menu.wait_for("◆  Which workload?")
        menu.send(ENTER)
        menu.wait_for("◆  Which traffic?")
        menu.send(ENTER)
        menu.wait_for("◆  How long")
        menu.send(UP, ENTER)
        menu.wait_for("◆  How many seconds?")
        menu.send("45", ENTER)
        menu.wait_for("◆  How many connections?")
        menu.send(ESCAPE)
        menu.wait_for("● other")
        menu.send(ENTER)
        menu.wait_for("◆  How many seconds?\n│  45")
        menu.send(ENTER)
        menu.wait_for("◆  How many connections?")
        menu.send(CTRL_C)
        assert menu.exit_code() == 130
        assert "--duration-mode custom:45" in menu.text.replace("\n", "")


@pytest.mark.parametrize(
    ("answered", "command"),
    [
        (0, "run-all.sh --clients valkey-glide,iovalkey,"),
        (1, "run-all.sh --clients ioredis@valkey "),
    ],
)
def test_ctrl_c_prints_the_command_so_far(tmp_path: Path, answered: int, command: str) -> None:
    with Terminal(tmp_path, "run", rows=24, columns=80) as menu:
        to_all_questions(menu)
        if answered:
            # The group whole, then ioredis alone, without the controls.
            menu.send(SPACE, SPACE, DOWN, DOWN, DOWN, SPACE, *[DOWN] * 8, SPACE, SPACE, ENTER)
            menu.wait_for("◆  On which store?")
        menu.send(CTRL_C)
        assert menu.exit_code() == 130
        assert command in menu.text.replace("\n", "")


@pytest.mark.long
def test_keys_pressed_while_nothing_is_asked_answer_nothing_and_an_answer_can_be_changed_later(
    tmp_path: Path,
) -> None:
    engine = SlowEngine(tmp_path)
    engine.release()
    with Terminal(tmp_path, "run", env=engine.env) as menu:
        to_the_last_question(menu)
        engine.hold()
        menu.send(UP, ENTER)
        menu.wait_for("◇  Where does it run?")
        menu.send("xyz", ENTER)
        engine.release()
        menu.wait_for("◆  Start it?", "● Start")
        assert "xyz" not in menu.transcript

        menu.send(DOWN, ENTER)
        menu.wait_for("Which one?")
        menu.send(ESCAPE)
        menu.wait_for("● Start")
        menu.send(DOWN, ENTER)
        menu.wait_for("Change an answer\n│\n◆  Which one?")
        menu.send(*[DOWN] * 13, ENTER)
        menu.wait_for("◆  How many runs")
        menu.send("7", ENTER)
        menu.wait_for("--runs 7", "◆  Start it?")
        menu.send(CTRL_C)
        assert menu.exit_code() == 130
    assert not (tmp_path / "results").exists()


@pytest.mark.long
def test_promises_are_checked_after_a_plan_with_its_time(tmp_path: Path) -> None:
    with Terminal(tmp_path, "run", rows=24, columns=80) as menu:
        menu.wait_for("◆  What do you want to do?", "└")
        menu.send(DOWN, DOWN, DOWN, ENTER)
        menu.wait_for("Which clients?")
        # The group whole, then none of it; memory, which counts in the process, replaces none.
        menu.send(SPACE, SPACE, *[DOWN] * 12, SPACE, DOWN, SPACE, ENTER)
        menu.wait_for("Where does it run?")
        menu.send(UP, ENTER)
        menu.wait_for("│  The plan", "1 target", "Start it? It takes about", "● Start")
        assert "cli.js audit --clients memory" in menu.text.replace("\n", "")
        menu.send(ENTER)
        menu.wait_for("[1/1] memory")
        menu.send(CTRL_C)
        menu.wait_for("interrupted by SIGINT")
        assert menu.exit_code() == 130
    assert list((tmp_path / "results" / "audits").iterdir())


def test_each_goal_shows_its_time_and_enter_starts_nothing_long(tmp_path: Path) -> None:
    with Terminal(tmp_path, "run", rows=24, columns=80) as menu:
        menu.wait_for("◆  What do you want to do?", "Something else", "└")
        times = [int(minutes) for minutes in re.findall(r"[●○] .*\((\d+) min\)", menu.text)]
        # Something else has no time before it says how long to measure.
        assert len(times) == 5, menu.text
        assert max(times) <= 30
        menu.send(ENTER)
        menu.wait_for("◆  Which clients?", "└")
        menu.send(ENTER)
        menu.wait_for("│  The plan", "● Start", "└")
        assert "--quick" in menu.text
        # Esc leaves nothing of the plan and of its question behind.
        menu.send(ESCAPE)
        menu.wait_for("◆  Which clients?", "└")
        assert "Start it?" not in menu.text
        assert "The plan" not in menu.text
        menu.send(CTRL_C)
        assert menu.exit_code() == 130


def test_flags_that_only_accompany_keep_the_menu(tmp_path: Path) -> None:
    flags = ["--allow-parallel", "--output", "elsewhere"]
    with Terminal(tmp_path, "run", *flags, rows=24, columns=80) as menu:
        menu.wait_for("◆  What do you want to do?", "└")
        menu.send(ENTER)
        menu.wait_for("◆  Which clients?", "└")
        menu.send(ENTER)
        menu.wait_for("● Start", "└")
        assert "--quick --allow-parallel --output elsewhere" in menu.text.replace(" \\\n ", "")
        menu.send(CTRL_C)
        assert menu.exit_code() == 130


@pytest.mark.long
def test_an_own_store_is_named_by_its_address_without_a_password(tmp_path: Path) -> None:
    with Terminal(tmp_path, "run", rows=24, columns=80) as menu:
        menu.wait_for("◆  What do you want to do?", "└")
        menu.send(*[DOWN] * 4, ENTER)
        menu.wait_for("◆  Where is the store?")
        menu.send("redis://:secret@127.0.0.1:7001", ENTER)
        menu.wait_for("set STORE_URL")
        menu.send(CTRL_C)
        assert menu.exit_code() == 130


# [R-menu-2]
def test_ctrl_c_gives_up_also_while_nothing_is_asked(tmp_path: Path) -> None:
    with Terminal(tmp_path, "run", env=SlowEngine(tmp_path).env) as menu:
        menu.wait_for("checking this machine")
        menu.send(CTRL_C)
        assert menu.exit_code() == 130
        assert menu.text.strip() == "cancelled: nothing was started"
        assert menu.echoes()
        assert not menu.cursor_hidden()


CRASH = "process.on('SIGUSR2', () => { throw new Error('a crash'); })"


# [R-menu-1]
@pytest.mark.long
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 143), (signal.SIGHUP, 143), (signal.SIGUSR2, 1)],
)
def test_the_terminal_is_given_back_however_it_ends(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    env = {"NODE_OPTIONS": f'--import "data:text/javascript,{CRASH}"'}
    with Terminal(tmp_path, "run", env=env) as menu:
        menu.wait_for("◆  What do you want to do?", "└")
        assert not menu.echoes()
        assert menu.cursor_hidden()
        menu.kill(number)
        assert menu.exit_code() == code
        assert menu.echoes()
        assert not menu.cursor_hidden()


def start_time(pid: int) -> str:
    """As `startTimeOf` reads it: the 22nd field."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def lock(home: Path) -> None:
    """As if this process were a campaign."""
    state = home / "state home" / "ratelimit-bench"
    state.mkdir(parents=True)
    owner = {"pid": os.getpid(), "started": start_time(os.getpid()), "campaign": "20260102_030405"}
    (state / "lock.json").write_text(json.dumps(owner))


@pytest.mark.long
def test_a_campaign_that_began_while_the_menu_asked_is_told_with_the_plan(tmp_path: Path) -> None:
    with Terminal(tmp_path, "run") as menu:
        to_the_last_question(menu)
        lock(tmp_path)
        menu.send(UP, ENTER)
        menu.wait_for("This cannot be run", "campaign 20260102_030405 is running", "What now?")
        assert "● Change what to do" in menu.text
        menu.send(CTRL_C)
        assert menu.exit_code() == 130


def no_results(home: Path) -> dict[str, str]:
    (home / "results").write_text("a file")
    return {}


@pytest.mark.long
@pytest.mark.parametrize(
    ("prepare", "code", "told"),
    [
        (no_results, 3, "/results cannot be written"),
        (lambda _: {"RATE_LIMIT_POINTS": "many"}, 2, "RATE_LIMIT_POINTS"),
    ],
    ids=["results", "variable"],
)
def test_what_stands_in_the_way_is_told_before_anything_is_asked(
    tmp_path: Path, prepare: Callable[[Path], dict[str, str]], code: int, told: str
) -> None:
    with Terminal(tmp_path, "run", env=prepare(tmp_path)) as menu:
        assert menu.exit_code() == code
        assert told in menu.text.replace("\n", "")
        assert "Which clients?" not in menu.transcript


@pytest.mark.long
def test_legacy_asks_three_plain_questions_until_the_answers_are_good(tmp_path: Path) -> None:
    with Terminal(
        tmp_path, "run", "--legacy", "--clients", "none", "--dry-run", "--runtime", "local"
    ) as prompts:
        prompts.wait_for("Duration (dynamic, 30, 120 or seconds) [dynamic]:")
        prompts.send("soon", ENTER)
        prompts.wait_for("give dynamic, fixed30, fixed120 or custom:N")
        prompts.send("7", ENTER)
        prompts.wait_for("Concurrency (connections, separated by spaces) [50 100]:")
        prompts.send("5 6", ENTER)
        prompts.wait_for("Workload (light, heavy or both) [light]:")
        prompts.send("huge", ENTER)
        prompts.wait_for('there is no workload "huge"; valid: light, heavy, both')
        prompts.send(ENTER)
        assert prompts.exit_code() == 0
        assert "6 runs of 2 configurations" in prompts.text
        assert "7 s" in prompts.text
        assert not results(tmp_path)


@pytest.mark.long
def test_legacy_ends_with_its_input(tmp_path: Path) -> None:
    with Terminal(tmp_path, "run", "--legacy") as prompts:
        prompts.wait_for("Duration")
        prompts.send(CTRL_D)
        assert prompts.exit_code() == 130
        assert "nothing was started" in prompts.text
