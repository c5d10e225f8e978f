"""Claims against campaigns: what counts as an attempt, and how it is judged."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from builder import Document, configuration, hash_of, result, verdict
from campaign_writer import manifest, write_campaign
from evidence import latency
from report.base.errors import ReportError
from report.base.paths import ROOT
from report.claims.claim_files import NOTICE, read_claims, read_notice
from report.claims.judgement import CONFIRMED, REFUTED, UNDECIDED
from report.cli.claims_command import main

HOSTILE = "<img src=x onerror=alert(1)>|`*"
NEW = "iovalkey"
BASE = "ioredis@valkey"
OPEN = {"model": "open", "rate_per_second": 2000, "arrivals": "constant", "connections": 50}
CAMPAIGN = (
    "clients: [iovalkey@valkey, ioredis@valkey]\n"
    "traffic: realistic\npoints: 1000000\nconcurrency: 50\n"
)


def _wave(level: int) -> list[int]:
    """Requests/s of ten runs, within 1 % of a level."""
    return [level + round(level * 0.002 * (3 * run % 5 - 2)) for run in range(10)]


def _measure(
    root: Path,
    name: str,
    new: int = 5400,
    unsupported: int = 0,
    copy: int = 4000,
    start: str = "2026-01-02T03:04:05.000Z",
    settings: Document | None = None,
    **changes: Any,
) -> None:
    """A campaign of both targets, the base at 4000/s, and its copy; so many of the new runs have no
    p99."""
    configurations = [
        configuration(label, **(settings or {})) for label in (NEW, BASE, f"{BASE}+copy")
    ]
    runs = [
        result(each, run, rate, campaign=name, **changes)
        for each, level in zip(configurations, (new, 4000, copy), strict=True)
        for run, rate in enumerate(_wave(level), start=1)
    ]
    for document in runs[:unsupported]:
        document["unsupported"] = ["p99"]
    document = manifest(configurations, 10, campaign=name, started_at=start)
    document["plan"]["references"] = [hash_of(configurations[1])]
    write_campaign(root / name, document, runs)


def _rows(
    tmp_path: Path, expects: str, more: str = "", campaign: str = CAMPAIGN
) -> list[list[str]]:
    """Cells of the table's rows, for one claim with one comparison."""
    (tmp_path / "claims").mkdir(exist_ok=True)
    claim = f"""{campaign}claims:
  - id: a-beats-b
    says: {{ sentence: "A is faster {HOSTILE}", source: A, address: "https://example.com/a)" }}
    expects: [{{ of: iovalkey@valkey, against: ioredis@valkey, {expects} }}]
{more}"""
    (tmp_path / "claims" / "a.yaml").write_text(claim, encoding="utf-8")
    results = tmp_path / "results"
    results.mkdir(exist_ok=True)
    assert main(["--claims", str(tmp_path / "claims"), "--results", str(results)]) == 0
    text = (results / "claims.md").read_text(encoding="utf-8")
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    assert "<" not in re.sub(r"`[^`\n]*`", "", text).replace("<!--", "")
    return lines[2:]


VERDICT = 5
LOAD = 7
PLACE = -1


@pytest.mark.parametrize(
    ("expects", "ending"),
    [
        ("metric: throughput, ratio: [1.2, 1.5]", CONFIRMED),
        ("metric: throughput, ratio: [1.2, null]", CONFIRMED),
        ("metric: throughput, ratio: [1.4, 1.5], refuted: [1.38, 1.6]", REFUTED),
        ("metric: throughput, ratio: [null, 1.2], refuted: [null, 1.25]", REFUTED),
        # Beyond its range, and not beyond the wider one.
        ("metric: throughput, ratio: [1.4, 1.5], refuted: [1.1, 2]", UNDECIDED),
        ("metric: throughput, ratio: [1.3495, 1.3505], refuted: [1.349, 1.351]", UNDECIDED),
        # Without a range that was set before the data nothing is refuted.
        ("metric: throughput, ratio: [1.4, 1.5]", UNDECIDED),
        ("metric: throughput, is: faster", CONFIRMED),
        ("metric: throughput, is: slower", UNDECIDED),
        ("metric: throughput, is: no difference", UNDECIDED),
        ("metric: p50, is: better", CONFIRMED),
        # In a closed loop it follows from the throughput.
        ("metric: cpu, is: better", UNDECIDED),
    ],
)
def test_the_interval_decides(tmp_path: Path, expects: str, ending: str) -> None:
    _measure(tmp_path / "results", "20260102_030405")
    ((*_, verdict_text),) = [row[: VERDICT + 1] for row in _rows(tmp_path, expects)]
    assert verdict_text.startswith(ending)


def test_every_campaign_that_measured_the_same_is_a_row_whatever_its_name(tmp_path: Path) -> None:
    results = tmp_path / "results"
    _measure(results, "20260102_030405")
    _measure(results / "elsewhere", "20260103_030405", new=3000, start="2026-01-03T03:04:05.000Z")
    # One that is there twice is one attempt.
    shutil.copytree(results / "elsewhere", results / "a copy")
    # Other traffic, another load, several servers: none is an attempt.
    closed = {"model": "closed", "connections": 7}
    others: list[Document] = [
        {"traffic": "allowed"},
        {"load": closed},
        {"load": OPEN},
        {"servers": 2},
    ]
    for number, settings in enumerate(others):
        start = f"2026-01-04T03:04:0{number}.000Z"
        _measure(results, f"20260104_03040{number}", settings=settings, start=start)
    rows = _rows(tmp_path, "metric: throughput, ratio: [1.2, 1.5], refuted: [1.1, 2]")
    assert [(row[PLACE], row[VERDICT]) for row in rows] == [
        ("`20260102_030405`", CONFIRMED),
        ("`elsewhere/20260103_030405`", REFUTED),
    ]
    page = (results / "claims.md").read_text(encoding="utf-8")
    before_the_table, _ = page.split("## Every attempt")
    (line,) = [line for line in before_the_table.splitlines() if line.startswith("- ")]
    assert line.startswith("- `a-beats-b`: A is faster")
    assert line.endswith(f"(1 {CONFIRMED}, 1 {REFUTED})")


