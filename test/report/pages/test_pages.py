"""What is published of campaigns, audits, and archives that come from anybody."""

import io
import lzma
import re
import shutil
import tarfile
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from builder import configuration, result
from campaign_folders import add_campaign
from campaign_writer import manifest, write_campaign
from fault_documents import faulted
from page_reader import read
from report.base.errors import ReportError
from report.campaigns.kinds import (
    BENCHMARK,
    FAULTS,
    INSTRUMENTS,
    MEMORY,
    RATE_SEARCH,
    campaign_kind,
)
from report.cli.pages_command import main
from report.pages.publish import standing_campaigns
from report.pages.site import CAMPAIGNS
from report.results import archives
from report.results.archives import unpack

RATES = {"iovalkey": (6000, 6010, 6020), "ioredis@valkey": (5000, 5010, 5020)}
EVIL = b"<script>alert(1)</script>"
HOSTILE = "<img src=x onerror=alert(1)>"


def _member(
    name: str, data: bytes = EVIL, kind: bytes = tarfile.REGTYPE, link: str = ""
) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size = len(data) if kind == tarfile.REGTYPE else 0
    member.type = kind
    member.linkname = link
    return member


def _pack(archive: Path, folder: Path | None, *members: tarfile.TarInfo) -> None:
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive, "w:xz") as packed:
        if folder:
            packed.add(folder, folder.name)
        for member in members:
            packed.addfile(member, io.BytesIO(EVIL) if member.isreg() else None)


def test_the_newest_benchmark_is_at_the_root_and_the_table_links_every_report(
    tmp_path: Path,
) -> None:
    results = tmp_path / "results"
    site = tmp_path / "a site"
    for day in (3, 12, 7):
        add_campaign(results / "of somebody", day, RATES)
    shutil.copytree(results / "of somebody" / "20260103_000000", results / "twice")
    (results / "latest").symlink_to(results / "of somebody" / "20260107_000000")
    assert main([str(site), str(results)]) == 0
    table = (site / CAMPAIGNS).read_text("utf-8")
    assert re.findall(r"(?<=>)results/of somebody/(\d+)", table) == [
        "20260112",
        "20260107",
        "20260103",
    ]
    for page in (CAMPAIGNS, "claims.html", "questions.html", "index.html"):
        links = re.findall(r'href="([^"#:]+)"', (site / page).read_text("utf-8"))
        assert [link for link in links if not (site / unquote(link)).is_file()] == []
    # At the root stands the newest one, with links to its runs, the table and the claims of this
    # project.
    newest = site / "results/of somebody/20260112_000000"
    assert (site / "summary.csv").read_bytes() == (newest / "report/summary.csv").read_bytes()
    assert {f"{CAMPAIGNS}#matrix", "claims.html", "questions.html"} <= _links(site / "index.html")
    assert "results/of%20somebody/20260112_000000/manifest.json" in links
    assert main([str(site), str(results)]) == 2


def _links(page: Path) -> set[str]:
    return set(re.findall(r'href="([^"]+)"', page.read_text("utf-8")))


def _add_with_faults(folder: Path) -> None:
    runs = [faulted(run=run) for run in (1, 2)]
    write_campaign(folder, manifest([runs[0]["configuration"]], 2), runs)


def test_a_standing_campaign_is_at_the_root_and_links_what_is_newer(tmp_path: Path) -> None:
    results, history, site = (tmp_path / name for name in ("results", "history", "site"))
    packed = add_campaign(tmp_path, 3, RATES)
    _pack(results / "matrix.tar.xz", packed)
    # Beside the archive stands the report that a repository keeps of it.
    (results / "matrix/report").mkdir(parents=True)
    (results / "standing.txt").write_text("# A comment.\nmatrix\nmissing\n", "utf-8")
    add_campaign(results, 9, RATES)
    _add_with_faults(results / "faults")
    add_campaign(history, 11, RATES)
    add_campaign(history, 12, RATES, status="aborted")
    assert main([str(site), str(results), str(history)]) == 0
    standing = site / "results/matrix/report"
    assert (site / "summary.csv").read_bytes() == (standing / "summary.csv").read_bytes()
    newer = {
        f"{place}/report/index.html" for place in ("history/20260111_000000", "results/faults")
    }
    assert newer <= _links(site / "index.html")
    assert "results/missing: no such campaign" in (site / CAMPAIGNS).read_text("utf-8")


def test_a_campaign_of_faults_stands_for_nothing(tmp_path: Path) -> None:
    _add_with_faults(tmp_path / "results/faults")
    assert main([str(tmp_path / "site"), str(tmp_path / "results")]) == 0
    assert (tmp_path / "site/index.html").read_bytes() == (
        tmp_path / "site" / CAMPAIGNS
    ).read_bytes()


def test_the_standing_campaigns_of_this_project_are_there() -> None:
    root = Path("results")
    for address in standing_campaigns(root):
        place = root.parent / address
        assert (place / "manifest.json").is_file() or place.with_name(
            f"{place.name}.tar.xz"
        ).is_file()


