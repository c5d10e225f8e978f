"""Claims against campaigns: what counts as an attempt, and how it is judged."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from builder import Document, configuration, hash_of, printed_result, result, verdict
from campaign_writer import manifest, write_campaign
from evidence import latency
from report.base.errors import ReportError
from report.base.paths import ROOT
from report.claims import judgement
from report.claims.claim_files import NOTICE, read_claims, read_notice
from report.claims.criterion import criterion_of
from report.claims.judgement import (
    BETTER,
    CANNOT_BE_TOLD,
    CHANGED_LATER,
    CONFIRMED,
    EXPLAINED,
    NOT_COMPARABLE,
    REFUTED,
)
from report.claims.replies import REPLIES
from report.claims.settled import SETTLED
from report.cli.claims_command import main
from store_documents import store_configuration

HOSTILE = "<img src=x onerror=alert(1)>|`*"
SAYS = (
    f'says: {{ sentence: "A is faster {HOSTILE}", source: A, address: "https://example.com/a)" }}'
)
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


@pytest.fixture(autouse=True)
def _settled(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Campaigns here are settled (M33), which no document of today can say."""
    if "not_checked" not in request.keywords:
        monkeypatch.setattr(judgement, "settled_state", lambda *_: SETTLED)


def _measure(
    root: Path,
    name: str,
    new: int = 5400,
    unsupported: int = 0,
    copy: int = 4000,
    start: str = "2026-01-02T03:04:05.000Z",
    settings: Document | None = None,
    registers: str = "",
    in_rounds: bool = True,
    **changes: Any,
) -> None:
    """A campaign of both targets, the base at 4000/s, and its copy; so many of the new runs have no
    p99. It registers the criterion of the comparison `registers`."""
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
    if in_rounds:
        for entry in document["plan"]["runs"]:
            entry["round"] = entry["run"]
    if registers:
        document["criteria"] = [_registered(registers)]
    write_campaign(root / name, document, runs)


def _registered(expects: str) -> Document:
    """What a campaign registers for the comparison of `_rows`."""
    entry = yaml.safe_load(f"{{{expects}}}")
    criterion = criterion_of(entry)
    assert criterion
    return {
        "claim": "a-beats-b",
        "metric": entry["metric"],
        "of": "iovalkey@valkey",
        "against": "ioredis@valkey",
        "sha256": criterion.sha256,
    }


def _rows(
    tmp_path: Path,
    expects: str,
    more: str = "",
    campaign: str = CAMPAIGN,
    page: str = "claims.md",
    states: str = SAYS,
) -> list[list[str]]:
    """Cells of the page's rows, for one claim with one comparison."""
    (tmp_path / "claims").mkdir(exist_ok=True)
    claim = f"""{campaign}claims:
  - id: a-beats-b
    {states}
    expects: [{{ of: iovalkey@valkey, against: ioredis@valkey, {expects} }}]
{more}"""
    (tmp_path / "claims" / "a.yaml").write_text(claim, encoding="utf-8")
    results = tmp_path / "results"
    results.mkdir(exist_ok=True)
    assert main(["--claims", str(tmp_path / "claims"), "--results", str(results)]) == 0
    text = (results / page).read_text(encoding="utf-8")
    without_ours = re.sub(r'`[^`\n]*`|<a id="[\w.-]*"></a>', "", text).replace("<!--", "")
    assert "<" not in without_ours
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [cells for cells in lines if cells[0] not in ("Row", "---")]


def _judged(tmp_path: Path, expects: str, more: str = "", **measured: Any) -> str:
    """The verdict on the one attempt of a campaign that registered the criterion."""
    _measure(tmp_path / "results", "20260102_030405", registers=expects, **measured)
    (row,) = _rows(tmp_path, expects, more)
    return row[VERDICT]


VERDICT = 4
LOAD = 7
PLACE = -1


SLOWER = "metric: throughput, ratio: [null, 1.2], refuted: [null, 1.25]"
FASTER = "metric: throughput, ratio: [1.02, null]"


