"""`ratelimit-bench clean`, as a person meets it: it shows what is left, and asks."""

import json
from pathlib import Path

import pytest

from terminal import CTRL_C, ENTER, Terminal

pytestmark = pytest.mark.long


def left_behind(home: Path) -> tuple[Path, Path]:
    """A lease of a campaign whose process is dead, and the folder that it names."""
    work = home / "ratelimit-bench-0123456789ab"
    work.mkdir()
    leases = home / "state home" / "ratelimit-bench" / "leases"
    leases.mkdir(parents=True)
    lease = leases / "20200101_000000-1.json"
    owner = {"pid": 1, "started": "never", "campaign": "20200101_000000"}
    lease.write_text(
        json.dumps({"owner": owner, "runtime": "local", "workFolder": str(work), "processes": []})
    )
    return work, lease


@pytest.mark.parametrize("answer", ["maybe" + ENTER, CTRL_C])
def test_only_a_yes_removes(tmp_path: Path, answer: str) -> None:
    work, lease = left_behind(tmp_path)
    with Terminal(tmp_path, "clean") as clean:
        clean.wait_for("Remove all of this? [y/N]")
        assert work.name in clean.text.replace("\n", "")
        clean.send(answer)
        clean.wait_for("nothing was removed")
        assert clean.exit_code() == 0
    assert work.exists()
    assert lease.exists()


def test_a_yes_removes_what_was_shown(tmp_path: Path) -> None:
    work, lease = left_behind(tmp_path)
    with Terminal(tmp_path, "clean", env={"TMPDIR": str(tmp_path)}) as clean:
        clean.wait_for("Remove all of this? [y/N]")
        clean.send("y", ENTER)
        clean.wait_for("removed the folder")
        assert clean.exit_code() == 0
    assert not work.exists()
    assert not lease.exists()
