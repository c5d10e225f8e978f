"""A cost holds at the load where it was measured (rule M35): of a closed loop it says so, of an
open loop it is one at the rate, and nothing is extrapolated from the one to the other."""

import re
from typing import Any

from builder import Document, configuration, result
from campaign_writer import manifest
from conftest import Build, analysis_of_results
from page_reader import cpu_heads, tables_of
from report.export.action_benchmark import smaller_is_better
from report.sections.recommendation import recommend
from report.sections.screen_text import screen_lines

OPEN: dict[str, Any] = {
    "load": {"model": "open", "rate_per_second": 2000, "arrivals": "constant", "connections": 50}
}
LABELS = ("ioredis@valkey", "iovalkey", "envoy-http", "none", "memory")
AT_FULL_LOAD = "at full load"


def plan_of(results: list[Document]) -> Document:
    configurations = {each["configuration_hash"]: each["configuration"] for each in results}
    return manifest(list(configurations.values()), 6)


def runs_of(*loads: dict[str, Any]) -> list[Document]:
    return [
        result(configuration(label, **load), run, 2000 + run)
        for load in loads
        for label in LABELS
        for run in range(1, 7)
    ]


def report_of(build: Build, *loads: dict[str, Any]) -> Any:
    results = runs_of(*loads)
    outcome = build(plan_of(results), results, "--output-format", "all", "--images")
    assert outcome.code == 0, outcome.err
    return outcome


def markdown_heads(text: str) -> list[str]:
    rows = [line for line in text.splitlines() if line.startswith("| Target")]
    return [head.strip() for row in rows for head in row.split("|") if "CPU," in head]


def chart_titles(page: str) -> list[str]:
    return re.findall(r'<h3 id="chart-[^"]*">([^<]*CPU[^<]*)</h3>', page)


def test_of_a_closed_loop_every_cpu_figure_says_at_full_load(build: Build) -> None:
    outcome = report_of(build, {})
    heads = cpu_heads(outcome.page)
    assert {"Server", "Service", "Store", "Node", "Sum"} <= {head.split()[0] for head in heads}
    assert [head for head in heads if AT_FULL_LOAD not in head] == []
    markdown = markdown_heads(outcome.text("summary.md"))
    assert len(markdown) > 3 and all(AT_FULL_LOAD in head for head in markdown)
    assert chart_titles(outcome.page) == ["CPU per request at full load"]
    (header, *_) = [
        line for line in outcome.summary["recommendation"]["screen"] if "store µs" in line
    ]
    assert header.startswith("CPU at full load ")


def test_of_an_open_loop_none_does(build: Build) -> None:
    outcome = report_of(build, OPEN)
    heads = cpu_heads(outcome.page)
    assert {"Server", "Service", "Store", "Node", "Sum"} <= {head.split()[0] for head in heads}
    assert [head for head in heads if AT_FULL_LOAD in head] == []
    assert AT_FULL_LOAD not in " ".join(markdown_heads(outcome.text("summary.md")))
    assert chart_titles(outcome.page) == ["CPU per request at a given rate"]
    assert AT_FULL_LOAD not in "\n".join(outcome.summary["recommendation"]["screen"])


def test_closed_and_open_loops_share_no_column_of_cpu(build: Build) -> None:
    outcome = report_of(build, {}, OPEN)
    heads_of_cpu = set(cpu_heads(outcome.page))
    for table in tables_of(outcome.page):
        heads = [head for head in table.heads if head in heads_of_cpu]
        assert len({AT_FULL_LOAD in head for head in heads}) < 2, table.id
        # The load is a column only where rows differ in it.
        loads = {
            row[table.heads.index("Load")] for row in table.rows if heads and "Load" in table.heads
        }
        assert len({"2,000/s" in load for load in loads}) < 2, table.id


def test_controls_of_an_open_loop_alone_are_at_their_rate(build: Build) -> None:
    rows = [configuration(label, **OPEN) for label in ("none", "memory")]
    outcome = build(manifest(rows, 1), [result(row) for row in rows])
    (table,) = [table for table in tables_of(outcome.page) if table.kind == "decision"]
    assert "p99 ms" in table.heads and "Server CPU µs/request" in table.heads
    assert "Requests/s, p99" not in outcome.text("summary.md")


def test_no_cost_is_extrapolated_to_a_rate(build: Build) -> None:
    outcome = report_of(build, {})
    screen = screen_lines(analysis_of_results(*runs_of({})))
    every = "\n".join([outcome.page, outcome.text("summary.md"), *screen])
    assert "of a core" not in every
    assert re.findall(r"At [\d,]+ (requests|decisions)/s", every) == []
    assert "data-cost" not in every


def test_a_sentence_about_cpu_says_at_full_load_in_a_closed_loop_alone() -> None:
    def told(load: dict[str, Any]) -> str:
        documents = runs_of(load)
        for number, document in enumerate(documents):
            dear = "iovalkey" in document["configuration"]["target"]["label"]
            document["resources"]["server-1"]["cpu_us_per_request"] = (
                90 if dear else 45
            ) + number % 6 / 50
        recommended = recommend(analysis_of_results(*documents))
        return next(each for each in recommended.lead.split(". ") if "server CPU" in each)

    assert "per request at full load" in told({})
    assert "per request" in told(OPEN) and AT_FULL_LOAD not in told(OPEN)


def test_a_series_of_cpu_or_latency_names_its_load() -> None:
    def extras(load: dict[str, Any]) -> list[str]:
        return [
            each["extra"]
            for each in smaller_is_better(analysis_of_results(*runs_of(load)).summaries)
        ]

    assert all(AT_FULL_LOAD in extra for extra in extras({}))
    assert not any(AT_FULL_LOAD in extra for extra in extras(OPEN))