@pytest.mark.parametrize(
    ("expects", "beginning"),
    [
        ("metric: throughput, ratio: [1.2, 1.5]", CONFIRMED),
        (FASTER, CONFIRMED),
        (SLOWER + ", favours: against", REFUTED),
        (SLOWER + ", favours: neither", REFUTED),
        ("metric: throughput, ratio: [1.6, null], refuted: [1.5, null]", REFUTED),
        # Beyond the range in the direction that speaks for the product.
        (SLOWER, BETTER),
        ("metric: throughput, ratio: [1.6, null], refuted: [1.5, null], favours: against", BETTER),
        (SLOWER + ", explained: {by: two commands, measured: x}", f"{EXPLAINED}: two commands"),
        # Beyond its range, and not beyond the wider one.
        ("metric: throughput, ratio: [1.4, 1.5], refuted: [1.1, 2]", CANNOT_BE_TOLD),
        # Without a wider range nothing is refuted.
        ("metric: throughput, ratio: [1.4, 1.5]", f"{CANNOT_BE_TOLD}: no range refutes it"),
        (FASTER + ", not_comparable: two definitions", f"{NOT_COMPARABLE}: two definitions"),
    ],
)
def test_the_interval_decides(tmp_path: Path, expects: str, beginning: str) -> None:
    assert _judged(tmp_path, expects).startswith(beginning)


def test_a_published_size_is_compared_with_what_a_load_program_left_in_a_store(
    tmp_path: Path,
) -> None:
    configured = store_configuration("redis")
    sizes = [134 + run % 3 for run in range(10)]
    memory = [
        {"keys": 50_000, "used_bytes": 50_000 * size, "bytes_per_key": size} for size in sizes
    ]
    runs = [
        printed_result(configured, run, 10_000, memory=memory[run - 1], campaign="20260102_030405")
        for run in range(1, 11)
    ]
    document = manifest([configured], 10, campaign="20260102_030405")
    results = tmp_path / "results"
    write_campaign(results / "20260102_030405", document, runs)
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / "a.yaml").write_text(
        f"""layer: store
traffic: random-keys
claims:
  - id: a-key-is-small
    {SAYS}
    expects:
      - metric: bytes_per_key
        of: {{ target: valkey-benchmark@redis }}
        against: {{ published: 100 }}
        ratio: [1.3, 1.4]
""",
        encoding="utf-8",
    )
    assert main(["--claims", str(tmp_path / "claims"), "--results", str(results)]) == 0
    page = (results / "claims.md").read_text(encoding="utf-8")
    assert "| 1.35×, 1.34–1.36× |" in page


def test_a_criterion_that_is_younger_than_its_campaign_counts_nowhere(tmp_path: Path) -> None:
    older = "metric: throughput, ratio: [1.02, null]"
    _measure(tmp_path / "results", "20260102_030405", registers=older)
    (row,) = _rows(tmp_path, "metric: throughput, ratio: [1.01, null]")
    assert row[VERDICT] == CHANGED_LATER
    text = (tmp_path / "results" / "claims.md").read_text(encoding="utf-8")
    assert f"- Verdict: **{CANNOT_BE_TOLD}: {CHANGED_LATER}**" in text
    assert "- Range:" not in text


SUSPECT = verdict("suspect", ("M6", "saturated"))


@pytest.mark.parametrize(
    ("expects", "claim", "measured", "reason"),
    [
        (FASTER, "", {"verdict": SUSPECT}, "a third of runs suspect"),
        (
            FASTER,
            "",
            {"limited_by": {"resource": "host CPU", "text": "busy"}},
            "the host limited it",
        ),
        (
            FASTER,
            "",
            {"limited_by": {"resource": "generator", "text": "busy"}},
            "the generator limited it",
        ),
        (FASTER, "", {"in_rounds": False}, "the sides ran unpaired"),
        (
            FASTER,
            "claimed: { versions: { iovalkey: '99' } }",
            {},
            "iovalkey: another version than claimed",
        ),
        (FASTER, "claimed: { transport: grpc }", {}, "another transport than claimed"),
        (
            FASTER + ", published: 2, attainable: [0.5, 1.5]",
            "",
            {},
            "claimed figure not attainable here",
        ),
        (FASTER, "claimed: { states: latency }", {}, "latency claim, another figure measured"),
        ("metric: p50, ratio: [null, 0.98]", "", {}, "latency without a rate"),
        ("metric: cpu, ratio: [null, 0.98]", "", {}, "CPU follows from the throughput"),
        (FASTER, "", {"copy": 5800}, "a copy differs as well"),
    ],
)
def test_a_campaign_that_meets_all_preconditions_but_one_tells_nothing(
    tmp_path: Path, expects: str, claim: str, measured: dict[str, Any], reason: str
) -> None:
    more = f"    {claim}\n" if claim else ""
    assert _judged(tmp_path, expects, more, **measured) == f"{CANNOT_BE_TOLD}: {reason}"


