"""Bytes per key: which source, which runs, and what is written."""

import json
from pathlib import Path

import jsonschema
import pytest

from builder import Document, configuration, result, target, verdict
from campaign_writer import write_campaign
from conftest import Build, analysis_of_results
from memory_documents import run_of
from report.analysis.memory_per_key_rows import KeyMemory
from report.base.paths import SCHEMAS
from report.cli.memory_command import main
from report.export.memory_tables import memory_csv, memory_document
from report.sections.memory_per_key import memory_lines, memory_table, memory_text
from report.sections.recommendation import recommend


def memory_of(*results: Document) -> tuple[KeyMemory, ...]:
    return analysis_of_results(*results).memory


def test_the_counter_of_the_store_comes_first_and_resident_memory_beside_it() -> None:
    keys_and_runs = [(keys, run) for keys in (100, 200, 300) for run in (1, 2)]
    (row,) = memory_of(
        *(run_of(keys, 500 + 130 * keys, run, resident=150 * keys) for keys, run in keys_and_runs)
    )
    counter, resident = row.slopes
    assert (counter.source, resident.source) == ("store", "store_resident")
    assert counter.line.slope == pytest.approx(130)
    assert resident.line.slope == pytest.approx(150)
    assert row.slopes[0].line.intercept == pytest.approx(500)
    assert len(row.slopes[0].points) == 6
    assert row.items_per_key == 1


def test_a_store_without_a_counter_has_its_resident_memory() -> None:
    (row,) = memory_of(
        run_of(100, 0, counter=False, resident=900), run_of(200, 0, counter=False, resident=1800)
    )
    assert [(slope.source, slope.line.slope) for slope in row.slopes] == [("store_resident", 9)]


def test_a_limiter_in_the_process_has_its_heap_and_others_do_not() -> None:
    (row,) = memory_of(run_of(100, 4500, label="memory"), run_of(200, 9000, label="memory"))
    assert [(slope.source, slope.line.slope) for slope in row.slopes] == [("heap", 45)]
    assert row.items_per_key is None


def test_a_service_has_its_resident_memory_beside_the_counter_of_the_store() -> None:
    runs = [run_of(keys, 100 * keys) for keys in (100, 200)]
    for document, added in zip(runs, (3_000, 6_000), strict=True):
        document["resources"]["service-1"] = {
            **document["resources"]["store-1"],
            "kind": "service",
            "resident_bytes_at_window_open": 50,
            "resident_bytes_at_end": 50 + added,
        }
    (row,) = memory_of(*runs)
    assert [slope.source for slope in row.slopes] == ["store", "store_resident", "service_resident"]
    assert row.slopes[-1].line.slope == 30


def test_figures_of_different_kinds_are_never_in_one_column_or_enumeration() -> None:
    rows = memory_of(
        *(
            run_of(keys, bytes_per_key * keys, label=label, resident=200 * keys)
            for label, bytes_per_key in (("iovalkey", 130), ("memcached", 90))
            for keys in (100, 200)
        ),
        *(
            run_of(keys, 0, label="ioredis", counter=False, resident=300 * keys)
            for keys in (100, 200)
        ),
    )
    assert [(row.identity.label, [slope.kind for slope in row.slopes]) for row in rows] == [
        ("iovalkey", ["allocator", "process"]),
        ("ioredis", ["process"]),
        ("memcached", ["count", "process"]),
    ]
    columns = {
        row.cells[0].text: [cell.text.split(" ")[0] for cell in row.cells[2:5]]
        for row in memory_table(rows).rows
    }
    assert columns == {
        "iovalkey": ["130.0", "200.0", "–"],
        "ioredis": ["–", "300.0", "–"],
        "memcached": ["–", "200.0", "90.0"],
    }
    assert memory_text(rows).count("; ") == 2


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (run_of(300, 1, evicted_keys=1), "1 item expired or evicted"),
        (run_of(300, 1, failed=2), "2 decisions failed"),
        ({**run_of(300, 1), "verdict": verdict("invalid", ("M14", "x"))}, "invalid (M14)"),
    ],
)
def test_a_broken_run_is_left_out_and_listed(broken: Document, why: str) -> None:
    if "1 item" in why:
        broken["store"]["nodes"][0]["at_start"]["evicted_keys"] = 0
    (row,) = memory_of(run_of(100, 1000), run_of(200, 2000), broken)
    assert row.slopes[0].line.slope == 10
    assert row.left_out == (f"300 keys, run 1: {why}",)
    assert memory_lines([row])[-1] == f"left out: iovalkey, 300 keys, run 1: {why}"


