"""`plan-capacity` as it is called: what it prints of campaigns, and what it refuses."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from builder import CAMPAIGN, Document, configuration, failed_result, result
from campaign_writer import manifest, write_campaign
from capacity_documents import capacity_runs
from evidence import latency
from report.base.paths import CAPACITY_SCHEMA
from report.cli.plan_capacity import main
from report.statistics.scalability import ScalingLaw

LAW = ScalingLaw(14_000, 0.05, 0.002)


def campaign(folder: Path, results: list[Document], **changes: object) -> str:
    for each in results:
        each["campaign"] = folder.name
    configurations = {each["configuration_hash"]: each["configuration"] for each in results}
    runs = max(each["run"] for each in results)
    described = manifest(list(configurations.values()), runs, campaign=folder.name, **changes)
    write_campaign(folder, described, results)
    return str(folder)


def scaled(*numbers: int) -> list[Document]:
    return [each for servers in numbers for each in capacity_runs(servers, LAW.throughput(servers))]


def test_the_table_of_a_campaign(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = campaign(tmp_path / CAMPAIGN, scaled(1, 2, 4))
    assert main(["--rate", "60000", "--from", folder]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"60,000 requests/s at 70 % of each CPU, from {CAMPAIGN}:"
    heads, cells = (re.split(r" {2,}", line) for line in lines[2:4])
    row = dict(zip(heads, cells, strict=True))
    assert row["Target"] == "iovalkey"
    assert row["Generators"] == "2 (2–2)"
    assert re.fullmatch(r"10 \(\d+–(\d+|∞)\)", row["Servers"])
    assert row["Store nodes"] == "1 (1–1)"
    assert row["Server CPUs"].startswith("2.40 (2.3")
    assert row["Servers by"] == "law"
    assert row["First limit"].endswith(" requests/s")
    text = "\n".join(lines)
    assert "21 runs with 1, 2 and 4 servers; µs of CPU per request with 4: generator 20.0" in text
    assert "contention σ 0.05" in text
    assert "iovalkey: beyond 4 servers the law extrapolates." in text
    # Two lines end it.
    assert [line.split(":")[0] for line in lines[-2:]] == ["Assumed", "Intervals"]


def test_json_and_markdown_hold_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = campaign(tmp_path / CAMPAIGN, scaled(1, 2, 4))
    arguments = ["--rate", "30000", "--from", folder, "--utilisation", "50%", "--format"]
    schema = json.loads(CAPACITY_SCHEMA.read_text(encoding="utf-8"))
    assert main([*arguments, "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema)
    (target,) = document["targets"]
    servers = target["roles"]["server"]["needed"]
    assert (document["utilisation_percent"], target["law"]["servers"]) == (50, [1, 2, 4])
    assert main([*arguments, "markdown"]) == 0
    interval = f"{servers['interval']['low']}–{servers['interval']['high'] or '∞'}"
    assert f"| {servers['value']} ({interval}) |" in capsys.readouterr().out
    # What no number of servers reaches is null.
    assert main(["--rate", "1000000", "--from", folder, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema)
    assert document["targets"][0]["roles"]["server"]["needed"]["value"] is None


def test_campaigns_of_one_machine_are_one_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [campaign(tmp_path / "few", scaled(1, 2)), campaign(tmp_path / "many", scaled(4))]
    named = [word for folder in folders for word in ("--from", folder)]
    assert main(["--rate", "60000", *named, "--format", "json"]) == 0
    (target,) = json.loads(capsys.readouterr().out)["targets"]
    assert target["law"]["servers"] == [1, 2, 4]


def test_a_campaign_with_one_number_of_servers_is_planned_by_cpu(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = campaign(tmp_path / CAMPAIGN, scaled(1))
    assert main(["--rate", "60000", "--from", folder]) == 0
    text = capsys.readouterr().out
    assert "law takes the throughput of 3 numbers of servers and has that of 1 server" in text
    assert " CPU " in text.splitlines()[3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rate", "fast"], "--rate 'fast': give a whole number from 1 to 100,000,000"),
        (["--rate", "0"], "--rate '0': give a whole number"),
        (["--rate", "nan"], "--rate 'nan': give a whole number"),
        (["--rate=-5"], "--rate '-5': give a whole number"),
        (["--rate", "1e9"], "--rate '1e9': give a whole number"),
        (["--rate", "1000000000"], "--rate '1000000000': give a whole number"),
        (["--rate", "9", "--utilisation", "95"], "--utilisation '95': give a whole number from 10 to 90"),
        (["--rate", "9", "--from", "no/such"], "no/such is not a folder: give a campaign"),
    ],
)
def test_bad_words_are_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"plan-capacity: {message}")


def limiter_layer() -> list[Document]:
    return [result(configuration(layer="limiter", servers=0), 1)]


def without_runs() -> list[Document]:
    return [failed_result(configuration(), 1)]


def two_versions() -> list[Document]:
    documents = scaled(1)
    documents[0]["versions"] = {**documents[0]["versions"], "store": "8.1.1"}
    return documents


def open_loop() -> list[Document]:
    load = {"model": "open", "rate_per_second": 2000, "arrivals": "constant", "connections": 200}
    schedule = {
        **{"rate_per_second": 2000, "arrivals": "constant", "offered": 10_000, "sent": 10_000, "late": 0},
        **{"blocked": 0, "dropped": 0, "unsent": 0, "achieved_per_second": 2000, "late_percentiles": []},
        "shared_wakes": False,
    }
    return [result(configuration(load=load), 1, schedule=schedule, service_time=latency({800: 10_000}))]


@pytest.mark.parametrize(
    ("results", "message"),
    [
        (limiter_layer, "measured no target in a closed loop at the server layer (it has the limiter layer)"),
        (open_loop, "measured no target in a closed loop at the server layer: measure with"),
        (without_runs, "has no run that counts: measure with `ratelimit-bench run"),
        (two_versions, "iovalkey ran with several versions of its store (8.1.1, 9.1.2)"),
    ],
)
def test_campaigns_that_tell_nothing_are_refused(
    results: Callable[[], list[Document]], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = campaign(tmp_path / CAMPAIGN, results())
    assert main(["--rate", "1000", "--from", folder]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_campaigns_of_two_machine_types_or_twice_the_same_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = campaign(tmp_path / "one", scaled(1))
    machine = {**manifest([])["machine"], "cpu_model": "Another CPU"}
    other = campaign(tmp_path / "other", scaled(2), machine=machine)
    assert main(["--rate", "1000", "--from", one, "--from", other]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "one and other were measured on machines of two types (CPU model" in line
    assert main(["--rate", "1000", "--from", one, "--from", one]) == 2
    assert "named twice" in capsys.readouterr().err
