"""The matrix of targets by questions: what the newest campaign of a condition found, with its
source."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from builder import Document, configuration, result
from campaign_writer import manifest, write_campaign
from conftest import analysis_of_results
from curve_documents import REFERENCE, CurveTarget, curve_campaign
from page_reader import data_of, read
from report.analysis.campaign_analysis import analyse
from report.campaigns.matrix import Matrix
from report.campaigns.matrix_answers import Source
from report.campaigns.matrix_view import view_of
from report.cli.pages_command import main
from report.pages.site import CAMPAIGNS
from report.results.generated.records import (
    Admissions,
    Audit,
    AuditCounts,
    AuditTarget,
    Finding,
    Target,
)
from report.results.load import load_campaign
from tables import by_column

FACTORS = (0.997, 0.999, 1.0, 1.001, 1.003)
OPEN: dict[str, Any] = {
    "load": {"model": "open", "rate_per_second": 1000, "arrivals": "constant", "connections": 50}
}


def runs_of(label: str, rate: int, cpu_us: float = 60, **changes: Any) -> list[Document]:
    documents = [
        result(configuration(label, **changes), run, int(rate * factor))
        for run, factor in enumerate(FACTORS, start=1)
    ]
    for document in documents:
        document["resources"]["server-1"]["cpu_us_per_request"] = cpu_us
    return documents


def source(day: int, machine: str = "Some CPU") -> Source:
    return Source(f"2026-01-{day:02}T00:00:00.000Z", machine, f"day-{day}")


def test_cpu_is_that_at_full_load_and_latency_that_at_a_rate() -> None:
    matrix = Matrix()
    matrix.add_campaign(
        analysis_of_results(*runs_of("iovalkey", 6000), *runs_of("none", 9000)), source(1)
    )
    (table,) = view_of(matrix).section.tables
    units = {column.name: column.unit for column in table.columns}
    assert [name for name, unit in units.items() if "at full load" in unit] == [
        "Node CPU",
        "Store CPU",
        "Service CPU",
    ]


def audit_of(
    findings: dict[str, list[Finding]], topology: str = "standalone", asked: str = ""
) -> Audit:
    audited = [
        AuditTarget(
            Target(
                asked or label, label, "ioredis", "redis", topology, "upstash-fixed", [], "library"
            ),
            finding,
            0,
        )
        for label, finding in findings.items()
    ]
    rest: Any = (audited, [], AuditCounts(1, 2, 0, 0, 0, 0))
    head: Any = (
        "ratelimit-bench/audit",
        2,
        "one",
        "2026-01-01",
        "2026-01-01",
        "",
        "local",
        "",
        "",
        {},
        [],
    )
    return Audit(*head, *rest)


def rows_of(matrix: Matrix) -> dict[str, dict[str, str]]:
    (table,) = view_of(matrix).section.tables
    return {f"{row['Target']} {row['Condition']}": row for row in by_column(table)}


def test_a_cell_is_what_the_newest_campaign_found_and_a_ratio_is_within_one() -> None:
    matrix = Matrix()
    results = [*runs_of("iovalkey", 6000), *runs_of("ioredis@valkey", 3000)]
    matrix.add_campaign(analysis_of_results(*results), source(2))
    matrix.add_campaign(analysis_of_results(*runs_of("iovalkey", 9000)), source(1))
    rows = rows_of(matrix)
    condition = "light · realistic · 50 connections"
    assert rows[f"ioredis@valkey {condition}"]["Throughput"] == "0.50×"
    assert rows[f"iovalkey {condition}"]["Throughput"] == "–"
    (table,) = view_of(matrix).section.tables
    links = {cell.link for row in table.rows for cell in row.cells} - {""}
    assert links == {"day-2"}


def test_conditions_are_apart_and_a_latency_at_the_stated_rate_stands_beside_other_loads() -> None:
    matrix = Matrix()
    other: dict[str, Any] = {"load": {**OPEN["load"], "rate_per_second": 500}}
    matrix.add_campaign(analysis_of_results(*runs_of("iovalkey", 6000)), source(1))
    matrix.add_campaign(analysis_of_results(*runs_of("iovalkey", 1000, **OPEN)), source(2))
    matrix.add_campaign(analysis_of_results(*runs_of("iovalkey", 500, **other)), source(3))
    closed, open_loop = rows_of(matrix).values()
    assert (closed["Throughput"], open_loop["Condition"].split(" · ")[:2]) == (
        "–",
        ["light", "realistic"],
    )
    assert "–" not in (closed["p99 at a rate"], open_loop["p99 at a rate"], closed["Node CPU"])
    assert "500/s" in open_loop["Condition"]
    view = view_of(matrix)
    assert set(view.filters) == {"condition"}
    alone = Matrix()
    alone.add_campaign(analysis_of_results(*runs_of("iovalkey", 1000, **OPEN)), source(2))
    assert [row["Condition"] for row in rows_of(alone).values()] == ["light · realistic"]


def test_a_fault_that_a_target_cannot_have_leaves_no_cell_to_fill() -> None:
    analysis = analysis_of_results(*runs_of("ioredis:cluster", 6000))
    skip = {"asked": "ioredis:cluster", "reason": "store-restart: a node loses its place"}
    planned = replace(analysis.campaign, manifest={"plan": {"skips": [skip]}})
    matrix = Matrix()
    other_name = audit_of(
        {"ioredis:cluster": [Finding("window-edge", "holds", 0)]},
        "cluster",
        "ioredis@redis:cluster",
    )
    matrix.add_audit(other_name, "audit")
    matrix.add_campaign(structs.replace(analysis, campaign=planned), source(1))
    (table,) = view_of(matrix).section.tables
    hints = [cell.hint for cell in table.rows[0].cells]
    assert hints.count(f"does not apply: {skip['reason']}") == 4


def test_an_empty_cell_has_the_command_that_would_fill_it() -> None:
    matrix = Matrix()
    load: dict[str, Any] = {"load": {"model": "closed", "connections": 7}}
    matrix.add_campaign(analysis_of_results(*runs_of("iovalkey:cluster", 6000, **load)), source(1))
    (table,) = view_of(matrix).section.tables
    cells = zip((column.name for column in table.columns), table.rows[0].cells, strict=True)
    hints = {name: cell.hint.removeprefix("to fill it: ratelimit-bench ") for name, cell in cells}
    assert hints["Throughput"] == "run --clients iovalkey:cluster --concurrency 7"
    assert hints["p99 at a rate"] == "run --clients iovalkey:cluster --rate 1000"
    assert hints["Eviction"] == "audit --clients iovalkey:cluster --checks eviction"
    assert "--traffic fixed --points" in hints["Over quota"]
    assert hints["Service CPU"] == "does not apply: it has no service"
    matrix.add_campaign(analysis_of_results(*runs_of("none", 6000, **load)), source(1))
    (row,) = [row for row in view_of(matrix).section.tables[0].rows if row.cells[0].text == "none"]
    reasons = {
        cell.hint.removeprefix("does not apply: ") for cell in row.cells if "not apply" in cell.hint
    }
    assert reasons == {"it has no service", "it has no store", "it limits nothing"}


@pytest.mark.parametrize(
    ("label", "topology"), [("memory", "none"), ("ioredis:cluster", "cluster")]
)
def test_a_target_is_one_row_of_campaigns_and_audits(label: str, topology: str) -> None:
    matrix = Matrix()
    matrix.add_campaign(analysis_of_results(*runs_of(label, 6000)), source(1))
    matrix.add_audit(audit_of({label: [Finding("window-edge", "holds", 0)]}, topology), "audit")
    assert len(rows_of(matrix)) == 1


def test_the_cheapest_target_comes_first_and_what_matters_stands_beside_its_name() -> None:
    times_the_cpu = {"iovalkey": 2, "ioredis@valkey": 3, "valkey-glide": 1}
    runs: list[Document] = []
    for label, factor in times_the_cpu.items():
        for run in runs_of(label, 6000):
            run["resources"]["server-1"]["cpu_us"] *= factor
            runs.append(run)
    matrix = Matrix()
    matrix.add_campaign(analysis_of_results(*runs), source(1))

    (table,) = view_of(matrix).section.tables
    labels = [row.cells[0].text for row in table.rows]
    assert labels == ["valkey-glide", "iovalkey", "ioredis@valkey"]
    assert [f"{column.name} {column.unit}".strip() for column in table.columns[:4]] == [
        "Target",
        "Node CPU µs/decision at full load",
        "Throughput to the reference",
        "Exact at once",
    ]


def test_a_campaign_without_runs_is_not_listed(tmp_path: Path) -> None:
    rows = [configuration("iovalkey")]
    write_campaign(tmp_path / "results" / "20260101_000000", manifest(rows, 5), [])
    documents = runs_of("iovalkey", 6000)
    write_campaign(tmp_path / "results" / "20260102_000000", manifest(rows, 5), documents)
    assert main([str(tmp_path / "site"), str(tmp_path / "results")]) == 0
    page = (tmp_path / "site" / CAMPAIGNS).read_text("utf-8")
    assert "1 campaigns" in page


def test_where_two_machines_disagree_the_hint_names_both() -> None:
    matrix = Matrix()
    results = [*runs_of("iovalkey", 6000), *runs_of("ioredis@valkey", 3000)]
    other = [*runs_of("iovalkey", 6000), *runs_of("ioredis@valkey", 5400)]
    matrix.add_campaign(analysis_of_results(*results), source(1, "CPU A"))
    matrix.add_campaign(analysis_of_results(*other), source(2, "CPU B"))
    (table,) = view_of(matrix).section.tables
    names = [column.name for column in table.columns]
    (row,) = [row for row in table.rows if row.cells[0].text == "ioredis@valkey"]
    cell = row.cells[names.index("Throughput")]
    assert cell.text == "0.90×"
    assert "0.50× on CPU A" in cell.hint
    assert cell.range == ""


def test_the_published_page_has_the_matrix_and_its_filters(tmp_path: Path) -> None:
    results = tmp_path / "results" / "20260101_000000"
    rates = {
        "iovalkey": 6000,
        "ioredis@valkey": 3000,
        "none": 9000,
        "iovalkey+in-memory-block": 8000,
    }
    rows = [configuration(label) for label in rates]
    documents = [document for label, rate in rates.items() for document in runs_of(label, rate)]
    write_campaign(results, manifest(rows, 5), documents)
    assert main([str(tmp_path / "site"), str(tmp_path / "results")]) == 0
    reader = read((tmp_path / "site" / CAMPAIGNS).read_text("utf-8"))
    assert "iovalkey costs Node least" in reader.text and ", local, 2026-01-02)." in reader.text
    assert {row["client"] for row in data_of(reader)["rows"].values()} == {
        "iovalkey",
        "ioredis",
        "none",
    }


def test_the_first_screen_counts_what_is_exact_and_measured_targets_come_first() -> None:
    matrix = Matrix()
    matrix.add_campaign(analysis_of_results(*runs_of("valkey-glide", 6000)), source(1))
    burst = "exact-burst-4-servers"
    statuses: Any = {"ioredis": "holds", "ioredis+non-atomic": "broken", "memory": "not-promised"}
    findings = {label: [Finding(burst, status, 0)] for label, status in statuses.items()}
    matrix.add_audit(audit_of(findings), "audit")
    view = view_of(matrix)
    assert view.sentences == (
        "Exact when many ask at once: 1 of 2 targets, not ioredis+non-atomic.",
    )
    assert [row.cells[0].text for row in view.section.tables[0].rows] == ["valkey-glide", *statuses]


def test_conditions_of_an_audit_have_what_was_admitted_and_its_bounds() -> None:
    findings = [
        Finding(
            "clocks-2-s",
            "not-promised",
            0,
            seen="184: 80 over",
            admissions=Admissions(184, 96, 104),
        ),
        Finding(
            "clocks-30-s", "not-promised", 0, seen="90: 6 under", admissions=Admissions(90, 96, 104)
        ),
        Finding("ipv6-prefix", "holds", 0, seen="/64", admissions=Admissions(20, 20, 20)),
    ]
    matrix = Matrix()
    matrix.add_audit(audit_of({"ioredis+upstash-fixed": findings}), "link")
    (table,) = view_of(matrix).section.tables
    names = [f"{column.name} {column.unit}" for column in table.columns]
    cells = dict(zip(names, table.rows[0].cells, strict=True))
    assert cells["Clocks 2 s apart"].text == "○ 80 over"
    assert "184 of 96–104" in cells["Clocks 2 s apart"].hint
    assert cells["Clocks 30 s apart"].text == "○ 6 under"
    assert cells["IPv6 clients by prefix"].text == "✓ /64"


def cost_at_rate(matrix: Matrix) -> dict[str, str]:
    (table,) = view_of(matrix).section.tables
    names = [column.name for column in table.columns]
    place = names.index("CPU at 1,000/s")
    return {row.cells[0].text: row.cells[place].text for row in table.rows}


def test_cpu_at_the_stated_rate_is_that_of_warm_targets_alone() -> None:
    warm = runs_of("iovalkey", 1000, cpu_us=77, **OPEN)
    cold = runs_of("ioredis@valkey", 1000, cpu_us=88, **OPEN)
    for document in (*warm, *cold):
        document["warmup"]["steady"] = True
    cold[2]["warmup"]["steady"] = False
    matrix = Matrix()
    matrix.add_campaign(analysis_of_results(*warm, *cold), source(1))
    assert cost_at_rate(matrix) == {"iovalkey": "77.0", "ioredis@valkey": "–"}
    notes = view_of(matrix).section.notes
    assert any("ioredis@valkey (2026-01-01)" in note for note in notes)
    assert not any("iovalkey (2026-01-01)" in note for note in notes)


def test_a_load_curve_fills_cpu_at_the_stated_rate_and_is_one_condition(tmp_path: Path) -> None:
    """Both by a measured rate and between two of them."""
    for rates in ((500, 1000, 2000), (900, 1100)):
        campaign = curve_campaign({REFERENCE: CurveTarget()}, rates, 6, cv=0)
        folder = write_campaign(tmp_path / str(len(rates)), *campaign)
        matrix = Matrix()
        matrix.add_campaign(analyse(load_campaign(folder)), source(1))
        (text,) = cost_at_rate(matrix).values()
        assert float(text) == pytest.approx(CurveTarget().server_us(1000), rel=0.01)
