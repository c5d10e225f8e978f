"""Latency over connections and its mean, and rejections as counts beside their share."""

import re
from typing import Any

import pytest

from builder import Document, configuration, hash_of, result
from campaign_writer import manifest
from conftest import Build, Outcome, analysis_of_results
from page_reader import data_of, read, tables_of
from report.sections.screen_text import screen_lines

RATE: dict[str, Any] = {
    "load": {"model": "open", "rate_per_second": 2000, "arrivals": "constant", "connections": 50}
}
#: Half of the requests take 2 ms and half 6 ms, so that the mean is neither p50 nor p99.
LATENCIES_US = {2000: 5000, 6000: 5000}
MEAN = "4.00"


def measured(label: str = "iovalkey", run: int = 1, **changes: Any) -> Document:
    return result(configuration(label, **changes), run, allowed_us=LATENCIES_US, limited_us={})


def at_connections(connections: int, label: str = "iovalkey", slow_us: int = 6000) -> Document:
    load = {"model": "closed", "connections": connections}
    latencies = {2000: 5000, slow_us: 5000}
    return result(configuration(label, load=load), allowed_us=latencies, limited_us={})


def report_of(build: Build, *documents: Document) -> Outcome:
    configurations = {each["configuration_hash"]: each["configuration"] for each in documents}
    return build(manifest(list(configurations.values()), 1), documents, "--output-format", "all")


def figures_of(outcome: Outcome) -> Any:
    return data_of(read(outcome.page))["figures"]


def test_latency_over_connections_has_p99_and_mean_of_each_number(build: Build) -> None:
    documents = [
        at_connections(number, slow_us=slow_us) for number, slow_us in ((50, 6000), (500, 60_000))
    ]
    chart = figures_of(report_of(build, *documents))["latency-trend"]
    p99_line, mean_line = chart["data"]
    assert p99_line["x"] == mean_line["x"] == [50, 500]
    assert p99_line["y"] == [pytest.approx(6, rel=0.01), pytest.approx(60, rel=0.01)]
    assert mean_line["y"] == [pytest.approx(4, rel=0.01), pytest.approx(31, rel=0.01)]
    assert "at full load" in chart["layout"]["yaxis"]["title"]["text"]
    assert "each target alone" in p99_line["customdata"][0]


def two_group_sizes() -> tuple[Document, list[Document]]:
    """One target at two numbers of connections, in two rounds: beside another one, and alone."""
    labels = ("iovalkey", "ioredis@valkey")
    documents = []
    runs = []
    configurations = {
        (label, number): configuration(label, load={"model": "closed", "connections": number})
        for number in (50, 500)
        for label in labels
    }
    for round_ in (1, 2):
        for group, number in enumerate((50, 500), start=1):
            for label in labels[: 3 - round_]:
                configured = configurations[label, number]
                slow_us = 6000 if round_ == 1 else 3000
                latencies = {2000: 5000, slow_us: 5000}
                documents.append(result(configured, round_, allowed_us=latencies, limited_us={}))
                key = hash_of(configured)
                run = {"configuration_hash": key, "run": round_, "file": f"{key}{round_}.json"}
                runs.append({**run, "round": round_, "group": group})
    document = manifest(list(configurations.values()), 2)
    document["plan"] |= {
        "order": "turns",
        "runs": runs,
        "references": [runs[0]["configuration_hash"]],
    }
    return document, documents


def test_a_line_over_connections_has_groups_of_one_size(build: Build) -> None:
    chart = figures_of(build(*two_group_sizes()))["latency-trend"]
    p99s = {line["name"]: line["y"] for line in chart["data"] if line["mode"] == "lines+markers"}
    assert p99s["iovalkey, each target alone"] == [pytest.approx(3, rel=0.01)] * 2
    assert p99s["iovalkey, in groups of 2 targets"] == [pytest.approx(6, rel=0.01)] * 2


@pytest.mark.parametrize(("load", "chart"), [({}, "latency"), (RATE, "latency-at-rate")])
def test_bars_of_latency_mark_the_mean(build: Build, load: Document, chart: str) -> None:
    traces = figures_of(report_of(build, measured(**load)))[chart]["data"]
    (mean,) = [trace for trace in traces if trace["name"] == "mean"]
    assert mean["x"] == [pytest.approx(4, rel=0.01)]
    assert f"mean {MEAN} ms" in mean["customdata"][0]


def test_the_mean_stands_beside_percentiles_in_tables_of_latency(build: Build) -> None:
    page = report_of(build, measured(), measured(**RATE)).page
    headings = {}
    for table in tables_of(page):
        means = [place for place, head in enumerate(table.heads) if head.startswith("Mean")]
        for place in means:
            assert [row[place].split()[0] for row in table.rows if len(row) > place] == [MEAN], (
                table.id
            )
            headings[table.id] = table.heads[place]
    assert {
        "decision-at-rate": "Mean ms",
        "table1": "Mean ms at full load",
        "table2": "Mean ms",
    }.items() <= (headings.items())
    assert len(headings) == 5
    assert "decision" not in headings


def test_markdown_and_console_have_the_mean_of_open_loops_alone(build: Build) -> None:
    markdown = report_of(build, measured(**RATE)).text("summary.md")
    (head,) = [line for line in markdown.splitlines() if line.startswith("| Target")]
    assert re.search(r"\| Mean, ms +\| p99, ms +\|", head)
    (head, row, *_) = [
        line
        for line in screen_lines(analysis_of_results(measured(**RATE)))
        if " ms" in line or MEAN in line
    ]
    assert "mean ms" in head and MEAN in row
    closed = "\n".join(screen_lines(analysis_of_results(measured())))
    assert "mean" not in closed and "p99" not in closed


def test_rejections_are_counted_beside_their_share(build: Build) -> None:
    """Medians of 1,000, 1,100 and 1,300."""
    limited = (1000, 1300, 1100)
    documents = [
        result(configuration(), run, allowed_us={2000: 10_000 - number}, limited_us={2000: number})
        for run, number in enumerate(limited, start=1)
    ]
    outcome = build(manifest([configuration()], 3), documents)
    traces = figures_of(outcome)["limited"]["data"]
    (dots,) = [trace for trace in traces if trace["name"] == "measured"]
    assert "11.0" in dots["customdata"][0] and "1,100 requests" in dots["customdata"][0]
    (table,) = [each for each in tables_of(outcome.page) if each.id == "table1"]
    (row,) = table.rows
    place = table.heads.index("Limited requests")
    assert row[place].startswith("1,100") and "11.0" in row[table.heads.index("Limited of answers")]
