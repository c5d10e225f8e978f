"""Open loops in the report: capacity and latency at a rate are never mixed (rule M4)."""

import re

from builder import Document, configuration, result
from conftest import Build, summaries_of
from evidence import latency
from page_reader import data_of, read
from report.analysis.cells import cells
from report.analysis.summary import Summary
from report.charts.chart_data import ChartData, chart_data_of
from report.charts.latency_over_rate import draw_latency_over_rate


def load(per_second: int, arrivals: str = "constant", connections: int = 50) -> Document:
    return {
        "model": "open",
        "rate_per_second": per_second,
        "arrivals": arrivals,
        "connections": connections,
    }


def open_result(label: str, per_second: int, **changes: Document) -> Document:
    document = result(
        configuration(label, load=load(per_second)),
        1,
        allowed_us={1000: 4500},
        limited_us={1000: 500},
    )
    document["service_time"] = latency({800: 5000})
    document["schedule"] = {
        "rate_per_second": per_second,
        "arrivals": "constant",
        "offered": 5000,
        "sent": 4990,
        "late": 7,
        "blocked": 10,
        "dropped": 4,
        "unsent": 6,
        "achieved_per_second": 998.0,
        "lateness_ms": {"p50": 0.07, "p90": 0.1, "p99": 0.31, "max": 2.5},
        "late_percentiles": [],
        "gaps_ms": {"intended": 1.0, "p10": 0.9, "p50": 1.0, "p90": 1.12, "p99": 1.4, "max": 3.5},
        "shared_wakes": False,
        **changes,
    }
    return document


def test_closed_and_open_loops_of_the_same_target_share_no_cell() -> None:
    both_loops = cells(
        summaries_of(
            result(configuration("iovalkey")),
            open_result("iovalkey", 1000),
            open_result("ioredis@valkey", 1000),
            open_result("iovalkey", 2000),
        )
    )
    loads = [(cell.identity.open_loop, len(cell.summaries)) for cell in both_loops]
    assert loads == [(False, 1), (True, 2), (True, 1)]


def test_page_tells_capacity_and_latency_at_a_rate_apart(build: Build) -> None:
    page = build(None, [result(configuration("iovalkey")), open_result("iovalkey", 1000)]).page
    capacity = page[
        page.index('<table class="decision" id="decision"') : page.index('id="decision-at-rate"')
    ]
    assert "50 connections" in capacity
    assert "1,000/s constant, up to 50 connections" not in capacity
    at_rate = page[page.index('id="at-rate"') :]
    row = next(
        row for row in re.findall(r"<tr data-row.*?</tr>", at_rate, re.S) if "iovalkey" in row
    )
    figures = [
        re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.S)
    ]
    latencies = ["1.00", "1.00", "1.00†", "0.800", "0.800"]
    gaps = ["1.00", "0.90 · 1.00 · 1.12 · 1.40", "one a send"]
    assert figures == ["valkey", *latencies, "998", "7", "10", *gaps]
    titles = re.findall(r'id="table\d-title">([^<]*)<', page)
    assert titles == ["Standalone", "Standalone, latency at a rate"]


def test_csv_names_the_load_and_what_became_of_the_schedule(build: Build) -> None:
    outcome = build(None, [result(configuration("iovalkey")), open_result("iovalkey", 1000)])
    names = (
        "load_model",
        "rate_per_second",
        "arrivals",
        "service_p99_ms",
        "sends_late",
        "sends_dropped",
    )
    rows = [tuple(row[name] for name in names) for row in outcome.rows()]
    assert rows == [
        ("closed", "", "", "", "", ""),
        ("open", "1000.000", "constant", "0.800", "7", "10"),
    ]


def chart_data(summaries: tuple[Summary, ...]) -> ChartData:
    return chart_data_of([("", cells(summaries), [])])


def test_no_chart_holds_capacity_beside_latency_at_a_rate(build: Build) -> None:
    at_rate = (open_result("iovalkey", 1000), open_result("iovalkey", 2000))
    documents = [result(configuration("iovalkey")), *at_rate]
    data = data_of(read(build(None, documents).page))
    is_open = {row: "/s" in values["load"] for row, values in data["rows"].items()}
    assert sorted(is_open.values()) == [False, True, True]
    for name in ("throughput", "latency", "latency-at-rate", "tradeoff", "curve"):
        if name in data["figures"]:
            metas = [trace["meta"] for trace in data["figures"][name]["data"]]
            assert len({is_open[row] for meta in metas for row in meta}) == 1, name
    for figure in data["figures"].values():
        for view in figure["layout"]["meta"].get("views", []):
            assert len({is_open[row] for row in view["rows"]}) == 1, view["text"]


def test_curve_needs_two_rates_and_has_a_line_a_client() -> None:
    labels = ("iovalkey", "ioredis@valkey")
    documents = [open_result(label, per_second) for label in labels for per_second in (1000, 500)]
    summaries = summaries_of(*documents)
    drawn = draw_latency_over_rate(chart_data(summaries))
    assert drawn
    assert sorted((trace["name"], tuple(trace["x"])) for trace in drawn["data"]) == [
        ("ioredis@valkey", (500, 1000)),
        ("iovalkey", (500, 1000)),
    ]
    assert draw_latency_over_rate(chart_data(summaries_of(documents[0]))) is None