def test_a_target_without_a_slope_says_why() -> None:
    rows = memory_of(
        run_of(100, 1, label="none"),
        run_of(200, 1, label="none"),
        run_of(100, 1),
        run_of(200, 1, failed=1),
        run_of(100, 5, label="memory"),
        run_of(200, 9, label="memory"),
    )
    assert [(row.identity.label, row.reason) for row in rows] == [
        ("memory", ""),
        ("iovalkey", "runs with one number of keys alone count: a slope needs two"),
        ("none", "it keeps no counters"),
    ]


def test_other_campaigns_have_no_memory_per_key() -> None:
    fixed = configuration("iovalkey", extent={"requests": 100})
    assert (
        memory_of(result(fixed), result(configuration("iovalkey", extent={"requests": 200}))) == ()
    )
    assert memory_of(run_of(100, 1)) == ()
    # Other limits are another target.
    other = run_of(200, 1)
    other["configuration"]["limits"]["window_s"] = 60
    assert memory_of(run_of(100, 1), other) == ()
    assert memory_of(result(configuration("iovalkey", target=target("iovalkey")))) == ()


def test_document_and_table() -> None:
    analysis = analysis_of_results(
        *(run_of(keys, 130 * keys) for keys in (100, 200, 300)),
        run_of(100, 1, label="none"),
        run_of(200, 1, label="none"),
    )
    document = memory_document(analysis)
    jsonschema.validate(
        document, json.loads((SCHEMAS / "memory.schema.json").read_text(encoding="utf-8"))
    )
    assert document["targets"][0]["slopes"][0] == {
        "source": "store",
        "bytes_per_key": 130,
        "interval": {"low": 130, "high": 130},
        "fixed_bytes": 0,
        "points": [{"run": 1, "keys": keys, "bytes": 130 * keys} for keys in (100, 200, 300)],
    }
    header, store, resident, none = memory_csv(analysis.memory).splitlines()
    assert header.startswith("target,store,topology,limiter,source,bytes_per_key,")
    assert (
        store
        == "iovalkey,valkey,standalone,rate-limiter-flexible,store,130.00,130.00,130.00,0,1.00,3,0,"
    )
    assert resident.split(",")[4:6] == ["store_resident", "0.00"]
    assert none == "none,none,none,none,,,,,,,0,0,it keeps no counters"


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_campaign(tmp_path / "c", None, [run_of(100, 13_000), run_of(200, 26_000)])
    assert main([str(folder)]) == 0
    assert "130.0" in capsys.readouterr().out
    assert main([str(folder), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "ratelimit-bench/memory"
    other = write_campaign(tmp_path / "d", None, [result(configuration())])
    assert main([str(other)]) == 2
    assert "no target that ran with two numbers of fresh keys" in capsys.readouterr().err


def test_the_answer_of_a_memory_campaign_is_what_a_key_takes_and_no_throughput() -> None:
    runs = [
        run_of(keys, bytes_per_key * keys, label=label)
        for label, bytes_per_key in (("iovalkey", 130), ("memory", 45))
        for keys in (100, 200)
    ]
    assert recommend(analysis_of_results(*runs)).lead == (
        "A key takes 130.0 bytes with iovalkey and 45.0 bytes with memory (allocator’s)."
    )
    other = result(configuration("ioredis"))
    assert "A key takes" not in recommend(analysis_of_results(*runs, other)).lead


def test_the_page_of_a_memory_campaign_has_no_throughput(build: Build) -> None:
    page = build(None, [run_of(100, 13_000), run_of(200, 26_000)]).page
    assert "What does a key take in memory?" in page
    assert "A key takes 130.0 bytes with iovalkey (allocator’s)." in page
    assert ">Throughput" not in page.partition('id="method"')[0]
    for section in ("answer", "comparisons", "tables"):
        assert f'id="{section}"' not in page
    mixed = build(None, [run_of(100, 13_000), run_of(200, 26_000), result(configuration())]).page
    assert ">Throughput" in mixed.partition('id="method"')[0]
    assert 'id="memory-per-key"' in mixed
