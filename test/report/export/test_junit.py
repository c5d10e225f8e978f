"""JUnit's XML of audits and thresholds: what is a failure there."""

import json
from pathlib import Path
from xml.etree import ElementTree

from audit_documents import HOSTILE, audit_of, audited, finding
from builder import configuration, result
from campaign_writer import manifest
from conftest import Build
from report.cli.audit_command import main as audit

FINDINGS = (
    finding("active", "holds"),
    finding(
        "bypass",
        "broken",
        defect="renewed-by-path",
        promised="0 of 5",
        seen=f"5 of 5 \x02{HOSTILE}",
        steps=[{"sent": "5 requests", "answered": "5 × 200"}],
    ),
    finding("connections", "broken", consequence_of="bypass", promised="0", seen="1"),
    finding("headers", "failed", reason="no answer"),
    finding("instances", "skipped", reason="no --instance"),
    finding("outage", "not-promised", seen="it fails open"),
)


def document(path: Path) -> ElementTree.Element:
    return ElementTree.fromstring(path.read_text(encoding="utf-8"))  # noqa: S314


def marks(path: Path) -> dict[str, str | None]:
    """What each case of a document is marked with."""
    cases = document(path).iter("testcase")
    return {case.get("name", ""): case[0].tag if len(case) else None for case in cases}


def test_each_check_is_a_case_and_only_defects_are_failures(tmp_path: Path) -> None:
    written = audit_of(audited("http://127.0.0.1:3000/a?b=…&c=…", *FINDINGS))
    (tmp_path / "audit.json").write_text(json.dumps(written), encoding="utf-8")
    path = tmp_path / "audit.xml"
    assert audit([str(tmp_path), "--junit", str(path)]) == 0
    assert marks(path) == {
        "active": None,
        "bypass": "failure",
        "connections": "skipped",
        "headers": "error",
        "instances": "skipped",
        "outage": "skipped",
    }
    suite = document(path)[0]
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == list("6113")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("type") == "renewed-by-path"
    assert f"5 of 5 \ufffd{HOSTILE}" in failure.get("message", "")
    assert failure.text == "1. 5 requests: 5 × 200"


def test_each_threshold_is_a_case_whose_failure_has_figure_and_bound(
    build: Build, tmp_path: Path
) -> None:
    runs = [result(configuration(), run, rate) for run, rate in ((1, 1000), (2, 2000), (3, 4000))]
    asked = [
        {"text": "throughput>1999/s", "metric": "throughput", "op": ">", "value": 1999},
        {"text": "throughput>3000/s", "metric": "throughput", "op": ">", "value": 3000},
        {"text": "service", "metric": "service_cores", "op": "<", "value": 1},
    ]
    path = tmp_path / "thresholds.xml"
    built = build(manifest([configuration()], runs=3, thresholds=asked), runs, "--junit", str(path))
    assert built.code == 0
    assert list(marks(path).values()) == [None, "failure", "error"]
    failure = document(path).find("testsuite/testcase/failure")
    assert failure is not None
    message = failure.get("message", "")
    assert "throughput>3000/s" in message
    assert "2,000/s" in message


def test_a_campaign_without_thresholds_judges_nothing(build: Build, tmp_path: Path) -> None:
    runs = [result(configuration(), 1, 1000)]
    path = tmp_path / "thresholds.xml"
    built = build(manifest([configuration()], runs=1), runs, "--junit", str(path))
    assert built.code == 2
    assert "--threshold" in built.err
    assert not path.exists()
