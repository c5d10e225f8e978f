"""What must not run, break or be believed: hostile texts in every field, files that are something
else."""

import csv
import hashlib
import io
import json
import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builder import Document, configuration, failed_result, result, verdict
from campaign_writer import manifest
from conftest import Build, Outcome

SCRIPT = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
FORMULAS = ("=1+1", "+1+1", "-1+1", "@SUM(1)", "\t=1", "\r=1")

#: Texts that the contract constrains, or that must agree with each other.
FIXED = re.compile(
    r"\$\.(schema|campaign|status|started_at|finished_at|configuration_hash|plan\.schema|file)$"
    r"|\.(data|unit|encoding|hash|configuration_hash|model|severity|basis|kind|name_or_sha1|source|order|verdict)$"
    r"|verdict\.status$|\.outcome$|limited_by\.resource$|\.(client|store|topology|limiter|layer|id|traffic|rule|workload)$|\.options"
)


def poisoned(value: Any, text: str, path: str = "$") -> Any:
    """A document with `text` in every string that may hold any."""
    if isinstance(value, dict):
        return {name: poisoned(inner, text, f"{path}.{name}") for name, inner in value.items()}
    if isinstance(value, list):
        return [poisoned(inner, text, path) for inner in value]
    return text if isinstance(value, str) and not FIXED.search(path) else value


def poisoned_campaign(text: str) -> tuple[Document, list[Document]]:
    configured = configuration()
    configured["target"]["label"] = configured["target"]["text"] = text
    measured = result(configured, 1, verdict=verdict("suspect", ("M6", text)), notes=[text])
    failed = failed_result(configured, 2, text)
    described = manifest([configured], 3)
    described["plan"]["skips"].append({"asked": text, "reason": text})
    described["plan"]["notes"].append(text)
    described["plan"]["configurations"][0]["load_text"] = text
    # The configuration stands three times under one hash: it is poisoned by hand.
    return (
        {**poisoned({**described, "plan": {}}, text), "plan": described["plan"]},
        [
            {**poisoned({**document, "configuration": {}}, text), "configuration": configured}
            for document in (measured, failed)
        ],
    )


def reported(build: Build, text: str) -> Outcome:
    outcome = build(*poisoned_campaign(text), "--images")
    assert outcome.code == 0, outcome.err
    return outcome


def test_nothing_hostile_leaves_its_place_in_markdown(build: Build) -> None:
    mention = "@everyone | <b>x</b> `code` [link](javascript:1) ![](x)\nnext"
    text = (reported(build, mention).folder / "report" / "summary.md").read_text(encoding="utf-8")
    outside = re.sub(r"`[^`\n]*`", "", text)
    assert "@everyone" not in outside
    assert "<b>" not in outside
    assert "[link]" not in outside
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in rows}) == 1
    assert "\nnext" not in text


# [R-formula-2]
@pytest.mark.parametrize("formula", FORMULAS)
def test_no_cell_of_a_csv_is_a_formula(build: Build, formula: str) -> None:
    folder = reported(build, formula).folder / "report"
    for name in ("summary.csv", "runs.csv"):
        rows = list(csv.reader(io.StringIO((folder / name).read_bytes().decode(), newline="")))
        assert len({len(row) for row in rows}) == 1
        cells = [cell for row in rows for cell in row]
        assert f"'{formula}" in cells
        assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))] == []


def test_images_stay_well_formed(build: Build) -> None:
    for path in (reported(build, f"{SCRIPT}&amp;\x00\x0b").folder / "report" / "images").iterdir():
        text = path.read_text(encoding="utf-8")
        ElementTree.fromstring(text)  # noqa: S314 (ours)
        assert "<script" not in text
        assert "<img" not in text


def test_json_outputs_stay_json(build: Build) -> None:
    folder = reported(build, f'"}}],{SCRIPT}\u2028').folder / "report"
    for path in folder.glob("*.json"):
        json.loads(path.read_text(encoding="utf-8"))


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()


def _loop(path: Path) -> None:
    path.symlink_to("nowhere.json")


def _link(path: Path) -> None:
    target = path.parent.parent / "elsewhere.json"
    target.write_text(json.dumps(result(configuration(), run=2)), "utf-8")
    path.symlink_to(target)


# [R-no-file-2]
@pytest.mark.parametrize("name", ["SHA256SUMS", "manifest.json"])
@pytest.mark.parametrize("make", [_pipe, _folder, _loop, _link])
def test_checksums_and_manifest_are_files(
    build: Build, tmp_path: Path, make: Callable[[Path], None], name: str
) -> None:
    (tmp_path / "campaign").mkdir()
    make(tmp_path / "campaign" / name)
    outcome = build(None, [result(configuration())])
    assert outcome.code == 2
    assert f"{name}: $ is " in outcome.err


@pytest.mark.parametrize("make", [_pipe, _folder, _loop, _link])
def test_what_is_no_file_does_not_stop_the_report(
    build: Build, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    (tmp_path / "campaign").mkdir()
    make(tmp_path / "campaign" / "strange.json")
    outcome = build(None, [result(configuration())])
    assert outcome.code == 2
    assert outcome.err.splitlines()[-1].startswith("generate_report: strange.json: $ is ")


def test_a_result_that_was_changed_after_its_run_is_named(build: Build) -> None:
    data = json.dumps(result(configuration(), 2)).encode()
    sums = (
        f"{hashlib.sha256(data).hexdigest()}  kept.json\n{'0' * 64} *changed.json\nnonsense\n\xff"
    )
    changed = json.dumps(result(configuration(), 3)).encode()
    files = {"kept.json": data, "changed.json": changed, "SHA256SUMS": sums.encode("latin-1")}
    outcome = build(None, [result(configuration())], files=files)
    assert outcome.code == 2
    assert outcome.err.splitlines()[-1] == (
        "generate_report: changed.json: $ differs from its checksum in SHA256SUMS: "
        "it was changed after the run"
    )


def test_keep_going_builds_the_rest_and_lists_what_is_missing(build: Build) -> None:
    files = {
        "a<b>.json": b"{",
        "z.json": json.dumps(failed_result(configuration("ioredis"), 1)).encode(),
    }
    outcome = build(
        manifest([configuration()], 1), [result(configuration())], "--keep-going", files=files
    )
    assert outcome.code == 2
    assert "a<b>.json: $ is not JSON" in outcome.err
    assert "Excluded: a&lt;b&gt;.json: $ is not JSON" in outcome.page
    assert "Excluded: `a<b>.json`" in outcome.text("summary.md")
    document = outcome.summary
    assert [entry["file"] for entry in document["excluded"]] == ["a<b>.json"]
    assert document["configurations"][-1]["label"] == "iovalkey"
    assert (outcome.folder / "report" / "runs.csv").is_file()


def test_keep_going_with_a_broken_manifest_goes_without(build: Build) -> None:
    broken = manifest([configuration()], 1)
    del broken["machine"]
    outcome = build(broken, [result(configuration())], "--keep-going")
    assert outcome.code == 2
    assert "Excluded: manifest.json: $.machine is missing" in outcome.page


def test_keep_going_with_nothing_left_writes_nothing(build: Build) -> None:
    outcome = build(None, [], "--keep-going", files={"a.json": b"{"})
    assert outcome.code == 2
    assert not (outcome.folder / "report").exists()
