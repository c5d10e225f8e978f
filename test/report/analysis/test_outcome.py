"""Runs that the target spoiled stay in their ranking, at its end (M24)."""

import json
import math
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from msgspec import structs

from builder import Document, configuration, result
from campaign_writer import manifest
from conftest import Build, summaries_of
from report.analysis.cells import cells
from report.analysis.figures import percentile
from report.base.paths import SCHEMAS

RATES = (6000, 6010, 5990, 6005, 5995, 6002, 5998, 6001, 5999, 6003)
TEXT = "2.1 % of the requests failed: 630 time-outs"


def runs(label: str, spoiled: int, rates: tuple[int, ...] = RATES) -> list[Document]:
    """The first ones are spoiled."""
    failed: dict[str, Any] = {
        "outcome": "failed",
        "outcome_text": TEXT,
        "timed_out_us": {1_000_000: 630},
    }
    return [
        result(configuration(label), number, rate, **(failed if number <= spoiled else {}))
        for number, rate in enumerate(rates, start=1)
    ]


def test_who_was_shown_to_be_faster_stands_above_though_it_fails_at_times() -> None:
    twice = tuple(2 * rate for rate in RATES)
    (cell,) = cells(summaries_of(*runs("iovalkey", 1, twice), *runs("ioredis@valkey", 0)))
    assert [row.identity.label for row in cell.rankings[0].summaries] == [
        "iovalkey",
        "ioredis@valkey",
    ]


def test_a_row_that_typically_failed_has_no_figures_and_says_so(build: Build) -> None:
    documents = [*runs("iovalkey", 9), *runs("ioredis@valkey", 0)]
    asked = [{"text": "p99<100ms", "metric": "p99", "op": "<", "value": 100}]
    configured = [configuration(label) for label in ("iovalkey", "ioredis@valkey")]
    outcome = build(manifest(configured, runs=10, thresholds=asked), documents)
    assert outcome.code == 0, outcome.err
    document = outcome.summary
    Draft202012Validator(json.loads((SCHEMAS / "summary.schema.json").read_text())).validate(
        document
    )
    row = next(entry for entry in document["configurations"] if entry["label"] == "iovalkey")
    assert row["requests_per_second"] is None
    assert row["hole"] == "failed its load in 9 of 10 runs"
    assert (row["valid_runs"], row["served_runs"], row["spoiled_runs"]) == (10, 1, 9)
    (comparison,) = document["conclusions"][0]["comparisons"]
    assert [comparison[name] for name in ("base", "conclusion", "ratio")] == [
        "ioredis@valkey",
        "slower",
        None,
    ]
    judged = {entry["label"]: entry for entry in document["thresholds"]}
    assert judged["iovalkey"]["status"] == "missed"
    assert judged["iovalkey"]["value_text"] == "failed its load in 9 of 10 runs"

    shown = outcome.page[outcome.page.index('id="answer"') :].partition("<script")[0]
    page = re.sub(r"<[^>]+>", " ", shown)
    assert "ioredis@valkey is the fastest" in page
    assert "iovalkey failed its load in 9 of 10 runs: these rank lowest" in page
    for name in ("summary.csv", "runs.csv", "summary.md", "summary.json"):
        assert not re.search(r"\b(inf|nan|infinity)\b", outcome.text(name), re.I)
    assert not re.search(r"\b(inf|nan)\b[×, ]", page, re.I)
    lines = outcome.rows("runs.csv")
    outcomes = [line["outcome"] for line in lines if line["label"] == "iovalkey"]
    assert outcomes == ["failed"] * 9 + ["served"]
    assert "9 of 10" in page[page.index("Failed its load") :]


def test_a_percentile_that_failures_could_move_is_printed_as_its_bounds(build: Build) -> None:
    # 0.05 % time out: the run is served, and its p99.9 is not known.
    stalls = result(
        configuration(),
        1,
        allowed_us={1000: 19_890},
        limited_us={900: 100},
        timed_out_us={1_000_000: 10, 9_000_000: 20},
    )
    asked = [{"text": "p99_9<5ms", "metric": "p99_9", "op": "<", "value": 5}]
    outcome = build(manifest([configuration()], runs=1, thresholds=asked), [stalls])
    assert outcome.code == 0, outcome.err
    (line,) = outcome.rows()
    assert (line["latency_p99_9_ms"], line["latency_p99_9_high_ms"]) == ("", "")
    assert line["latency_p99_9_low_ms"].startswith("1000") or line[
        "latency_p99_9_low_ms"
    ].startswith("1001")
    assert (line["Latency_Avg"], line["latency_max_ms"], line["latency_stddev_ms"]) == ("", "", "")
    assert line["Latency_P99"] == "1.000"
    document = outcome.summary
    Draft202012Validator(json.loads((SCHEMAS / "summary.schema.json").read_text())).validate(
        document
    )
    (row,) = document["configurations"]
    assert row["latency_ms"]["p99_9"] is None
    assert row["latency_bounds_ms"]["p99_9"]["high"] is None
    (judged,) = document["thresholds"]
    assert (judged["status"], judged["value"]) == ("missed", None)
    assert judged["value_text"].startswith("> 1,00")
    assert "§" in outcome.page and "&gt; 1,00" in outcome.page


