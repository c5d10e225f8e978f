"""What a reader sees of a load curve: on the page, in files, on the console, and by --plan-for."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from builder import Document
from campaign_writer import write_campaign
from conftest import Build, Outcome
from curve_documents import REFERENCE, TARGETS, CurveTarget, curve_campaign
from page_reader import data_of, read, tables_of
from report.base.errors import USAGE
from report.base.paths import SCHEMAS
from report.cli.generate_command import main

RATES = (500, 1000, 5000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    targets = {**TARGETS, "none": CurveTarget(request_us=20, store_us=0)}
    folder = tmp_path_factory.mktemp("curve") / "campaign"
    return write_campaign(folder, *curve_campaign(targets, RATES, 11))


@pytest.fixture(scope="module")
def outcome(folder: Path) -> Outcome:
    return Outcome(main([str(folder), "--images"]), "", "", folder)


def test_the_page_has_a_line_with_intervals_for_each_target(outcome: Outcome) -> None:
    figures = data_of(read(outcome.page))["figures"]
    for name, labels in (
        ("cores", {*TARGETS, "none (control)"}),
        ("store-cores", set(TARGETS)),
    ):
        traces = {trace["name"]: trace for trace in figures[name]["data"]}
        assert set(traces) == labels
        for trace in traces.values():
            assert trace["x"] == list(RATES)
            assert all(length > 0 for length in trace["error_y"]["array"])
            assert all(length > 0 for length in trace["error_y"]["arrayminus"])
    assert {trace["name"] for trace in figures["curve"]["data"]} >= set(TARGETS)
    assert "service-cores" not in figures


def test_each_chart_stands_once_and_without_scripts_as_a_picture(outcome: Outcome) -> None:
    tags = read(outcome.page).tags
    ids = [attributes.get("id") for _, attributes in tags]
    for name in ("cores", "store-cores", "curve"):
        assert ids.count(f"chart-{name}") == 1
    pictures = [attributes for tag, attributes in tags if tag == "svg"]
    assert len(pictures) == 3
    assert all(attributes.get("aria-label") for attributes in pictures)


def test_tables_have_each_rate_and_the_limit_at_full_load(outcome: Outcome) -> None:
    tables = {table.id: table for table in tables_of(outcome.page)}
    figures = [row[0] for row in tables["load-curve-1"].rows if len(row) > 1]
    rates = [f"{rate:,}" for rate in RATES]
    assert figures == [
        *rates,
        "8,000 at full load",
        *rates,
        "8,000 at full load",
        *rates,
        "5,000 at full load",
        *rates,
        "8,000 at full load",
    ]
    limits = {row[-1] for row in tables["load-curve-1"].rows if "full load" in row[0]}
    assert limits == {"server loop"}
    ratios = tables["load-curve-ratios-1"]
    assert ratios.heads[1:-1] == [f"{rate:,}/s" for rate in RATES]
    named = [row[0] for row in ratios.rows if len(row) > 1]
    assert REFERENCE not in named
    assert named.count("valkey-glide") == 4


def test_the_csv_has_a_row_for_each_part_at_each_rate(outcome: Outcome) -> None:
    rows = list(csv.DictReader(io.StringIO(outcome.text("load-curve.csv"))))
    assert len(rows) == 4 * len(RATES) * 2
    glide = [row for row in rows if row["label"] == "valkey-glide" and row["part"] == "server"]
    assert [float(row["rate_per_second"]) for row in glide] == list(RATES)
    for row in glide:
        low, value, high = (
            float(row[name]) for name in ("cores_interval_low", "cores", "cores_interval_high")
        )
        assert low <= value <= high
        assert row["conclusion"] == "worse"
    in_summary = {row["configuration_hash"]: row for row in outcome.rows()}
    for row in rows:
        kept = in_summary[row["configuration_hash"]][f"{row['part']}_cores"]
        assert (row["cores"] == "") is (kept == "")
        assert float(row["cores"] or 0) == pytest.approx(float(kept or 0), abs=1e-4)


def test_the_document_holds_the_curve_and_keeps_to_its_schema(outcome: Outcome) -> None:
    schema = json.loads((SCHEMAS / "summary.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(outcome.summary)
    (curve,) = outcome.summary["load_curve"]
    assert curve["rates_per_second"] == list(RATES)
    assert curve["reference"] == REFERENCE
    glide = next(target for target in curve["targets"] if target["label"] == "valkey-glide")
    assert set(glide["points"][0]["ratios"]) >= {"server", "store"}


def test_the_console_ends_with_cores_by_rate(outcome: Outcome) -> None:
    lines = outcome.summary["recommendation"]["screen"]
    assert max(map(len, lines)) <= 80
    first = lines.index(next(line for line in lines if line.startswith("valkey-glide")))
    assert len(lines[first].split()) == 1 + len(RATES)
    assert "load-curve" not in outcome.summary["recommendation"]["sentences"][0]
    assert "valkey-glide" in outcome.summary["recommendation"]["sentences"][0]


def test_markdown_and_images_have_the_curve(outcome: Outcome) -> None:
    markdown = outcome.text("summary.md")
    assert "full load" in markdown
    assert "`500`" in markdown
    names = {path.name for path in (outcome.folder / "report" / "images").iterdir()}
    assert {"cores-1.svg", "store-cores-1.svg"} <= names
    drawn = (outcome.folder / "report" / "images" / "cores-1.svg").read_text("utf-8")
    assert "valkey-glide" in drawn


@pytest.mark.parametrize(
    ("asked", "code", "known"),
    [
        ("1000/s", 0, True),
        ("2000", 0, True),
        ("6000/s", USAGE, False),
        ("400/s", USAGE, False),
    ],
)
def test_plan_for_interpolates_or_refuses(
    folder: Path, capsys: pytest.CaptureFixture[str], asked: str, code: int, known: bool
) -> None:
    assert main([str(folder), "--plan-for", asked]) == code
    captured = capsys.readouterr()
    line = next(line for line in captured.out.splitlines() if line.startswith("iovalkey"))
    assert ("(" in line) is known
    assert ("500/s to 5,000/s" in line) is not known
    assert bool(captured.err) is not known


@pytest.mark.parametrize("asked", ["fast", "0", "-5/s", "nan", "1e400", ""])
def test_plan_for_refuses_what_is_no_rate(
    folder: Path, capsys: pytest.CaptureFixture[str], asked: str
) -> None:
    assert main([str(folder), f"--plan-for={asked}"]) == USAGE
    assert "5000/s" in capsys.readouterr().err


def test_the_rate_of_the_plan_stands_on_the_console_and_on_the_page(build: Build) -> None:
    manifest, results = curve_campaign({REFERENCE: CurveTarget()}, (500, 1000), 6)
    manifest["plan_for_per_second"] = 700
    outcome = build(manifest, results)
    lines = outcome.summary["recommendation"]["screen"]
    assert any("700/s" in line for line in lines)
    assert max(map(len, lines)) <= 80
    for text in (read(outcome.page).text, outcome.text("summary.md")):
        assert "interpolated between 500/s and 1,000/s" in text


def threshold(text: str, metric: str, value: float, **more: Any) -> Document:
    return {"text": text, "metric": metric, "op": "<", "value": value, **more}


def test_thresholds_at_a_rate_are_judged_by_the_curve(build: Build) -> None:
    manifest, results = curve_campaign(TARGETS, (500, 1000, 5000), 6, saturation=False, cv=0)
    cores_1000 = {label: target.server_cores(1000) for label, target in TARGETS.items()}
    manifest["thresholds"] = [
        threshold("measured", "server_cores", cores_1000["iovalkey"] + 0.001, at_per_second=1000),
        threshold("between", "store_cores", 0.06, at_per_second=2200),
        threshold("beyond", "server_cores", 99, at_per_second=9000),
    ]
    outcome = build(manifest, results, "--summary-json")
    judged = {
        (entry["label"], entry["threshold"]): (entry["value"], entry["status"])
        for entry in json.loads(outcome.out)["thresholds"]
    }
    assert len(judged) == 3 * 3
    assert judged["iovalkey", "measured"][1] == "held"
    assert judged["valkey-glide", "measured"][1] == "missed"
    assert judged["valkey-glide", "measured"][0] == pytest.approx(cores_1000["valkey-glide"], 0.001)
    assert judged["iovalkey", "between"] == (pytest.approx(2200 * 25 / 1e6, 0.01), "held")
    assert judged["iovalkey", "beyond"] == (None, "no figure")


def test_a_campaign_without_a_curve_has_no_section_of_it(build: Build) -> None:
    manifest, results = curve_campaign({REFERENCE: CurveTarget()}, (500, 1000), 2)
    del manifest["plan"]["load_curve"]
    outcome = build(manifest, results)
    assert 'id="load-curve"' not in outcome.page
    assert "load_curve" not in outcome.summary
    assert not (outcome.folder / "report" / "load-curve.csv").exists()
    assert main([str(outcome.folder), "--plan-for", "700/s"]) == USAGE
