"""runs.csv to the byte, summary.md, summary.json, images, and the files for
github-action-benchmark."""

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from builder import configuration, failed_result, result, verdict
from campaign_writer import manifest
from conftest import Build
from report.base.markdown import prose
from report.export.summary_markdown import MAX_BYTES
from report.outputs.campaign_files import FORMATS

KNOWN: dict[str, Any] = {"limited_us": {500: 40}, "allowed_us": {1000: 60}}


def written(folder: Path) -> set[str]:
    return {path.name for path in (folder / "report").iterdir()}


def test_bytes_of_runs_csv(build: Build) -> None:
    configured = configuration("ioredis@valkey:cluster")
    known = result(
        configured, 2, **KNOWN, verdict=verdict("suspect", ("M6", "generator saturated"))
    )
    outcome = build(manifest([configured], runs=3), [known, failed_result(configured, 1)])
    key = known["configuration_hash"]
    header, *lines = outcome.text("runs.csv").splitlines(keepends=True)
    assert header.startswith(
        "configuration_hash,label,topology,workload,complexity,traffic,connections,"
    )
    first = f"{key},ioredis@valkey:cluster,cluster,light,,realistic,50,,,5,,"
    assert lines == [
        f"{first}1,false,failed,invalid,server-1: exited with code 137,,,,2026-01-02T03:04:05.000Z,"
        + "," * 43
        + "local,01_run1.json,server,1"
        + "," * 51
        + "1,,,,,none,,,,\n",
        f"{first}2,true,measured,suspect,,M6 generator saturated,server loop,,2026-01-02T03:04:05.000Z,"
        "5.000000,20.000,100,1.000,1.000,1.000,1.000,1.000,1.000,1.000,"
        "0.800,0.500,1.000,0.245,p99 p99_9,40,0.400000,"
        "40000.000,80.00,90000000,,12.000,0.02,90000000,,40.000,0.08,90000000,,,20000000,3145728,0,0,0,0,"
        "1.2.3,11.4.0,9.1.2,5.12.8,24.11.0,9.0.0,0.1.0,local,00_run2.json,server,1,1.000,1.000,"
        "served,,1.000,2000,,0" + "," * 31 + "100,40000.000,,12.000" + "," * 9 + "1,,,,true,none,"
        "0.800000,,0.000240,0.000800\n",
        f"{first}3,false,missing" + "," * 52 + "server,1" + "," * 51 + "1,,,,,,,,,\n",
    ]
    assert {line.count(",") for line in (header, *lines)} == {header.count(",")}


def test_runs_csv_says_how_the_host_disturbed_a_run(build: Build) -> None:
    disturbed = result(
        configuration(),
        2,
        host_load={"cpus": 2, "busy_cpu_percent": 197.5, "foreign_cpu_percent": 88.25},
    )
    disturbed["resources"]["server-1"]["run_delay_us"] = 1_234
    for node in ("store-1", "store-2"):
        disturbed["resources"][node] = {**disturbed["resources"]["store-1"], "run_delay_us": 500}
    outcome = build(manifest([configuration()], runs=2), [result(configuration(), 1), disturbed])
    silent, described = outcome.rows("runs.csv")
    names = [
        "foreign_cpu_percent",
        *(f"{role}_run_delay_us" for role in ("server", "store", "generator")),
    ]
    assert [described[name] for name in names] == ["88.2", "1234", "1000", ""]
    assert [silent[name] for name in names] == ["", "", "", ""]


@pytest.mark.parametrize("chosen", sorted(FORMATS))
def test_format_writes_its_files(build: Build, chosen: str) -> None:
    outcome = build(
        manifest([configuration()], 1), [result(configuration())], "--output-format", chosen
    )
    assert outcome.code == 0
    # Without what a key takes, a store layer, load programs, a search, faults and several servers.
    benchmarks = [f"benchmark-{side}-is-better.json" for side in ("bigger", "smaller")]
    every = ["index.html", "summary.csv", "runs.csv", "summary.md", "summary.json", *benchmarks]
    expected = [name for name in every if name.endswith(FORMATS[chosen])]
    assert written(outcome.folder) == set(expected)
    assert outcome.out.strip() == str(outcome.folder / "report" / expected[0])


def test_a_long_sentence_is_whole_and_a_cut_text_ends_with_one() -> None:
    sentence = f"{'word ' * 150}end."
    assert prose(sentence) == sentence
    assert prose(f"First, e.g. this. {sentence}", 100) == "First, e.g. this."
    assert prose(sentence, 100).endswith("…")


def test_summary_json_names_no_folder(build: Build) -> None:
    outcome = build(manifest([configuration()], 1), [result(configuration())])
    text = outcome.text("summary.json")
    document = json.loads(text)
    assert document["report"] == "index.html"
    assert str(outcome.folder) not in text
    assert document["configurations"][0]["versions"]["client"] == "1.2.3"