@pytest.mark.not_checked
def test_a_campaign_without_evidence_that_it_settled_tells_nothing(tmp_path: Path) -> None:
    assert _judged(tmp_path, FASTER) == f"{CANNOT_BE_TOLD}: not checked"


@pytest.mark.parametrize(
    "about",
    ["claimed: { about: [host] }", "claimed: { about: [host, client], versions: { redis: '7' } }"],
)
def test_a_limit_that_the_claim_is_about_is_no_obstacle(tmp_path: Path, about: str) -> None:
    limited = {"resource": "host CPU", "text": "busy"}
    assert _judged(tmp_path, FASTER, f"    {about}\n", limited_by=limited) == CONFIRMED


def test_every_campaign_that_measured_the_same_is_a_row_whatever_its_name(tmp_path: Path) -> None:
    results = tmp_path / "results"
    expects = "metric: throughput, ratio: [1.2, 1.5], refuted: [1.1, 2]"
    _measure(results, "20260102_030405", registers=expects)
    _measure(
        results / "elsewhere",
        "20260103_030405",
        new=3000,
        start="2026-01-03T03:04:05.000Z",
        registers=expects,
    )
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

    rows = _rows(tmp_path, expects)
    assert [(row[PLACE], row[VERDICT]) for row in rows] == [
        ("`20260102_030405`", CONFIRMED),
        ("`elsewhere/20260103_030405`", REFUTED),
    ]
    # One verdict for the claim, and a link for each row that stays.
    text = (results / "claims.md").read_text(encoding="utf-8")
    assert f"**{CANNOT_BE_TOLD}: attempts contradict each other**" in text
    anchors = re.findall(r'<a id="([^"]+)"></a>\[link\]\(#([^)]+)\)', text)
    assert len({anchor for anchor, _ in anchors}) == 2
    assert all(anchor == link for anchor, link in anchors)

    superseded = """    superseded:
      - { campaigns: ["20260102_030405"], by: elsewhere, why: a slow server }
"""
    first, _ = _rows(tmp_path, expects, superseded)
    assert first[VERDICT] == f"{CONFIRMED}; superseded by elsewhere: a slow server"
    text = (results / "claims.md").read_text(encoding="utf-8")
    assert f"- Verdict: **{REFUTED}**" in text
    assert "0.75× on 1 machine" in text


def test_the_window_of_a_quota_that_no_run_uses_up_identifies_nothing(tmp_path: Path) -> None:
    results = tmp_path / "results"
    generous = {"points": 1_000_000_000, "block_s": 0}
    measured_limits: list[Document] = [
        {**generous, "window_s": 60},
        {**generous, "window_s": 3600},
        # Another quota is another row.
        {**generous, "points": 100, "window_s": 60},
    ]
    for number, limits in enumerate(measured_limits):
        name = f"20260102_03040{number}"
        _measure(
            results, name, settings={"limits": limits}, start=f"2026-01-02T03:04:0{number}.000Z"
        )

    rows = _rows(tmp_path, FASTER, campaign=CAMPAIGN.replace("points: 1000000\n", ""))
    assert [row[PLACE] for row in rows] == ["`20260102_030400`", "`20260102_030401`"]


def test_a_percentile_that_a_run_calls_unsupported_is_never_judged(tmp_path: Path) -> None:
    judged = _judged(tmp_path, "metric: p99, ratio: [null, 0.98]", unsupported=1)
    assert judged == f"{CANNOT_BE_TOLD}: latency without a rate; too few samples for p99"


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
    expects = "metric: p50, ratio: [null, 0.98]"
    _measure(
        tmp_path / "results",
        "x",
        settings={"load": OPEN},
        registers=expects,
        schedule=schedule,
        service_time=latency({800: 9_000}),
    )
    (row,) = _rows(tmp_path, expects, campaign=CAMPAIGN.replace("concurrency: 50", "rate: 2000"))
    assert row[VERDICT].startswith(CANNOT_BE_TOLD) and "p50 of late requests" in row[VERDICT]