def test_a_percentile_that_a_run_calls_unsupported_is_never_judged(tmp_path: Path) -> None:
    _measure(tmp_path / "results", "20260102_030405", unsupported=1)
    (row,) = _rows(tmp_path, "metric: p99, is: better")
    assert row[VERDICT].startswith(UNDECIDED) and "1 of 20" in row[VERDICT]


def test_a_late_percentile_is_never_judged(tmp_path: Path) -> None:
    schedule = {
        "rate_per_second": 2000,
        "arrivals": "constant",
        "offered": 10_000,
        "sent": 10_000,
        "late": 9_000,
        "blocked": 0,
        "dropped": 0,
        "unsent": 0,
        "achieved_per_second": 2000,
        "late_percentiles": ["p50"],
        "shared_wakes": False,
    }
    settings = {"load": OPEN}
    _measure(
        tmp_path / "results",
        "x",
        settings=settings,
        schedule=schedule,
        service_time=latency({800: 9_000}),
    )
    (row,) = _rows(
        tmp_path,
        "metric: p50, is: better",
        campaign=CAMPAIGN.replace("concurrency: 50", "rate: 2000"),
    )
    assert row[VERDICT].startswith(UNDECIDED) and "20 of 20" in row[VERDICT]


@pytest.mark.parametrize("copy", [4400, 5800])
def test_what_a_copy_of_the_reference_shows_as_well_is_not_decided(
    tmp_path: Path, copy: int
) -> None:
    _measure(tmp_path / "results", "20260102_030405", copy=copy)
    (row,) = _rows(tmp_path, "metric: throughput, ratio: [1.2, 1.5]")
    assert row[VERDICT].startswith(UNDECIDED)


def test_suspect_runs_are_counted_and_a_claim_that_nobody_measured_says_what_it_needs(
    tmp_path: Path,
) -> None:
    _measure(
        tmp_path / "results", "20260102_030405", verdict=verdict("suspect", ("M6", "saturated"))
    )
    other = """  - id: b-beats-a
    says: { sentence: B is faster, source: B }
    needs: a build of that branch
"""
    measured, unmeasured = _rows(tmp_path, "metric: throughput, is: faster", other)
    assert "20 of 20 suspect" in measured[LOAD]
    assert (
        unmeasured[VERDICT].startswith(UNDECIDED)
        and "a build of that branch" in unmeasured[VERDICT]
    )


@pytest.mark.parametrize(
    "expects",
    [
        "metric: speed, is: better",
        "metric: p50",
        "metric: p50, is: faster",
        "metric: p50, is: better, ratio: [1, 2]",
        "metric: p50, is: better, refuted: [1, 2]",
        "metric: p50, ratio: [1, 2], refuted: [1.5, 3]",
    ],
)
def test_what_is_no_claim_is_refused_by_its_file(tmp_path: Path, expects: str) -> None:
    text = (
        "claims: [{id: a, says: {sentence: s, source: s}, "
        f"expects: [{{of: a, against: b, {expects}}}]}}]"
    )
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ReportError) as caught:
        read_claims(tmp_path)
    assert caught.value.exit_code == 2 and caught.value.lines[0].startswith("a.yaml: ")


def test_the_counts_of_refuted_are_withdrawn_and_what_the_publication_leaves_open_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    caveats = f"""    refuted_by: It is slower.
    measured_there: {{ load: 7 connections, keys: "one {HOSTILE}" }}
    not_said: [how many cores it had]
    notes: [One run was made.]
"""
    (tmp_path / "claims").mkdir()
    notice = read_notice(ROOT / "claims")
    (tmp_path / "claims" / NOTICE).write_text(notice, encoding="utf-8")
    _rows(tmp_path, "metric: throughput, ratio: [1.4, 1.5], refuted: [1.1, 2]", caveats)
    text = (tmp_path / "results" / "claims.md").read_text(encoding="utf-8")
    head, _, rest = text.partition("| Claim |")
    assert "withdrawn" in notice and f"\n\n**{notice}**\n\n" in head
    assert "refuted below 1.1 or above 2" in rest
    for caveat in ("It is slower", "7 connections", "how many cores it had", "One run was made"):
        assert caveat in rest
    assert capsys.readouterr().out.startswith("1 row saved in ")


def test_claims_without_a_notice_begin_with_what_a_row_is(tmp_path: Path) -> None:
    _rows(tmp_path, "metric: throughput, ratio: [1.4, 1.5]")
    text = (tmp_path / "results" / "claims.md").read_text(encoding="utf-8")
    assert "measure them\n\nA row is a comparison" in text


def test_the_claims_of_this_project_name_their_rows() -> None:
    claims = read_claims(ROOT / "claims")
    assert claims
    for claim in claims:
        assert claim["expects"] or claim["needs"], claim["id"]