@pytest.mark.parametrize(
    ("kind", "plan"),
    [
        (BENCHMARK, {}),
        (RATE_SEARCH, {"max_rate": {}}),
        (FAULTS, {"faults": [{"action": "kill"}]}),
        (MEMORY, {"extent": {"requests": 1000}}),
        (INSTRUMENTS, {"runs": [{"diagnose": True}]}),
    ],
)
def test_what_a_campaign_is_for(kind: str, plan: dict[str, Any]) -> None:
    manifested = manifest([configuration()], 2)
    [planned] = manifested["plan"]["configurations"]
    planned["configuration"] |= {name: plan[name] for name in ("faults", "extent") if name in plan}
    manifested["plan"] |= {name: plan[name] for name in ("max_rate", "runs") if name in plan}
    assert campaign_kind(manifested) == kind


def test_nothing_of_an_archive_is_published_but_what_was_checked(tmp_path: Path) -> None:
    results = tmp_path / "results"
    site = tmp_path / "site"
    folder = write_campaign(
        tmp_path / "20260102_030405",
        manifest(
            [configuration()],
            1,
            command=HOSTILE,
            machine={**manifest([])["machine"], "cpu_model": HOSTILE},
        ),
        [result(configuration(), 1, 2000)],
    )
    (folder / "report/images").mkdir(parents=True)
    for name in ("evil.html", "report/index.html", "report/images/x.svg", "bad_run2.json", "a.log"):
        (folder / name).write_bytes(EVIL)
    _pack(results / "hostile/packed.tar.xz", folder)
    for name, member in {
        "parent": _member("20260102_030405/../../x"),
        "absolute": _member(str(tmp_path / "absolute file")),
        "link": _member("20260102_030405/link_run1.json", kind=tarfile.SYMTYPE, link="/etc/passwd"),
        "inner": _member(
            "20260102_030405/inner_run1.json", kind=tarfile.SYMTYPE, link="00_run1.json"
        ),
        "hard": _member(
            "20260102_030405/hard_run1.json",
            kind=tarfile.LNKTYPE,
            link="20260102_030405/00_run1.json",
        ),
        "device": _member("20260102_030405/device", kind=tarfile.CHRTYPE),
    }.items():
        _pack(results / f"{name}.tar.xz", folder, member)
    (results / f"{HOSTILE}.tar.xz").write_bytes(EVIL)
    assert main([str(site), str(results)]) == 0
    published = {
        path.relative_to(site).as_posix(): path for path in site.rglob("*") if path.is_file()
    }
    place = "results/hostile/packed"
    names = {name.removeprefix(f"{place}/") for name in published if name.startswith(f"{place}/")}
    assert {name for name in names if "/" not in name} == {"manifest.json", "00_run1.json", "a.log"}
    assert "report/index.html" in names and "report/images/x.svg" not in names
    # Logs are text. Every page is built anew, and escapes what the documents say.
    for name, path in published.items():
        if not name.endswith((".log", ".json")):
            assert EVIL not in path.read_bytes() and HOSTILE.encode() not in path.read_bytes(), name
    assert HOSTILE in read((site / CAMPAIGNS).read_text("utf-8")).text
    assert not (tmp_path / "x").exists() and not (tmp_path / "absolute file").exists()
    for name in ("parent", "absolute", "link", "inner", "hard", "device", "bad_run2.json"):
        assert name in (site / CAMPAIGNS).read_text("utf-8")
        assert not (site / "results" / name).exists()


def test_an_archive_may_hold_only_so_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sparse = _member("sparse", b"")
    sparse.pax_headers = {
        "GNU.sparse.major": "0",
        "GNU.sparse.size": str(3 * 1024**3),
        "GNU.sparse.map": "0,0",
    }
    _pack(tmp_path / "sparse.tar.xz", None, sparse)
    with tarfile.open(tmp_path / "large.tar.xz", "w:xz") as packed:
        member = tarfile.TarInfo("zeros")
        member.size = 3 * 1024**2
        member.mode = 0o4777
        packed.addfile(member, io.BytesIO(bytes(member.size)))
    # What follows the last member is not read as one.
    _pack(tmp_path / "small.tar.xz", None, _member("small"))
    with (
        lzma.open(tmp_path / "small.tar.xz") as small,
        lzma.open(tmp_path / "tail.tar.xz", "w") as tail,
    ):
        tail.write(small.read() + bytes(3 * 1024**2))
    unpack(tmp_path / "large.tar.xz", tmp_path / "fits")
    assert (tmp_path / "fits/zeros").stat().st_mode & 0o7022 == 0
    monkeypatch.setattr(archives, "MAX_BYTES", 2 * 1024**2)
    for name in ("large", "sparse", "tail"):
        with pytest.raises(ReportError) as caught:
            unpack(tmp_path / f"{name}.tar.xz", tmp_path / name)
        assert caught.value.exit_code == 2 and not (tmp_path / name).exists()


def test_folders_without_a_campaign_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for root in ("empty", "missing"):
        assert main([str(tmp_path / "site"), str(tmp_path / root)]) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty"]