def test_suspect_runs_are_counted_and_a_claim_that_nobody_measured_says_what_it_needs(
    tmp_path: Path,
) -> None:
    _measure(tmp_path / "results", "20260102_030405", verdict=SUSPECT)
    other = """  - id: b-beats-a
    says: { sentence: B is faster, source: B, address: "https://example.com/b" }
    needs: a build of that branch
"""
    (measured,) = _rows(tmp_path, FASTER, other)
    assert "20 of 20 suspect" in measured[LOAD]
    text = (tmp_path / "results" / "claims.md").read_text(encoding="utf-8")
    assert f"- Verdict: **{CANNOT_BE_TOLD}: not measured as published**" in text
    assert "- To measure it: a build of that branch" in text


def test_a_question_has_an_answer_with_its_range_and_machines_and_no_verdict(
    tmp_path: Path,
) -> None:
    _measure(tmp_path / "results", "20260102_030405")
    asks = "asks: Is A faster?"
    (row,) = _rows(tmp_path, "metric: throughput", page="questions.md", states=asks)
    assert row[VERDICT - 1] == "as measured"
    text = (tmp_path / "results" / "questions.md").read_text(encoding="utf-8")
    assert "1.35× on 1 machine" in text
    assert not re.search("confirm|refute", text)
    assert "Is A faster" not in (tmp_path / "results" / "claims.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "expects",
    [
        "metric: speed, ratio: [1, 2]",
        "metric: p50",
        "metric: p50, ratio: [1, 2], refuted: [1.5, 3]",
        "metric: p50, ratio: [1, 2], explained: {by: a cause}",
    ],
)
def test_what_is_no_claim_is_refused_by_its_file(tmp_path: Path, expects: str) -> None:
    text = (
        "claims: [{id: a, says: {sentence: s, source: s, address: x}, "
        f"expects: [{{of: a, against: b, {expects}}}]}}]"
    )
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ReportError) as caught:
        read_claims(tmp_path)
    assert caught.value.exit_code == 2 and caught.value.lines[0].startswith("a.yaml: ")


@pytest.mark.parametrize(
    "entry",
    ["{id: a, says: {sentence: s, source: s}}", "{id: a}", "{id: a, asks: s, says: {}}"],
)
def test_what_nobody_published_at_an_address_is_no_claim(tmp_path: Path, entry: str) -> None:
    (tmp_path / "a.yaml").write_text(f"claims: [{entry}]", encoding="utf-8")
    with pytest.raises(ReportError):
        read_claims(tmp_path)


def test_notice_and_reply_and_what_the_publication_leaves_open_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    caveats = f"""    refuted_by: It is slower.
    measured_there: {{ load: 7 connections, keys: "one {HOSTILE}" }}
    not_said: [how many cores it had]
    notes: [One run was made.]
"""
    (tmp_path / "claims" / REPLIES).mkdir(parents=True)
    reply = f"We set it otherwise. {HOSTILE}"
    (tmp_path / "claims" / REPLIES / "a-beats-b.md").write_text(reply, encoding="utf-8")
    (tmp_path / "claims" / REPLIES / "README.md").write_text("How to reply", encoding="utf-8")
    notice = read_notice(ROOT / "claims")
    (tmp_path / "claims" / NOTICE).write_text(notice, encoding="utf-8")
    _rows(tmp_path, "metric: throughput, ratio: [1.4, 1.5], refuted: [1.1, 2]", caveats)
    text = (tmp_path / "results" / "claims.md").read_text(encoding="utf-8")
    assert "withdrawn" in notice and f"\n\n**{notice}**\n\n" in text
    assert "refuted below 1.1 or above 2" in text
    assert "> We set it otherwise." in text and "How to reply" not in text
    for caveat in ("It is slower", "7 connections", "how many cores it had", "One run was made"):
        assert caveat in text
    assert capsys.readouterr().out.startswith("1 row saved in ")


def test_claims_without_a_notice_begin_with_what_a_row_is(tmp_path: Path) -> None:
    _rows(tmp_path, "metric: throughput, ratio: [1.4, 1.5]")
    text = (tmp_path / "results" / "claims.md").read_text(encoding="utf-8")
    assert "measure them\n\nEach entry is a statement" in text
