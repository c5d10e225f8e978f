"""Layers and numbers of servers: nothing is ranked across them, and each layer has its own
words."""

from typing import Any

from builder import Document, configuration, result, target
from campaign_writer import manifest
from conftest import Build, analysis_of_results, summaries_of
from page_reader import data_of, read
from report.analysis.summary import layer_text_of
from report.sections.all_figures import result_tables
from report.sections.filters import filter_values
from report.sections.recommendation import caveats_of, recommend

LIMITER: dict[str, Any] = {"layer": "limiter", "servers": 0, "workload": {"id": "none"}}
FACTORS = (0.997, 0.999, 1.0, 1.001, 1.003)


def runs_of(label: str, rate: int, **changes: Any) -> list[Document]:
    configured = configuration(label, **changes)
    return [
        result(configured, run, int(rate * factor)) for run, factor in enumerate(FACTORS, start=1)
    ]


def two_layers() -> list[Document]:
    """iovalkey is the faster server, ioredis the faster limiter."""
    return [
        *runs_of("iovalkey", 6000),
        *runs_of("ioredis@valkey", 5000),
        *runs_of("iovalkey", 20_000, **LIMITER),
        *runs_of("ioredis@valkey", 30_000, **LIMITER),
    ]


def manifest_of(results: list[Document]) -> Document:
    configurations = {
        document["configuration_hash"]: document["configuration"] for document in results
    }
    return manifest(list(configurations.values()), len(FACTORS))


def test_layers_share_no_ranking_and_conclude_on_their_own() -> None:
    analysis = analysis_of_results(*two_layers())
    names = ["Server layer", "Limiter layer"]
    assert [part.name for part in analysis.runtimes] == names
    assert [part.title for part in analysis.runtimes] == names
    for cell in analysis.cells:
        assert len({row.identity.layer for row in cell.summaries}) == 1
    winners = [ranking.winner for cell in analysis.cells for ranking in cell.rankings]
    assert [winner.identity.label for winner in winners if winner] == ["iovalkey", "ioredis@valkey"]
    recommendation = recommend(analysis)
    server, limiter = recommendation.lead.split(" Limiter layer: ")
    assert server.startswith("Server layer: on this machine iovalkey is the fastest.")
    assert limiter.startswith("on this machine ioredis@valkey is the fastest.")
    assert [line.text.split(" · ")[0] for line in recommendation.lines] == names
    assert any("several layers (server and limiter)" in line.text for line in caveats_of(analysis))


def test_cpu_at_the_limiter_layer_is_that_of_the_client() -> None:
    slow = runs_of("iovalkey", 20_000, **LIMITER)
    fast = runs_of("ioredis@valkey", 20_000, **LIMITER)
    for number, document in enumerate(slow):
        document["resources"]["generator-1"]["cpu_us_per_request"] = 80 + number / 10
    (cell,) = analysis_of_results(*slow, *fast).cells
    (pair,) = cell.rankings[0].cpu_pairs
    assert pair.better is not None and pair.better.identity.label == "ioredis@valkey"


def test_tables_of_the_limiter_layer_have_no_column_of_a_server() -> None:
    analysis = analysis_of_results(*two_layers())
    tables = [result_tables(part.cells, part.controls)[0] for part in analysis.runtimes]
    server, limiter = ({(column.name, column.unit) for column in table.columns} for table in tables)
    cpu = ("Server CPU", "µs/request at full load")
    latency = ("p50", "ms at full load")
    assert {("Throughput", "requests/s"), cpu, ("Heap", "MiB"), latency} <= server
    cpu = ("Client CPU", "µs/decision at full load")
    latency = ("p99.9", "µs at full load")
    assert {("Throughput", "decisions/s"), cpu, latency} <= limiter
    assert not {"Server CPU", "Heap"} & {name for name, _ in limiter}
    assert all(len(row.cells) == len(table.columns) for table in tables for row in table.rows)


def test_latencies_below_a_millisecond_are_in_microseconds_at_the_limiter_layer_alone() -> None:
    quick = {50: 9_000, 200: 1_000}
    slow = {1500: 9_000}
    limiter = configuration(**LIMITER)
    text = layer_text_of(summaries_of(result(limiter, allowed_us=quick)))
    assert (text.latency(0.05), text.latency_unit) == ("50", "µs")
    assert layer_text_of(summaries_of(result(limiter, allowed_us=slow))).latency_unit == "ms"
    assert (
        layer_text_of(summaries_of(result(configuration(), allowed_us=quick))).latency_unit == "ms"
    )


def test_page_has_charts_and_tables_for_each_layer(build: Build) -> None:
    results = [*two_layers(), *runs_of("none", 2_000_000, **LIMITER)]
    outcome = build(manifest_of(results), results, "--images")
    assert outcome.code == 0, outcome.err
    reader = read(outcome.page)
    data = data_of(reader)
    for name, figure in data["figures"].items():
        layer = "limiter" if name.endswith("-limiter") else "server"
        for trace in figure["data"]:
            for row in trace["meta"] if isinstance(trace["meta"], list) else [trace["meta"]]:
                assert data["rows"][row]["layer"] == layer, name
    assert "throughput" in data["figures"] and "throughput-limiter" in data["figures"]
    assert "Limiter layer: Throughput at capacity" in reader.text
    assert "decisions/s" in reader.text and "requests/s or decisions/s" in reader.text
    axis = data["figures"]["throughput-limiter"]["layout"]["xaxis"]["title"]["text"]
    assert axis == "decisions per second"
    drawn = {
        row for trace in data["figures"]["throughput-limiter"]["data"] for row in trace["meta"]
    }
    assert {data["rows"][row]["client"] for row in drawn} == {"iovalkey", "ioredis"}
    assert "Limiter layer: Standalone · realistic · 50 at a time" in reader.text
    summary = outcome.text("summary.md")
    assert "## Server layer" in summary and "## Limiter layer" in summary
    assert "### Standalone · realistic · 50 at a time" in summary
    assert "Decisions/s" in summary


