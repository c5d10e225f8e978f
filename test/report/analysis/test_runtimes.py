"""What never shares a table or a chart."""

import json

from builder import Document, configuration, result
from campaign_writer import manifest
from conftest import Build, summaries_of
from page_reader import data_of, read
from report.analysis.cells import runtimes_of
from report.charts.all_charts import CHARTS
from report.charts.chart_data import chart_data_of
from report.charts.cores_over_rate import CORES_OVER_RATE
from report.charts.over_time import OVER_TIME
from report.sections.filters import filter_values


def in_runtime(name: str, document: Document) -> Document:
    return document | {"runtime": {"id": name, "embedded_store": False, "caps_applied": False}}


def two_runtimes() -> list[Document]:
    return [
        in_runtime("local", result(configuration("iovalkey"))),
        in_runtime("local", result(configuration("none"))),
        in_runtime("docker", result(configuration("iovalkey", caps={"server": {"cpus": 1}}))),
        in_runtime("docker", result(configuration("memory"))),
    ]


def test_runtimes_share_no_cell_and_no_view() -> None:
    summaries = summaries_of(*two_runtimes())
    parts = runtimes_of(summaries)
    assert {part.name for part in parts} == {"local", "docker"}
    runtime = {summary.id: summary.runtime for summary in summaries}
    for part in parts:
        assert {summary.runtime for summary in part.ordered} == {part.name}
    chart_data = chart_data_of([(part.name, part.cells, part.controls) for part in parts])
    for view in (*chart_data.by_cell, *chart_data.by_curve):
        assert len({runtime[row.id] for row in view.rows}) == 1, view.text
    ids = [cell.id for part in parts for cell in part.cells]
    assert len(set(ids)) == len(ids)


def test_page_says_that_runtimes_stand_apart(build: Build) -> None:
    outcome = build(None, two_runtimes())
    assert outcome.code == 0, outcome.err
    page = outcome.page
    reader = read(page)
    assert "Runs took place in several runtimes (" in reader.text
    assert "local: Standalone" in reader.text and "docker: Standalone" in reader.text
    # The filter has no value for all of them.
    options = [a.get("value") for tag, a in reader.tags if tag == "option"]
    assert "docker" in options and "local" in options


def test_no_view_of_a_chart_holds_two_stores(build: Build) -> None:
    rows = [configuration(label) for label in ("iovalkey", "ioredis", "ioredis@valkey", "none")]
    page = build(manifest(rows, 1), [result(row) for row in rows]).page
    data = data_of(read(page))
    for figure in data["figures"].values():
        for view in figure["layout"]["meta"].get("views", []):
            stores = {data["rows"][row]["store"] for row in view["rows"]} - {""}
            assert len(stores) == 1, view["text"]


def test_every_trace_names_the_row_of_every_point(build: Build) -> None:
    rows = [configuration(label) for label in ("iovalkey", "ioredis", "none", "memory")]
    results = [result(row, run, 1000 + 7 * run) for row in rows for run in (1, 2)]
    data = data_of(read(build(manifest(rows, 2), results).page))
    elsewhere = {"trend", "scaling", "curve", "latency-at-rate", "cpu-at-rate", "memory-per-key"}
    elsewhere |= {chart.id for chart in CORES_OVER_RATE}
    elsewhere |= {"latency-trend", "over-turns", *(chart.id for chart in OVER_TIME)} - {"series"}
    assert set(data["figures"]) == {chart.id for chart in CHARTS} - elsewhere
    for name, figure in data["figures"].items():
        for trace in figure["data"]:
            rows_named = trace["meta"] if isinstance(trace["meta"], list) else [trace["meta"]]
            assert set(rows_named) <= set(data["rows"]), name
            if isinstance(trace["meta"], list):
                assert len(trace["x"]) == len(trace["y"]) == len(rows_named), name
    assert "NaN" not in json.dumps(data)


def test_filters_offer_what_differs_and_sort_numbers_as_numbers() -> None:
    loads = [
        configuration(load={"model": "closed", "connections": number}) for number in (1000, 50, 200)
    ]
    values = filter_values(summaries_of(*(result(configured) for configured in loads)))
    assert values == {"load": ["50 connections", "200 connections", "1,000 connections"]}
