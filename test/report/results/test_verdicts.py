"""Verdicts of newer rules take the place of the stored ones; the results stay as they are."""

import json
import tarfile
from hashlib import sha256
from pathlib import Path

from builder import Document, configuration, failed_result, result
from campaign_writer import manifest, write_campaign
from conftest import Build
from page_reader import read
from report.compare.selection import save_baseline
from report.results.archives import found_campaigns
from report.results.load import load_campaign
from report.results.model import MANIFEST, Campaign
from report.results.verdicts import VERDICTS

RULES = 7
SUSPECT: Document = {
    "rules_version": RULES,
    "status": "suspect",
    "reasons": [{"rule": "M26", "severity": "suspect", "text": "not steady"}],
    "not_applicable": [],
}
NOT_CHECKED = [{"rule": "M36", "text": "the result does not hold it"}]
CHANGE: Document = {
    "files": ["00_run1.json"],
    "verdict": SUSPECT,
    "judgement": {"outcome": "served"},
}


def verdicts(**campaign: object) -> bytes:
    judged = {
        "folder": ".",
        "judged": 2,
        "not_checked": NOT_CHECKED,
        "changes": [CHANGE],
        **campaign,
    }
    head = {"schema": "ratelimit-bench/verdicts", "schema_version": 1, "rules_version": RULES}
    return json.dumps({**head, "campaigns": [judged]}).encode()


def written(folder: Path, *more: Document) -> Path:
    runs = [result(configuration(), 1, 1000), result(configuration(), 2, 1100), *more]
    return write_campaign(folder, manifest([configuration()]), runs)


def packed(folder: Path, archive: Path) -> str:
    with tarfile.open(archive, "w:xz") as opened:
        opened.add(folder, arcname=folder.name)
    return sha256(archive.read_bytes()).hexdigest()


def stated(campaign: Campaign) -> list[tuple[str, int | None]]:
    return [(run.verdict, run.record.verdict.rules_version) for run in campaign.runs]


def test_a_folder_of_results_is_read_with_the_verdicts_beside_them(tmp_path: Path) -> None:
    folder = written(tmp_path / "c", failed_result(configuration(), 3))
    assert stated(load_campaign(folder)) == [("valid", None), ("valid", None), ("invalid", None)]
    (folder / VERDICTS).write_bytes(verdicts())
    campaign = load_campaign(folder)
    # A run without figures is not judged.
    assert stated(campaign) == [("suspect", RULES), ("valid", RULES), ("invalid", None)]
    first = campaign.runs[0].measured
    assert first is not None
    assert first.record.limited_by is None
    # What no result holds is not checked of any, with and without a change.
    unchecked = [run.record.verdict.not_checked for run in campaign.runs]
    assert [[rule.rule for rule in rules or ()] for rules in unchecked] == [["M36"], ["M36"], []]
    assert campaign.judged_again


def test_what_newer_rules_judged_when_it_was_measured_stays(tmp_path: Path) -> None:
    later = result(configuration(), 3, 1000)
    later["verdict"] = {**later["verdict"], "rules_version": RULES + 1}
    folder = written(tmp_path / "c", later)
    (folder / VERDICTS).write_bytes(verdicts())
    assert stated(load_campaign(folder))[-1] == ("valid", RULES + 1)


def test_an_archive_is_read_with_the_verdicts_above_it_unless_it_was_changed(
    tmp_path: Path,
) -> None:
    folder = written(tmp_path / "c")
    root = tmp_path / "results"
    (root / "claims").mkdir(parents=True)
    digest = packed(folder, root / "claims" / "c.tar.xz")

    def read_archive() -> list[tuple[str, int | None]]:
        with found_campaigns(root, MANIFEST) as ((_, place, wrong),):
            assert wrong == ""
            return stated(load_campaign(place))

    (root / VERDICTS).write_bytes(verdicts(folder="c", archive="claims/c.tar.xz", sha256=digest))
    assert read_archive() == [("suspect", RULES), ("valid", RULES)]
    (root / VERDICTS).write_bytes(b"{}")
    with found_campaigns(root, MANIFEST) as ((_, _, wrong),):
        assert VERDICTS in wrong
    (root / VERDICTS).write_bytes(verdicts(folder="c", archive="claims/c.tar.xz", sha256=digest))
    (folder / "note.txt").touch()
    packed(folder, root / "claims" / "c.tar.xz")
    assert read_archive() == [("valid", None), ("valid", None)]


def test_a_saved_baseline_keeps_them(tmp_path: Path) -> None:
    folder = written(tmp_path / "c")
    (folder / VERDICTS).write_bytes(verdicts())
    saved = save_baseline(tmp_path, "main", folder, load_campaign(folder))
    assert stated(load_campaign(saved)) == [("suspect", RULES), ("valid", RULES)]


def test_a_damaged_file_of_verdicts_is_named(build: Build) -> None:
    outcome = build(manifest([configuration()]), [result(configuration())], files={VERDICTS: b"{}"})
    assert outcome.code == 2
    assert VERDICTS in outcome.err


def test_the_page_says_which_rules_judged_and_what_is_not_checked(build: Build) -> None:
    documents = (
        manifest([configuration()]),
        [result(configuration(), 1), result(configuration(), 2)],
    )
    before = build(*documents)
    assert "rules of their time" in read(before.page).text
    after = read(build(*documents, files={VERDICTS: verdicts()}).page).text
    assert after.count(f"judged again by rules {RULES}") == 1
    assert "Rule M36 is not checked" in after
    assert "rules of their time" not in after
