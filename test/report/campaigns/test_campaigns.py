"""Several campaigns: what stands side by side, what is kept apart, and what is said about it."""

import csv
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from builder import configuration, result
from campaign_folders import DOCKER, add_campaign
from campaign_writer import manifest, write_campaign
from page_reader import tables_of
from report.base.paths import SCHEMAS
from report.cli.generate_command import main
from report.export.summary_markdown import MAX_BYTES
from report.results.archives import unpack

FIRST = "20260101_000000"
SECOND = "20260102_000000"
THIRD = "20260103_000000"


@dataclass(frozen=True)
class Written:
    """How the command ended, and what it wrote into `<root>/report/`."""

    code: int
    err: str
    folder: Path

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    @property
    def rows(self) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.text("compare.csv"))))

    def section(self, number: int) -> str:
        """Of compare.html."""
        sections = re.findall(
            r'<section id="group.*?</section>', self.text("compare.html"), re.DOTALL
        )
        return str(sections[number - 1])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    folder.mkdir()
    return folder


def compare(root: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> Written:
    code = main(["--compare-runs", str(root), *arguments])
    return Written(code, capsys.readouterr().err, root / "report")


def test_same_configurations_stand_side_by_side(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_campaign(root, 1, {"iovalkey": (1000, 1010, 1020), "ioredis@valkey": (500, 500, 500)})
    add_campaign(root, 2, {"iovalkey": (2000, 2020, 2040)})
    done = compare(root, capsys)
    assert (done.code, done.err) == (0, "")
    # Each run of the second campaign to each of the first: the median of these ratios is 2.
    shown = ("campaign", "label", "requests_per_second", "highest_to_lowest")
    assert [tuple(row[name] for name in shown) for row in done.rows] == [
        (FIRST, "ioredis@valkey", "500.00", ""),
        (FIRST, "iovalkey", "1010.00", "2.0000"),
        (SECOND, "iovalkey", "2020.00", "2.0000"),
    ]
    assert {row["group"] for row in done.rows} == {"1"}
    page = done.section(1)
    assert ">1,010<" in page and ">2,020<" in page and ">2.00×<" in page


def test_costs_at_full_load_and_at_a_rate_have_tables_of_their_own(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rate = {"model": "open", "rate_per_second": 1000, "arrivals": "constant", "connections": 50}
    for day in (1, 2):
        folder = root / f"2026010{day}_000000"
        rows = [configuration("iovalkey"), configuration("iovalkey", load=rate)]
        started = {"campaign": folder.name, "started_at": f"2026-01-0{day}T00:00:00.000Z"}
        results = [
            result(row, run, 1000 + run, campaign=folder.name) for row in rows for run in (1, 2, 3)
        ]
        write_campaign(folder, manifest(rows, 3, **started), results)
    page = compare(root, capsys, "--include-trends").section(1)
    titles = re.findall(r"<h3[^>]*>([^<]*)</h3>", page)
    assert titles == [
        "Throughput, requests/s",
        "Latency p99 at full load, ms",
        "Latency p99 at a rate, ms",
        "Server CPU at full load, µs/request",
        "Server CPU at a rate, µs/request",
    ]
    # By the size of the group, of which the latency at a rate does not depend.
    assert page.count("(each target alone)") == 2
    closed, open_loop = tables_of((root / "report" / "trends.html").read_text(encoding="utf-8"))
    assert ("p99 ms at full load" in closed.heads, "p99 ms" in open_loop.heads) == (True, True)


def test_baseline_gives_the_ratio_of_runs(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add_campaign(root, 1, {"iovalkey": (1000, 1010, 1020)})
    add_campaign(root, 2, {"iovalkey": (1515, 1515, 1515), "ioredis@valkey": (7, 7, 7)})
    done = compare(root, capsys, "--baseline", FIRST)
    ratios = {
        (row["campaign"], row["label"]): row["requests_per_second_to_baseline"] for row in done.rows
    }
    assert ratios == {
        (FIRST, "iovalkey"): "1.000000",
        (SECOND, "iovalkey"): "1.500000",
        (SECOND, "ioredis@valkey"): "",
    }
    assert ">1.50×<" in done.section(1)
    assert "relative to 20260101_000000" in done.text("compare.html")


def test_baseline_may_be_a_folder_elsewhere(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = add_campaign(tmp_path / "elsewhere", 1, {"iovalkey": (1000, 1000)})
    add_campaign(root, 2, {"iovalkey": (500, 500)})
    done = compare(root, capsys, "--baseline", str(outside))
    assert done.code == 0
    assert [row["requests_per_second_to_baseline"] for row in done.rows] == ["1.000000", "0.500000"]


def test_unknown_baseline_is_wrong_usage(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add_campaign(root, 1, {"iovalkey": (1000,)})
    done = compare(root, capsys, "--baseline", "nonsense")
    assert done.code == 2
    assert "neither a campaign nor a folder: have 20260101_000000" in done.err
    assert not done.folder.exists()


def test_containers_and_local_processes_are_apart(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_campaign(root, 1, {"iovalkey": (1000,)}, runtime=DOCKER)
    add_campaign(root, 2, {"iovalkey": (4000,)})
    done = compare(root, capsys, "--baseline", FIRST, "--include-trends")
    assert [(row["group"], row["place"], row["highest_to_lowest"]) for row in done.rows] == [
        ("1", "1", ""),
        ("2", "2", ""),
    ]
    local = done.section(1)
    docker = done.section(2)
    assert (
        FIRST not in re.sub(r"<summary.*?</summary>", "", local, flags=re.DOTALL)
        and SECOND not in docker
    )
    assert (
        "No ratios here. The baseline 20260101_000000 was measured elsewhere: Runtime: local"
        in local
    )
    assert "Not comparable with the first section, which differs in: Runtime: docker" in docker
    assert done.text("trends.html").count("<figure") == 2
    assert done.rows[1]["requests_per_second_to_baseline"] == ""


def test_stores_of_several_versions_are_named_with_both_versions_and_runtimes(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_campaign(root, 1, {"iovalkey": (1000,)})
    add_campaign(
        root, 2, {"iovalkey": (1000,), "none": (9000,)}, runtime=DOCKER, versions={"store": "8.1.1"}
    )
    done = compare(root, capsys, "--baseline", FIRST)
    notice = (
        "These campaigns did not all run the same valkey: 9.1.2 embedded (local, 20260101_000000); "
        "8.1.1 embedded (docker, 20260102_000000)."
    )
    assert done.text("compare.html").count(notice) == 1
    assert json.loads(done.text("compare.json"))["notices"] == [
        f"{notice} Their figures differ for that reason too, and no ratio is made of them."
    ]
    assert done.text("compare.md").replace("\\", "").count("did not all run the same valkey") == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"machine": "other"}, "CPU: Other CPU, there Example CPU @ 2.50GHz"),
        ({"versions": {"node": "26.0.0"}}, "Node.js: 26.0.0, there 24.11.0"),
        ({"versions": {"harness": "9.9.9"}}, "ratelimit-bench: 9.9.9, there 0.1.0"),
    ],
)
def test_other_machines_and_versions_are_apart_and_said(
    root: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, object], said: str
) -> None:
    older = add_campaign(root, 1, {"iovalkey": (1000,)}, versions=changes.get("versions"))  # type: ignore[arg-type]
    add_campaign(root, 2, {"iovalkey": (2000,)})
    if "machine" in changes:
        path = older / "manifest.json"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("Example CPU @ 2.50GHz", "Other CPU"), encoding="utf-8")
    done = compare(root, capsys)
    assert {row["group"] for row in done.rows} == {"1", "2"}
    assert said in done.section(2)


def test_another_client_is_another_row_without_ratio(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_campaign(root, 1, {"iovalkey": (1000, 1000)})
    add_campaign(root, 2, {"iovalkey": (2000, 2000)}, versions={"client": "9.0.0"})
    done = compare(root, capsys, "--baseline", FIRST, "--include-trends")
    assert [row["requests_per_second_to_baseline"] for row in done.rows] == ["1.000000", ""]
    assert [row["versions_changed"] for row in done.rows] == ["false", "true"]
    assert "◆ client 9.0.0" in done.text("trends.html")


def test_trend_marks_where_the_level_changes(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for day in range(1, 13):
        level = 1000 if day <= 6 else 1500
        add_campaign(root, day, {"iovalkey": (level + day, level + day + 1, level + day + 2)})
    page = compare(root, capsys, "--include-trends").text("trends.html")
    # Medians 1002 … 1007 and 1508 … 1513.
    assert "20260107_000000: level from 1,004 to 1,510 requests/s" in page
    assert page.count('class="change"') == 1


def test_trend_marks_where_a_target_begins_to_fail_its_load(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for day in range(1, 13):
        add_campaign(root, day, {"iovalkey": (1000 + day,) * 3}, failed=0 if day <= 6 else 3)
    done = compare(root, capsys, "--include-trends")
    page = done.text("trends.html")
    assert "20260107_000000: level from 1,004 requests/s to failed loads" in page
    assert "20260112_000000: failed its load in 3 of 3 runs" in page
    assert "from 1,001 requests/s to failed its load in 3 of 3 runs over 12 campaigns" in page
    # Between a throughput and none there is no ratio.
    assert {row["highest_to_lowest"] for row in done.rows} == {""}


def test_a_target_that_always_failed_has_a_history(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_campaign(root, 1, {"iovalkey": (1000,) * 3}, failed=3)
    add_campaign(root, 2, {"iovalkey": (1000,) * 3}, failed=3)
    done = compare(root, capsys, "--include-trends", "--baseline", FIRST)
    assert done.code == 0, done.err
    for name in ("trends.html", "compare.html", "compare.csv", "compare.md"):
        assert not re.search(r"\b(nan|inf)\b", done.text(name), re.IGNORECASE), name


def test_index_links_to_each_campaign(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = add_campaign(root, 1, {"iovalkey": (1000,)})
    second = add_campaign(root, 2, {"iovalkey": (1000,)})
    (root / "latest").symlink_to(second.name)
    empty = root / "20260103_000000"
    empty.mkdir()
    (empty / "manifest.json").write_text("{}", encoding="utf-8")
    assert main([str(first)]) == 0
    page = compare(root, capsys).text("index.html")
    assert 'href="../20260101_000000/report/index.html"' in page
    assert 'href="../20260101_000000/report/summary.csv"' in page
    assert "not built" in page
    assert "Without any result: 20260103_000000." in page
    assert "latest" not in page


def test_report_is_built_again_over_its_own_output(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_campaign(root, 1, {"iovalkey": (1000,)})
    first = compare(root, capsys).text("compare.html")
    again = compare(root, capsys)
    assert (again.code, again.text("compare.html")) == (0, first)


def test_broken_file_is_named_with_its_campaign(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_campaign(root, 1, {"iovalkey": (1000,)})
    (add_campaign(root, 2, {"iovalkey": (1000,)}) / "x.json").write_text("{", encoding="utf-8")
    done = compare(root, capsys)
    assert done.code == 2
    assert done.err.startswith(f"generate_report: {SECOND}/x.json: $ is not JSON")
    assert not done.folder.exists()


def test_keep_going_lists_what_is_left_out(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add_campaign(root, 1, {"iovalkey": (1000,)})
    (add_campaign(root, 2, {"iovalkey": (1000,)}) / "x.json").write_text("{", encoding="utf-8")
    for path in add_campaign(root, 3, {"iovalkey": (1000,)}).glob("*run*.json"):
        path.write_text("{", encoding="utf-8")
    done = compare(root, capsys, "--keep-going", "--include-trends")
    assert done.code == 2
    assert {row["campaign"] for row in done.rows} == {FIRST, SECOND}
    for name in ("index.html", "compare.html", "trends.html"):
        assert "20260102_000000, x.json: $ is not JSON" in done.text(name)
        assert "20260103_000000: 00_run1.json: $ is not JSON" in done.text(name)


def test_a_copy_of_a_campaign_is_not_counted_twice(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = add_campaign(root, 1, {"iovalkey": (1000,)})
    copy = root / "a-copy"
    copy.mkdir()
    for path in first.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    done = compare(root, capsys)
    assert done.code == 2
    assert "a-copy/manifest.json: $.campaign is also that of 20260101_000000" in done.err


def test_hostile_names_break_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "</script><img src=x onerror=alert(1)>=1|`"
    folder = add_campaign(
        root, 1, {"iovalkey": (1000,)}, versions={"client": hostile, "node": hostile}
    )
    folder.rename(root / "=1 <b onload='x'> |`")
    done = compare(root, capsys, "--include-trends", "--baseline", FIRST)
    assert done.code == 0
    for name in ("index.html", "compare.html", "trends.html"):
        assert "<img" not in done.text(name)
        assert "<b onload" not in done.text(name)
    assert done.rows[0]["campaign"] == "'=1 <b onload='x'> |`"
    lines = [line for line in done.text("compare.md").splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in lines[:3]}) == 1


def test_json_fits_its_schema(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add_campaign(root, 1, {"iovalkey": (1000, 1010), "none": (9000,)})
    add_campaign(root, 2, {"iovalkey": (1000,)}, runtime=DOCKER)
    schema = json.loads((SCHEMAS / "compare.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    for arguments in ([], ["--baseline", FIRST]):
        document = json.loads(compare(root, capsys, *arguments).text("compare.json"))
        Draft202012Validator(schema).validate(document)
        assert len(document["rows"]) == 3


def test_many_campaigns_keep_pages_small(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for day in range(1, 20):
        add_campaign(root, day, {"iovalkey": (1000 + day,)})
    done = compare(root, capsys, "--baseline", FIRST)
    page = done.section(1)
    assert "7 older campaigns are not shown; compare.csv has them." in page
    assert FIRST in page and SECOND not in page
    assert len(done.rows) == 19
    assert len(done.text("compare.md").encode()) <= MAX_BYTES


@pytest.mark.parametrize(
    ("chosen", "names"),
    [
        ("csv", {"compare.csv"}),
        ("md", {"compare.md"}),
        ("json", {"compare.json"}),
        ("html", {"index.html", "compare.html", "compare.csv"}),
        ("both", {"index.html", "compare.html", "compare.csv"}),
    ],
)
def test_formats(
    root: Path, capsys: pytest.CaptureFixture[str], chosen: str, names: set[str]
) -> None:
    add_campaign(root, 1, {"iovalkey": (1000,)})
    folder = compare(root, capsys, "--output-format", chosen).folder
    assert {path.name for path in folder.iterdir()} == names


@pytest.mark.parametrize("name", ["nothing", ""])
def test_folder_without_campaigns(
    root: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    done = compare(root / name, capsys)
    assert done.code == 2
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("changed", "places"),
    [
        # Measured, dated, or changed by a restart: shown at most.
        ({"index_ms": 99.5, "memory_bytes": 8_000_000_000}, {"1"}),
        ({"governor": "performance", "sysctl": {"net.ipv4.ip_local_port_range": "1 2"}}, {"1"}),
        # An older campaign does not have it on record.
        ({"microcode": None}, {"1"}),
        ({"microcode": "0x2"}, {"1", "2"}),
        ({"kernel": "Linux 9.9"}, {"1", "2"}),
        ({"cpus": 64}, {"1", "2"}),
    ],
)
def test_a_place_is_cpu_model_microcode_number_of_cpus_kernel_and_runtime(
    root: Path, capsys: pytest.CaptureFixture[str], changed: dict[str, object], places: set[str]
) -> None:
    for day, properties in ((1, {}), (2, changed)):
        path = add_campaign(root, day, {"iovalkey": (1000, 1010)}) / "manifest.json"
        document = json.loads(path.read_text(encoding="utf-8"))
        machine = {**document["machine"], "microcode": "0x1", "index_ms": 20.0, **properties}
        document["machine"] = {name: value for name, value in machine.items() if value is not None}
        path.write_text(json.dumps(document), encoding="utf-8")
    done = compare(root, capsys, "--include-trends")
    assert {row["place"] for row in done.rows} == {row["group"] for row in done.rows} == places
    assert done.text("trends.html").count("<figure") == len(places)


#: Two campaigns with one command, one after the other on one machine.
RUN_TWICE = Path(__file__).parent / "run_twice.tar.xz"


def _dated(folder: Path, copy: Path, day: int) -> None:
    """A copy of a campaign as another day would have measured it."""
    copy.mkdir()
    for path in folder.iterdir():
        text = path.read_text(encoding="utf-8").replace(folder.name, copy.name)
        # Ports are chosen at random; the day, and the program's path, are those of the machine at
        # that time.
        text = re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{20_000 + day}", text)
        text = text.replace("2026-11-27T", f"2026-12-{day:02d}T").replace(
            "/opt/venv", f"/opt/{day}"
        )
        document = json.loads(text)
        if path.name == "manifest.json":
            document["machine"] |= {
                "index_ms": 17.0 + day,
                "memory_bytes": 25_276_510_208 + 4096 * day,
            }
            lengths = {"lead_in_ms": day, "slice_ms": 100 * day}
            document["turns"] = dict.fromkeys(document["turns"], lengths)
            if day % 2:
                # Campaigns were once written without it, and with an id that several processors
                # shared.
                del document["machine"]["microcode"]
                document["machine"]["machine_id"] = f"{day:016x}"
        (copy / path.name).write_text(json.dumps(document), encoding="utf-8")


def test_campaigns_that_were_run_again_meet_in_one_group_and_one_history(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unpack(RUN_TWICE, root)
    twice = compare(root, capsys, "--include-trends")
    assert (twice.code, {row["group"] for row in twice.rows}) == (0, {"1"})
    assert "Not comparable" not in twice.text("compare.html")
    first, second = sorted(path for path in root.iterdir() if path.name != "report")
    for day in range(1, 7):
        _dated(first if day % 2 else second, root / f"202612{day:02d}_000000", day)
    eight = compare(root, capsys, "--include-trends")
    assert (eight.code, eight.err) == (0, "")
    assert {(row["group"], row["place"]) for row in eight.rows} == {("1", "1")}
    assert len({row["campaign"] for row in eight.rows}) == 8
    assert "2 histories over 8 campaigns" in eight.text("trends.html")
