"""Load programs in the place of a client: beside it, and in no ranking."""

from typing import Any

from builder import Document, configuration, printed_result, result, target
from conftest import Build
from page_reader import cpu_heads


def configured(label: str, **changes: Any) -> Document:
    return configuration(
        layer="limiter",
        servers=0,
        workload={"id": "none"},
        target={
            **target("ioredis"),
            "text": f"{label}@throttlecrab:standalone",
            "label": label,
            "client": "throttlecrab-http",
            "store": "throttlecrab",
            "limiter": "throttlecrab",
            "options": [],
            "decided_by": "service",
            "algorithm": "GCRA",
            **changes,
        },
    )


CLIENT = configured("throttlecrab-http")
CONTROL = configured("throttlecrab-http+wrk", options=["wrk"], program="wrk")


def control_run(run: int, per_second: float, **changes: Any) -> Document:
    program = {"id": "wrk", "version": "4.1.0", "arguments": [], "output": ""}
    versions = {"program": "4.1.0"}
    return printed_result(CONTROL, run, per_second, program=program, versions=versions, **changes)


def test_a_control_stands_beside_the_client_that_it_replaces(build: Build) -> None:
    results = [result(CLIENT, run) for run in (1, 2)]
    results += [control_run(run, 50_000 + run) for run in (1, 2)]
    outcome = build(None, results, "--output-format", "all")
    assert outcome.code == 0, outcome.err
    (row,) = outcome.rows("load-programs.csv")
    assert (row["target"], row["program"], row["counted_runs"]) == (
        "throttlecrab-http+wrk",
        "wrk",
        "2",
    )
    assert float(row["decisions_per_second"]) == 50_001.5
    (client,) = outcome.rows()
    assert client["Client"] == "throttlecrab-http"
    assert float(row["client_decisions_per_second"]) == float(client["requests_per_second"])
    assert [each["label"] for each in outcome.summary["configurations"]] == ["throttlecrab-http"]
    sentences = outcome.summary["recommendation"]["sentences"]
    assert any("wrk in the place of throttlecrab-http" in each for each in sentences)
    assert "Load programs in the place of Node" in outcome.page
    assert all("at full load" in head for head in cpu_heads(outcome.page))
    assert "4 runs" in outcome.page


def test_a_control_without_its_client_is_shown_alone(build: Build) -> None:
    outcome = build(None, [control_run(1, 50_000)], "--output-format", "all")
    assert outcome.code == 0, outcome.err
    (row,) = outcome.rows("load-programs.csv")
    assert row["client"] == "throttlecrab-http"
    assert row["client_decisions_per_second"] == ""
