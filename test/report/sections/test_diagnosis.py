"""Diagnosing runs: kept and listed, and in no other figure."""

from typing import Any

from builder import Document, configuration, failed_result, hash_of, result
from campaign_writer import manifest
from conftest import Build, analysis_of_results
from report.results.load import load_campaign
from report.sections.diagnosis import NOT_KNOWN, diagnosis
from tables import by_column, only_table

SERVER: Document = {
    "requests": 10_000,
    "seconds": 5.2,
    "gc": {
        "minor": {"pauses": 20, "total_us": 9_000, "longest_us": 900},
        "major": {"pauses": 1, "total_us": 1_000, "longest_us": 1_000},
    },
    "loop_delay_us": {"mean": 200, "p50": 100, "p90": 900, "p99": 2_500, "max": 7_000},
    "allocated_bytes": 50_000_000,
    "context_switches": {"voluntary": 5_000, "involuntary": 1_000},
    "system_calls": {"reads": 15_000, "writes": 20_000},
}
NODE: Document = {
    "role": "store-1",
    "commands": {"evalsha": {"calls": 12_000, "us": 96_000, "p50_us": 7, "p99_us": 19.5}},
    "received_bytes": 1_392_000,
    "sent_bytes": 240_000,
}


def diagnosed(label: str = "iovalkey", run: int = 2, **changes: Any) -> Document:
    record = {"servers": {"server-1": SERVER}, "nodes": [NODE], **changes}
    return result(configuration(label), run, 500, diagnosis=record)


def cells(*documents: Document) -> list[dict[str, str]]:
    return by_column(only_table(diagnosis(analysis_of_results(*documents))))


def test_totals_are_divided_by_what_was_served_and_the_stores_by_its_decisions() -> None:
    table = only_table(diagnosis(analysis_of_results(result(configuration()), diagnosed())))
    cpu = [column.unit for column in table.columns if column.name.endswith(" CPU")]
    assert cpu and set(cpu) == {"µs per request at full load"}
    (row,) = by_column(table)
    assert row["Garbage collection"] == "1.00"
    assert row["Its pauses"] == "minor 20, longest 0.900 ms; major 1, longest 1.00 ms"
    assert row["Event loop late"] == "0.100 / 2.50 / 7.00"
    assert row["Allocated"] == "5,000"
    assert row["Context switches"] == "0.50 + 0.10"
    assert row["Reads + writes"] == "1.50 + 2.00"
    assert row["Script"] == "8.00"
    assert row["Script, p99"] == "19.5"
    assert row["Network"] == "116 + 20"


def test_several_servers_and_nodes_are_added_up_and_tails_are_the_worst() -> None:
    late = {**SERVER["loop_delay_us"], "p99": 9_000}
    two = {"server-1": SERVER, "server-2": {**SERVER, "loop_delay_us": late}}
    slow = {**NODE, "commands": {"evalsha": {**NODE["commands"]["evalsha"], "p99_us": 40}}}
    (row,) = cells(diagnosed(servers=two, nodes=[NODE, slow]))
    assert row["Allocated"] == "5,000"
    assert row["Its pauses"].startswith("minor 40")
    assert row["Event loop late"] == "0.100 / 9.00 / 7.00"
    assert row["Script, p99"] == "40.0"
    assert row["Network"] == "116 + 20"


def test_what_nothing_told_is_not_known() -> None:
    bare = {name: SERVER[name] for name in ("requests", "seconds")} | {"gc": {}}
    (row,) = cells(diagnosed(servers={"server-1": bare}, nodes=[]))
    assert row["Its pauses"] == "none"
    unknown = {name for name, text in row.items() if text == NOT_KNOWN}
    script = {"Script", "Script, p99", "Network"}
    assert (
        unknown == {"Event loop late", "Allocated", "Context switches", "Reads + writes"} | script
    )


def planned(runs: int) -> Document:
    """A plan whose last run of each configuration has instruments."""
    document = manifest([configuration()], runs=max(1, runs))
    del document["plan"]["runs"][runs:]
    last = {"configuration_hash": hash_of(configuration()), "run": runs + 1, "diagnose": True}
    document["plan"]["runs"].append({**last, "file": "0_diagnose.json"})
    return document


def test_a_diagnosing_run_is_in_no_figure_and_is_not_missing(build: Build) -> None:
    runs = [result(configuration(), 1, 2000), result(configuration(), 2, 2002)]
    outcome = build(planned(2), [*runs, diagnosed(run=3)])
    assert outcome.code == 0
    campaign = load_campaign(outcome.folder)
    assert [run.run for run in campaign.runs] == [1, 2]
    assert [run.run for run in campaign.beside] == [3]
    assert campaign.planned[0].runs == (1, 2)
    page = outcome.page
    assert "Where a request’s microseconds go" in page
    assert "planned, but no result file was found" not in page
    csv = outcome.text("runs.csv")
    assert len(csv.strip().splitlines()) == 1 + len(runs)


def test_a_campaign_of_diagnosing_runs_alone_has_a_page_without_rows(build: Build) -> None:
    outcome = build(planned(0), [diagnosed(run=1)])
    assert outcome.code == 0
    assert "Where a request’s microseconds go" in outcome.page
    assert 'id="runs"' not in outcome.page


def test_a_failed_one_is_listed_with_its_reason() -> None:
    failed = failed_result(configuration(), 2, diagnosis={"servers": {}, "nodes": []})
    analysis = analysis_of_results(result(configuration()), failed)
    (row,) = only_table(diagnosis(analysis)).rows
    assert ("server-1: exited with code 137",) in [cell.lines for cell in row.cells]
    assert analysis.summaries[0].failed_runs == 0