def markdown(build: Build, *arguments: object) -> str:
    outcome = build(*arguments)
    assert outcome.code == 0, outcome.err
    return outcome.text("summary.md")


def test_markdown_holds_ratios_computed_by_hand(build: Build) -> None:
    slow = configuration("iovalkey")
    fast = configuration("valkey-glide")
    control = configuration("none")
    rates = {1000: slow, 4000: fast, 8000: control}
    runs = [
        result(configured, run, rate) for rate, configured in rates.items() for run in (1, 2, 3)
    ]
    text = markdown(build, manifest([slow, fast, control]), runs)
    assert re.search(
        r"\| `valkey-glide` \| 4,000 \(4,000–4,000\) \|.* \| – \| – \| server loop \| 3 of 3 \|",
        text,
    )
    assert re.search(
        r"\| `iovalkey` \| 1,000 \(1,000–1,000\) \|.* \| 0\.25× \| 4\.00× \| server loop \| 3 of 3 \|",
        text,
    )
    assert "| `none` | 8,000 (8,000–8,000) |" in text
    assert "have 3 runs each that count, and a difference takes at least 5 of each to show" in text


def test_markdown_stays_small_whatever_comes(build: Build) -> None:
    many = [
        configuration("iovalkey", load={"model": "closed", "connections": number})
        for number in range(1, 401)
    ]
    text = markdown(
        build,
        manifest(many, 1),
        [result(configured) for configured in many],
        "--output-format",
        "md",
    )
    assert len(text.encode()) <= MAX_BYTES
    assert text.endswith("More was left out here: summary.csv and runs.csv hold every row.\n")


def test_action_benchmark_files_have_what_it_reads(build: Build) -> None:
    configured = configuration("iovalkey")
    failing = configuration("ioredis")
    runs = [result(configured, 1, 1000), result(configured, 2, 3000), failed_result(failing, 1)]
    folder = build(manifest([configured, failing], 2), runs).folder / "report"
    bigger = json.loads((folder / "benchmark-bigger-is-better.json").read_text(encoding="utf-8"))
    smaller = json.loads((folder / "benchmark-smaller-is-better.json").read_text(encoding="utf-8"))
    # The median of two is their mean.
    assert bigger == [
        {
            "name": "iovalkey · valkey · standalone · light · realistic · 50 connections · 5 s · throughput",
            "unit": "requests/s",
            "value": 2000,
            "extra": bigger[0]["extra"],
            "range": "1000.00–3000.00",
        }
    ]
    assert "1 of" not in bigger[0]["extra"]
    assert {type(entry["value"]) for entry in smaller} <= {int, float}
    # 5,000 samples of one run are too few for p99, and 20,000 of both are enough.
    assert [entry["unit"] for entry in smaller] == ["ms", "ms", "µs/request"]
    names = [entry["name"] for entry in (*bigger, *smaller)]
    assert len(names) == len(set(names))


def test_rows_of_one_name_are_told_apart(build: Build) -> None:
    configured = configuration()
    other = configuration(limits={"points": 7, "window_s": 60, "block_s": 0})
    folder = (
        build(manifest([configured, other], 1), [result(configured), result(other)]).folder
        / "report"
    )
    names = [
        entry["name"]
        for entry in json.loads((folder / "benchmark-bigger-is-better.json").read_text())
    ]
    assert len(set(names)) == 2


def test_images_are_whole_svg_files(build: Build) -> None:
    configured = configuration("iovalkey")
    failing = configuration("valkey-glide")
    outcome = build(
        manifest([configured, failing], 1),
        [result(configured), failed_result(failing, 1)],
        "--images",
    )
    folder = outcome.folder / "report" / "images"
    assert sorted(path.name for path in folder.iterdir()) == [
        "latency-cell1.svg",
        "throughput-cell1.svg",
    ]
    for path in folder.iterdir():
        text = path.read_text(encoding="utf-8")
        root = ElementTree.fromstring(text)  # noqa: S314
        assert root.tag.endswith("svg")
        assert "no run counts" in text
        assert "<script" not in text


def test_containers_and_local_processes_share_no_table(build: Build) -> None:
    local = configuration("iovalkey")
    docker = configuration("valkey-glide")
    runtime = {"id": "docker", "embedded_store": False, "caps_applied": True}
    outcome = build(None, [result(local), result(docker, 1, 3000, runtime=runtime)], "--images")
    text = outcome.text("summary.md")
    assert "## Runtime `local`" in text
    assert "## Runtime `docker`" in text
    assert "0.67×" not in text
    assert len(list((outcome.folder / "report" / "images").iterdir())) == 4


def test_one_configuration_on_two_runtimes_is_refused(build: Build) -> None:
    runtime = {"id": "docker", "embedded_store": False, "caps_applied": True}
    outcome = build(None, [result(configuration()), result(configuration(), 2, runtime=runtime)])
    assert outcome.code == 2
    assert "01_run2.json: $.runtime.id is docker, but 00_run1.json of the same" in outcome.err
