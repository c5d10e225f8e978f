"""The page and the Markdown of an audit."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from audit_documents import HOSTILE, audit_of, audited, finding
from page_reader import glued_texts, read
from report.cli.audit_command import main
from report.results.load import load_audit

BROKEN = audited(
    "ioredis+non-atomic",
    finding(
        "exact-burst", "broken", promised="20 of 100", seen=f"87 {HOSTILE}", notes=["declared so"]
    ),
    finding("expiry", "skipped", reason="its store does not list keys"),
)
WHOLE = audited(
    "ioredis",
    finding("exact-burst", "holds", promised="20 of 100", seen="20"),
    finding("expiry", "failed", reason="3 of 40 requests failed"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "audit.json").write_text(json.dumps(audit_of(BROKEN, WHOLE)), encoding="utf-8")
    return tmp_path


def test_the_page_has_a_table_of_targets_and_checks_and_what_was_promised_and_seen(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(folder)]) == 0
    assert capsys.readouterr().out.strip() == str((folder / "index.html").resolve())
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert "1 of 2 targets breaks a promise: 1 defect. 1 check could not be made." in text
    for words in (
        "20 of 100",
        "declared so",
        "its store does not list keys",
        "3 of 40 requests failed",
    ):
        assert words in text
    assert "<img src=x" not in text
    assert read(text).text.count("ioredis+non-atomic") >= 3
    assert glued_texts(text) == []


def test_the_markdown_names_broken_promises_and_admits_no_markup(folder: Path) -> None:
    assert main([str(folder)]) == 0
    text = (folder / "audit.md").read_text(encoding="utf-8")
    assert "| `ioredis+non-atomic` | **✗** | – |" in text
    assert "| `ioredis` | ✓ | ? |" in text
    assert "promised 20 of 100; seen 87" in text
    assert "<" not in re.sub(r"`[^`\n]*`", "", text)


def test_targets_with_the_most_broken_promises_come_first_and_lead_to_their_own_details(
    folder: Path,
) -> None:
    (folder / "audit.json").write_text(json.dumps(audit_of(WHOLE, BROKEN)), encoding="utf-8")
    assert main([str(folder)]) == 0
    text = (folder / "audit.md").read_text(encoding="utf-8")
    assert text.index("| `ioredis+non-atomic` | **✗**") < text.index("| `ioredis` | ✓")
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert page.index('href="#exact-burst-2"') < page.index('href="#exact-burst-1"')


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"schema_version": 3}, "$.schema_version"),
        ({"counts": {}}, "$.counts"),
        ({"speed": 1}, "$.speed"),
    ],
)
def test_a_file_that_is_no_audit_is_refused_with_its_field(
    folder: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any], named: str
) -> None:
    (folder / "audit.json").write_text(json.dumps(audit_of(BROKEN) | change), encoding="utf-8")
    assert main([str(folder)]) == 2
    assert named in capsys.readouterr().err
    assert not (folder / "index.html").exists()


def test_what_nobody_promises_is_told_and_counts_for_nothing(folder: Path) -> None:
    target = audited("ioredis", finding("exact-burst", "holds"))
    told = finding("expiry", "not-promised", holds=False, promised="0 of 400", seen="200: 200 over")
    target["findings"].append(told)
    (folder / "audit.json").write_text(json.dumps(audit_of(target)), encoding="utf-8")
    assert main([str(folder)]) == 0
    text = read((folder / "index.html").read_text(encoding="utf-8")).text
    assert "The target keeps all that was checked. 1 check tried what nobody promises." in text
    assert "○ not promised" in text and "200: 200 over" in text
    markdown = (folder / "audit.md").read_text(encoding="utf-8")
    assert "| `ioredis` | ✓ | ○ |" in markdown
    assert "expected 0 of 400; seen 200: 200 over" in markdown
    assert "BROKEN" not in markdown and "**✗**" not in markdown


def test_one_defect_is_one_finding_whatever_it_breaks(folder: Path) -> None:
    burst = finding("exact-burst", "broken", seen="21", excess=1)
    follows = finding(
        "expiry", "broken", seen="15 pairs counted apart", consequence_of="exact-burst"
    )
    (folder / "audit.json").write_text(
        json.dumps(audit_of(audited("ioredis", burst, follows))), "utf-8"
    )
    assert main([str(folder)]) == 0
    text = read((folder / "index.html").read_text(encoding="utf-8")).text
    assert "1 of 1 target breaks a promise: 1 defect, seen in 2 checks." in text
    assert "All of these admit quota + 1: Expiry." in text
    assert "Follows from Exact burst." in text
    assert "| `ioredis` | **✗** | ↳ |" in (folder / "audit.md").read_text(encoding="utf-8")


def test_an_audit_of_the_first_format_blames_nobody_for_what_nobody_promised(folder: Path) -> None:
    findings = [
        finding("eviction", "broken", seen="200: 200 over"),
        finding("clocks-2-s", "holds"),
    ]
    document = audit_of(audited("ioredis", *findings, finding("expiry", "broken", seen="1 keys")))
    document |= {
        "schema_version": 1,
        "counts": {"holds": 1, "broken": 2, "skipped": 0, "failed": 0},
    }
    (folder / "audit.json").write_text(json.dumps(document), encoding="utf-8")
    audit = load_audit(folder)
    statuses = [(finding.status, finding.holds) for finding in audit.targets[0].findings]
    assert statuses == [("not-promised", False), ("not-promised", True), ("broken", None)]
    assert (audit.counts.holds, audit.counts.broken, audit.counts.not_promised) == (0, 1, 2)


def test_a_folder_without_an_audit_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 2
    assert "audit.json cannot be read" in capsys.readouterr().err


def test_the_table_has_the_newest_finding_of_each_condition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clocks = {
        "id": "clocks-2-s",
        "title": "Clocks",
        "promise": "The quota.",
        "matters": "It counts.",
    }
    prefix = {
        "id": "ipv6-prefix",
        "title": "IPv6",
        "promise": "One quota.",
        "matters": "It counts.",
    }

    def write(day: int, *findings: dict[str, Any]) -> None:
        document = audit_of(audited("ioredis@redis:standalone+upstash-fixed", *findings))
        document["checks"] = [clocks, prefix]
        document["started_at"] = f"2026-01-0{day}T00:00:00.000Z"
        folder = tmp_path / f"day-{day}"
        folder.mkdir()
        (folder / "audit.json").write_text(json.dumps(document), encoding="utf-8")

    admissions = {"seen": 184, "least": 96, "most": 104}
    write(
        2,
        finding(
            "clocks-2-s", "not-promised", holds=False, seen="184: 80 over", admissions=admissions
        ),
    )
    write(
        1,
        finding("clocks-2-s", "holds", seen="100"),
        finding("ipv6-prefix", "skipped", reason="no keys"),
    )
    assert main(["--table", str(tmp_path)]) == 0
    output = capsys.readouterr().out
    row = next(line for line in output.splitlines() if "upstash-fixed" in line)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells == [
        "`ioredis@redis+upstash-fixed`",
        "fixed window",
        "○ 80 over (184 of 96–104)",
        "–",
    ]
    assert "no keys" in output
    (tmp_path / "none").mkdir()
    assert main(["--table", str(tmp_path / "none")]) == 2


def test_the_table_in_the_documentation_is_that_of_the_published_audits(
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = Path(__file__).parents[3]
    assert main(["--table", str(root / "results/published/audits")]) == 0
    assert capsys.readouterr().out == (root / "results/audits.md").read_text(encoding="utf-8")