def test_latencies_that_hide_what_failed_are_refused(build: Build) -> None:
    """A null that is no null, a figure that has bounds, a null without them."""
    stalls = result(
        configuration(),
        1,
        allowed_us={1000: 19_800},
        limited_us={900: 170},
        timed_out_us={1_000_000: 30},
    )
    bounds = stalls["latency"]["bounds"]
    without_max = {name: ends for name, ends in bounds.items() if name != "max"}
    for change, field in (
        ({"p99_9": 1.0}, "$.latency.bounds.p99_9"),
        ({"p50": None}, "$.latency.bounds.p50"),
        ({"max": 1.0}, "$.latency.bounds.max"),
        ({"max": 1.0, "bounds": without_max}, "$.latency.max"),
        ({"bounds": {}}, "$.latency.bounds.average"),
    ):
        wrong = {**stalls, "latency": {**stalls["latency"], **change}}
        outcome = build(None, [wrong])
        assert outcome.code == 2
        assert f" {field} " in outcome.err


def test_a_percentile_is_compared_by_its_upper_bound_and_never_unsupported_or_late() -> None:
    # 30 of 10,030 timed out at 3 ms: rank 9,930 is the 30th of 130 requests above 1 ms.
    bounded, open_ended = (
        result(
            configuration(),
            run,
            allowed_us={1000: 9900, **slow},
            limited_us={},
            timed_out_us={3000: lost},
        )
        for run, slow, lost in ((1, {8000: 100}, 30), (2, {}, 130))
    )
    (row,) = summaries_of(bounded, open_ended)
    first, second = (run.measured for run in row.runs)
    assert first is not None and second is not None
    assert "p99" in first.bounds_ms and "p99" in second.bounds_ms
    assert percentile("p99").at_most(first) == pytest.approx(8.0, rel=1e-3)
    assert percentile("p99").at_most(second) == math.inf
    assert percentile("p99").value_to_compare(first) == pytest.approx(8.0, rel=1e-3)
    assert percentile("p99").value_to_compare(replace(first, unsupported=("p99",))) is None
    late = structs.replace(first.record, schedule=SimpleNamespace(late_percentiles=("p99",)))
    assert percentile("p99").value_to_compare(replace(first, record=late)) is None
    assert percentile("p99")(first) is None
    assert row.figure_of(percentile("p99")).range is None


def test_two_rows_that_always_failed_are_not_called_equally_fast(build: Build) -> None:
    labels = ("iovalkey", "ioredis@valkey")
    documents = [run for label in labels for run in runs(label, 10)]
    outcome = build(manifest([configuration(label) for label in labels], runs=10), documents)
    assert outcome.code == 0, outcome.err
    shown = outcome.page[outcome.page.index('id="answer"') : outcome.page.index('id="method"')]
    page = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", shown))
    assert "ioredis@valkey and iovalkey rank equal: their typical runs have no throughput" in page
    assert "1.00×" not in page and "within ±" not in page
    for name in ("summary.csv", "runs.csv", "summary.md", "summary.json"):
        text = outcome.text(name)
        assert not re.search(r"\b(inf|nan|infinity)\b|1\.00×", text, re.I), name


def test_pictures_and_benchmark_files_keep_a_target_that_failed(build: Build) -> None:
    labels = ("iovalkey", "ioredis@valkey", "node-redis@valkey")
    failing = (3, 9, 0)
    documents = [
        run for label, spoiled in zip(labels, failing, strict=True) for run in runs(label, spoiled)
    ]
    configured = [configuration(label) for label in labels]
    outcome = build(manifest(configured, runs=10), documents, "--images", "--output-format", "all")
    assert outcome.code == 0, outcome.err
    folder = outcome.folder / "report"
    for picture in ("throughput", "latency"):
        text = (folder / "images" / f"{picture}-cell1.svg").read_text()
        assert "failed 3 of 10" in text and "failed its load in 9 of 10 runs" in text
    entries = json.loads((folder / "benchmark-bigger-is-better.json").read_text())
    entry_by_label = {entry["name"].partition(" ")[0]: entry for entry in entries}
    assert [entry_by_label[label]["value"] for label in labels] == [5998.5, 0, 6000.5]
    assert "range" not in entry_by_label["ioredis@valkey"]
    assert "failed its load in 9 of 10 runs" in entry_by_label["ioredis@valkey"]["extra"]


def test_page_names_what_is_in_no_chart_and_filters_by_outcome(build: Build) -> None:
    documents = [*runs("iovalkey", 9), *runs("ioredis@valkey", 0)]
    page = build(None, documents).page
    assert "Without figures, and so in no chart: iovalkey." in page
    assert '<select name="outcome"' in page
