"""Baselines: campaigns that `compare` saves under a name."""

import json
from pathlib import Path

import pytest

from compared_campaigns import (
    GLIDE,
    IOVALKEY,
    Call,
    Put,
)


def test_a_baseline_is_saved_whole_and_compared_with(call: Call, put: Put, tmp_path: Path) -> None:
    put("one", {IOVALKEY: 6000, GLIDE: 5000}, reference=4000)
    saved = call("--save-baseline", "main")
    assert (saved.code, saved.err) == (0, "")
    put("two", {IOVALKEY: 5000, GLIDE: 5000}, reference=4000)
    assert call("--baseline", "main").code == 6
    assert call("--baseline", "main", GLIDE).code == 0
    # Saved again, the newer one counts, and nothing of the older is left.
    assert call("--save-baseline", "main", "results/two").code == 0
    assert call("--baseline", "main", "results/two").code == 0
    there = sorted(path.name for path in (tmp_path / "results" / "baselines").iterdir())
    assert there == ["main"]


def test_a_baseline_without_a_reference_says_that_it_decides_nothing(call: Call, put: Put) -> None:
    put("one", {IOVALKEY: 6000})
    saved = call("--save-baseline", "main")
    assert saved.code == 0
    assert "--reference auto" in saved.err


def test_a_baseline_of_an_older_schema_is_to_be_saved_again(
    call: Call, put: Put, tmp_path: Path
) -> None:
    put("one", {IOVALKEY: 6000, GLIDE: 5000})
    assert call("--save-baseline", "main").code == 0
    saved = tmp_path / "results" / "baselines" / "main"
    (saved / "SHA256SUMS").unlink(missing_ok=True)
    for path in saved.glob("*.json"):
        document = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(document | {"schema_version": 1}), encoding="utf-8")
    refused = call("--baseline", "main")
    assert refused.code == 2
    first, last = refused.err.splitlines()
    assert first.endswith(
        "more files: $.schema_version is 1; this report reads versions 2 to 4: measure again"
    )
    assert last.endswith("baseline main: save it again with --save-baseline main")


def test_baselines_that_cannot_be(call: Call, put: Put, tmp_path: Path) -> None:
    put("one", {IOVALKEY: 6000})
    for name in ("../x", "", ".hidden", "a/b", "x" * 80, "-x\n"):
        refused = call(f"--save-baseline={name}")
        assert (refused.code, refused.err.count("\n")) == (2, 1), name
    missing = call("--baseline", "nope")
    assert missing.code == 2
    assert "none was saved" in missing.err
    assert "--save-baseline nope" in missing.err
    assert call("--save-baseline", "main", IOVALKEY).code == 2
    assert call("--save-baseline", "main", "--baseline", "x").code == 2
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "results" / "baselines").symlink_to(elsewhere)
    assert call("--save-baseline", "main").code == 3
    assert list(elsewhere.iterdir()) == []


def test_a_baseline_stays_as_it_was_when_the_copy_fails(
    call: Call, put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("one", {IOVALKEY: 6000}, reference=4000)
    assert call("--save-baseline", "main").code == 0
    put("two", {IOVALKEY: 5000}, reference=4000)

    def full(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("report.compare.selection.shutil.copyfile", full)
    failed = call("--save-baseline", "main")
    assert failed.code == 4
    assert "No space left on device" in failed.err
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert [path.name for path in (tmp_path / "results" / "baselines").iterdir()] == ["main"]
    assert call("--baseline", "main").code == 6
