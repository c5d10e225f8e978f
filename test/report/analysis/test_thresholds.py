"""Thresholds: what is compared with what, and where it is told."""

import json

import pytest

from builder import Document, configuration, failed_result, hash_of, result
from campaign_writer import manifest
from conftest import Build


def threshold(text: str, metric: str, op: str, value: float, **more: float) -> Document:
    return {"text": text, "metric": metric, "op": op, "value": value, **more}


def outcomes(
    build: Build, results: list[Document], *asked: Document
) -> dict[str, tuple[float | None, str]]:
    """By label and threshold: the value and how it came out."""
    configured = {
        result["configuration"]["target"]["label"]: result["configuration"] for result in results
    }
    manifested = manifest(list(configured.values()), runs=3, thresholds=list(asked))
    outcome = build(manifested, results, "--summary-json")
    assert outcome.code == 0
    judged = json.loads(outcome.out)["thresholds"]
    return {
        f"{entry['label']} {entry['threshold']}": (entry["value"], entry["status"])
        for entry in judged
    }


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (threshold("throughput>1999", "throughput", ">", 1999), "held"),
        (threshold("throughput>2000", "throughput", ">", 2000), "missed"),
        (threshold("throughput>=2000", "throughput", ">=", 2000), "held"),
        (threshold("throughput<2000", "throughput", "<", 2000), "missed"),
        (threshold("p50<26ms", "p50", "<", 26), "held"),
        (threshold("p50<24ms", "p50", "<", 24), "missed"),
        (threshold("share", "limited_share", "=", 0.11, tolerance=0.01), "held"),
        (threshold("share", "limited_share", "=", 0.12, tolerance=0.01), "missed"),
        (threshold("cpu<1us", "cpu", "<", 1), "missed"),
    ],
    ids=str,
)
def test_the_median_is_held_against_it(build: Build, asked: Document, status: str) -> None:
    runs = [result(configuration(), run, rate) for run, rate in ((1, 1000), (2, 2000), (3, 4000))]
    [(_value, seen)] = outcomes(build, runs, asked).values()
    assert seen == status


def test_errors_are_those_of_all_runs(build: Build) -> None:
    failing = result(configuration(), 1, 1000)
    failing["counts"] = {**failing["counts"], "failed_answers": 100, "cut": 20}
    failing["counts"]["sent"] += 120
    failing["totalErrors"] = 100
    runs = [failing, result(configuration(), 2, 2000), result(configuration(), 3, 4000)]
    errors = threshold("errors<0.1%", "errors", "<", 0.001)
    [(value, status)] = outcomes(build, runs, errors).values()
    assert value == pytest.approx(100 / (120 + 5 * 7000))
    assert status == "missed"


def test_a_reference_that_nobody_asked_for_is_not_judged(build: Build) -> None:
    configured = [configuration("iovalkey"), configuration("ioredis@valkey")]
    manifested = manifest(configured, 1, thresholds=[threshold("p99<1ms", "p99", "<", 1)])
    manifested["plan"] |= {"references": [hash_of(configured[1])], "reference_added": True}
    outcome = build(manifested, [result(entry) for entry in configured], "--summary-json")
    assert [entry["label"] for entry in json.loads(outcome.out)["thresholds"]] == ["iovalkey"]


def test_controls_are_not_judged_and_a_missing_figure_misses(build: Build) -> None:
    p99 = threshold("p99<10ms", "p99", "<", 10)
    runs = [result(configuration("none")), failed_result(configuration("ioredis"), 1)]
    assert outcomes(build, runs, p99) == {"ioredis p99<10ms": (None, "no figure")}