def test_numbers_of_servers_are_conditions_like_connections(build: Build) -> None:
    results = [
        document
        for servers in (1, 2)
        for label, rate in (("iovalkey", 6000), ("ioredis@valkey", 5000))
        for document in runs_of(label, rate * servers, servers=servers)
    ]
    analysis = analysis_of_results(*results)
    for cell in analysis.cells:
        assert len({row.identity.servers for row in cell.summaries}) == 1
    assert len(analysis.cells) == 2
    assert filter_values(analysis.summaries)["servers"] == ["1 server", "2 servers"]
    (table,) = result_tables(analysis.cells, [])
    column = [shown_column.name for shown_column in table.columns].index("Servers")
    assert [row.cells[column].text for row in table.rows] == ["1", "1", "2", "2"]
    assert "all servers together" in table.caption
    outcome = build(manifest_of(results), results)
    data = data_of(read(outcome.page))
    lines = data["figures"]["scaling"]["data"]
    names = ["iovalkey", "iovalkey, linear", "ioredis@valkey", "ioredis@valkey, linear"]
    assert [(line["name"], line["x"]) for line in lines] == [(name, [1, 2]) for name in names]
    assert [line["y"] for line in lines] == [
        [6000, 12000],
        [6000, 12000],
        [5000, 10000],
        [5000, 10000],
    ]
    assert len(data["figures"]["scaling"]["layout"]["meta"]["views"]) == 1
    rows = outcome.rows()
    assert [row["servers"] for row in rows] == ["1", "1", "2", "2"]
    # Both servers of a run count for its CPU per request: 4 s of CPU over the answers of 5 s.
    assert {row["server_cpu_percent"] for row in rows} == {"80.00"}


def test_numbers_of_generators_are_conditions_that_are_never_compared(build: Build) -> None:
    results = [
        document
        for generators in ({}, {"generators": 2})
        for label, rate in (("iovalkey", 6000), ("ioredis@valkey", 5000))
        for document in runs_of(label, rate, **generators)
    ]
    analysis = analysis_of_results(*results)
    assert [{row.identity.generators for row in cell.summaries} for cell in analysis.cells] == [
        {1},
        {2},
    ]
    assert filter_values(analysis.summaries)["generators"] == ["1 generator", "2 generators"]
    outcome = build(manifest_of(results), results)
    rows = outcome.rows()
    assert [row["generators"] for row in rows] == ["1", "1", "2", "2"]
    # Lines over servers and charts of capacity keep them apart, too.
    assert "scaling" not in data_of(read(outcome.page))["figures"]


def test_failures_of_all_servers_are_added_up() -> None:
    document = result(configuration(servers=2))
    for consumer, failed in zip(document["consumers"], (3, 4), strict=True):
        for moment, count in (("at_window_open", 1), ("at_end", 1 + failed)):
            consumer[moment]["consumes"] = {"calls": 9, "allowed": 0, "limited": 0, "failed": count}
        consumer["consumes"] = {"calls": 0, "allowed": 0, "limited": 0, "failed": failed}
    (summary,) = summaries_of(document)
    assert summary.selected_figures and summary.selected_figures.store_failures == 7


def memcached() -> Document:
    """Its store counts no scripts and no restarts."""
    document = result(configuration("memcached"))
    for node in document["store"]["nodes"]:
        for reading in (node["at_start"], node["at_end"]):
            del reading["script_calls"], reading["run_id"]
            reading["decisions"] = 10_000
    return document


def without_evidence() -> Document:
    named = target("ioredis@valkey") | {"label": "ioredis@mystore", "store": "mystore"}
    document = result(configuration(target=named))
    known = ("version", "uptime_s")
    for node in document["store"]["nodes"]:
        for moment in ("at_start", "at_end"):
            node[moment] = {name: node[moment][name] for name in known}
    return document


def test_stores_that_give_less_evidence_have_rows(build: Build) -> None:
    results = [memcached(), without_evidence(), result(configuration("ioredis@valkey"))]
    outcome = build(manifest([document["configuration"] for document in results], 1), results)
    assert outcome.code == 0, outcome.err
    rows = {row["Client"]: row for row in outcome.rows()}
    memory = {label: row["store_memory_bytes"] for label, row in rows.items()}
    assert memory == {"memcached": "3145728", "ioredis@mystore": "", "ioredis@valkey": "3145728"}
    page = read(outcome.page).text
    assert "On memcached 9.1.2:" in page and "On valkey 9.1.2, each client's own script:" in page
    first = outcome.summary["configurations"][0]
    assert (first["layer"], first["servers"], first["calls_per_request"]) == ("server", 1, 1)
