"""The store layer: figures, ratios to the reference, files; never in a ranking of another layer."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from builder import Document, configuration, failed_result, printed_result, result, verdict
from campaign_writer import manifest
from conftest import Build
from page_reader import cpu_heads
from store_documents import store_configuration

#: Operations/s of ten runs each: valkey is a quarter faster than redis.
REDIS = [10_000, 10_100, 9_900, 10_050, 9_950, 10_020, 9_980, 10_010, 9_990, 10_005]
VALKEY = [round(1.25 * each) for each in REDIS]


def runs_of(
    store: str, rates: Sequence[float], operation: str = "set", **changes: Any
) -> list[Document]:
    configured = store_configuration(store, operation, 100 if operation == "set" else None)
    return [
        printed_result(configured, run, each, **changes) for run, each in enumerate(rates, start=1)
    ]


def planned(configurations: list[Document], runs: int, reference: str = "redis") -> Document:
    document = manifest(configurations, runs=runs)
    document["plan"]["reference"] = reference
    return document


def rows_in(outcome: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(outcome.text("store-operations.json"))
    return found


def built(build: Build, stores: dict[str, Sequence[float]], reference: str = "redis") -> Any:
    results = [each for store, rates in stores.items() for each in runs_of(store, rates)]
    document = planned([store_configuration(store) for store in stores], len(REDIS), reference)
    return build(document, results, "--output-format", "all")


def test_a_planted_ratio_is_found_with_its_interval(build: Build) -> None:
    outcome = built(build, {"valkey": VALKEY, "redis": REDIS})
    heads = cpu_heads(outcome.page)
    assert len(heads) > 1 and all("at full load" in head for head in heads)
    by_store = {row["store"]: row for row in rows_in(outcome)}
    found = by_store["valkey"]
    assert found["operations_per_second_ratio"] == pytest.approx(1.25, rel=0.005)
    low, high = (found[f"operations_per_second_ratio_{end}"] for end in ("low", "high"))
    assert 1.2 < low < 1.25 < high < 1.3
    assert found["operations_per_second_verdict"] == "faster"
    assert found["store_cpu_us_per_operation_ratio"] == pytest.approx(0.8, rel=0.005)
    assert found["store_cpu_us_per_operation_verdict"] == "better"
    assert by_store["redis"]["operations_per_second_ratio"] is None


def test_the_reference_is_the_one_that_the_plan_names(build: Build) -> None:
    outcome = built(build, {"valkey": VALKEY, "redis": REDIS}, reference="valkey")
    by_store = {row["store"]: row for row in rows_in(outcome)}
    assert by_store["redis"]["operations_per_second_ratio"] == pytest.approx(0.8, rel=0.005)
    assert by_store["redis"]["operations_per_second_verdict"] == "slower"
    assert "Ratios to valkey" in outcome.page


def test_few_runs_decide_nothing(build: Build) -> None:
    results = [*runs_of("redis", REDIS[:3]), *runs_of("valkey", VALKEY[:3])]
    document = planned([store_configuration("redis"), store_configuration("valkey")], 3)
    outcome = build(document, results, "--output-format", "all")
    found = next(row for row in rows_in(outcome) if row["store"] == "valkey")
    assert found["operations_per_second_verdict"] == "not decided"
    assert found["operations_per_second_ratio"] == pytest.approx(1.25, rel=0.01)
    assert found["operations_per_second_ratio_low"] is None


def test_works_are_compared_apart(build: Build) -> None:
    results = [*runs_of("redis", REDIS), *runs_of("valkey", VALKEY, "incr")]
    configurations = [store_configuration("redis"), store_configuration("valkey", "incr", None)]
    outcome = build(planned(configurations, len(REDIS)), results, "--output-format", "all")
    assert all(row["operations_per_second_ratio"] is None for row in rows_in(outcome))


def test_failed_invalid_and_missing_runs_are_counted_and_named(build: Build) -> None:
    redis = store_configuration("redis")
    valkey = store_configuration("valkey")
    broken = printed_result(
        valkey, 2, 99_999, verdict=verdict("invalid", ("M1", "the store counted 7"))
    )
    dead = failed_result(valkey, 3, "ended during the run with SIGKILL")
    results = [*runs_of("redis", REDIS[:4]), printed_result(valkey, 1, 12_500), broken, dead]
    outcome = build(planned([redis, valkey], 4), results, "--output-format", "all")
    found = next(row for row in rows_in(outcome) if row["store"] == "valkey")
    assert (found["runs"], found["counted_runs"], found["missing_runs"]) == (3, 1, 1)
    assert found["operations_per_second"] == 12_500
    assert "the store counted 7" in outcome.page
    assert "1 of 4" in outcome.page


def test_rows_enter_no_ranking_of_another_layer(build: Build) -> None:
    results = [*runs_of("redis", REDIS), *runs_of("valkey", VALKEY), result(configuration(), 1)]
    configurations = [store_configuration("redis"), store_configuration("valkey"), configuration()]
    outcome = build(planned(configurations, len(REDIS)), results, "--output-format", "all")
    assert "valkey-benchmark" not in outcome.text("summary.csv")
    assert [row["label"] for row in outcome.summary["configurations"]] == ["iovalkey"]
    assert "Store operations" in outcome.page


def test_a_throughput_that_contradicts_its_operations_is_refused(build: Build) -> None:
    wrong = printed_result(store_configuration("redis"), 1, 10_000, duration=3.0)
    outcome = build(planned([store_configuration("redis")], 1), [wrong])
    assert outcome.code == 2
    assert "$.operations.per_second" in outcome.err
