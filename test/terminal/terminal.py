"""A person at a terminal: keys in, the screen out, as a terminal emulator shows it."""

import os
import signal
import termios
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import pexpect
import pyte

ROOT = Path(__file__).parents[2]
CLI = ROOT / "dist" / "orchestrator" / "cli.js"

ENTER = "\r"
ESCAPE = "\x1b"
UP = "\x1b[A"
DOWN = "\x1b[B"
CTRL_C = "\x03"
CTRL_D = "\x04"


class Terminal:
    """The command line on a pseudo-terminal; `home` gets its state and results.

    Of 0 columns the program is told 0; what it writes is shown in 80.
    """

    def __init__(
        self,
        home: Path,
        *parameters: str,
        rows: int = 60,
        columns: int = 120,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._screen = pyte.HistoryScreen(columns or 80, rows, history=2000)
        self._stream = pyte.Stream(self._screen)
        self.transcript = ""
        environment = {
            "PATH": os.environ["PATH"],
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state home"),
            **(env or {}),
        }
        self._child: pexpect.spawn[str] = pexpect.spawn(
            "node",
            [str(CLI), *parameters],
            cwd=str(home),
            env=environment,
            dimensions=(rows, columns),
            encoding="utf-8",
        )

    @property
    def text(self) -> str:
        """What is on the screen now."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    @property
    def history(self) -> str:
        """What has scrolled away, and what is on the screen now."""
        gone = [
            "".join(line[column].data for column in range(self._screen.columns)).rstrip()
            for line in self._screen.history.top
        ]
        return "\n".join([*gone, self.text])

    def cursor_hidden(self) -> bool:
        return bool(self._screen.cursor.hidden)

    def echoes(self) -> bool:
        """Whether the terminal shows what is typed, a line at a time, as it did at first."""
        flags: int = termios.tcgetattr(self._child.child_fd)[3]
        return flags & (termios.ECHO | termios.ICANON) == termios.ECHO | termios.ICANON

    def kill(self, number: signal.Signals) -> None:
        self._child.kill(number)

    def _read(self, seconds: float) -> bool:
        """Takes what the program writes. Returns whether it still runs."""
        try:
            written = self._child.read_nonblocking(65536, seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.transcript += written
        self._stream.feed(written)
        return True

    def wait_for(self, *texts: str, within_s: float = 60) -> None:
        """Until the screen shows all of them at once."""
        deadline = time.monotonic() + within_s
        while not all(text in self.text for text in texts):
            if not self._read(0.2) or time.monotonic() > deadline:
                raise AssertionError(f"{texts!r} did not appear; the screen:\n{self.text}")

    def wait_for_new(self, text: str, within_s: float = 60) -> None:
        """Until the program writes it once more, and has written no more for a moment."""
        written = len(self.transcript)
        deadline = time.monotonic() + within_s
        while text not in self.transcript[written:]:
            if not self._read(0.2) or time.monotonic() > deadline:
                raise AssertionError(f"{text!r} was not written again; the screen:\n{self.text}")

    def send(self, *keys: str) -> None:
        for key in keys:
            self._child.send(key)

    def resize(self, rows: int, columns: int) -> None:
        self._child.setwinsize(rows, columns)
        self._screen.resize(rows, columns)

    def exit_code(self, within_s: float = 60) -> int | None:
        """Waits for the end."""
        deadline = time.monotonic() + within_s
        while self._read(0.2):
            if time.monotonic() > deadline:
                raise AssertionError(f"it did not end; the screen:\n{self.text}")
        self._child.wait()
        return self._child.exitstatus

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Whatever still runs is ended."""
        self._child.close(force=True)
