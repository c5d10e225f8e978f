"""The site: what is on it, that it holds together, and what it refuses."""

import json
import re
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from builder import configuration, result
from page_reader import read
from report.base.paths import ROOT
from report.cli.site import main
from report.site.links import broken_links
from site_page import Site, SitePage
from write_site import DAYS, HOSTILE, RUNS, add, at_rate, named

ATOM = {"atom": "http://www.w3.org/2005/Atom"}

Build = Callable[..., str]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    folder.mkdir()
    return folder


@pytest.fixture
def build_page(tmp_path: Path, results: Path) -> Build:
    """The page of a site of what lies in `results`."""

    def build(*arguments: str) -> str:
        assert main([str(tmp_path / "site"), str(results), *arguments]) == 0
        return (tmp_path / "site" / "index.html").read_text(encoding="utf-8")

    return build


def slow(root: Path, day: int = 1) -> Path:
    """A campaign at full load, with a page of its own."""
    documents = [result(configuration("iovalkey"), run) for run in (1, 2)]
    folder = add(
        root, day, documents, command="./scripts/run-all.sh --clients iovalkey --concurrency 50 --runs 2"
    )
    (folder / "report").mkdir()
    (folder / "report" / "index.html").write_text(
        '<p id="answer">as committed</p><p id="tables"></p>', encoding="utf-8"
    )
    return folder


def test_every_link_of_every_page_leads_somewhere_on_the_site(site: Site) -> None:
    assert broken_links(site.folder) == []
    assert (site.folder / "compare.html").is_file()
    assert (site.folder / "trends.html").is_file()
    pages = {path.relative_to(site.folder).as_posix() for path in site.folder.rglob("index.html")}
    assert {"results/20260101_000000/report/index.html", "results/claims/report/index.html"} <= pages


@pytest.mark.parametrize(
    ("link", "line"),
    [
        ('<a href="nowhere.html">', "index.html: nowhere.html leads nowhere"),
        ('<a href="other.html#no">', "index.html: other.html#no has no such anchor"),
        ('<a href="../outside.html">', "index.html: ../outside.html leads nowhere"),
        ('<img src="https://example.com/a.png">', "index.html: img loads https://example.com/a.png"),
        ('<link href="https://example.com/a.css">', "index.html: link loads https://example.com/a.css"),
        ('<a href="other.html#yes"><a href="https://example.com/"><img src="data:,">', ""),
    ],
)
def test_a_link_that_leads_nowhere_or_out_is_found(tmp_path: Path, link: str, line: str) -> None:
    (tmp_path / "outside.html").write_text("", encoding="utf-8")
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_text(link, encoding="utf-8")
    (folder / "other.html").write_text('<p id="yes">', encoding="utf-8")
    assert broken_links(folder) == ([line] if line else [])


def test_no_page_may_ask_for_anything_and_no_text_becomes_markup(site: Site, page: SitePage) -> None:
    policy = next(
        attributes["content"]
        for tag, attributes in page.reader.tags
        if tag == "meta" and "content" in attributes
    )
    assert policy and policy.startswith("default-src 'none'")
    assert HOSTILE in page.reader.text
    assert not [tag for tag, _ in page.reader.tags if tag == "img"]


def test_each_row_has_the_values_that_it_is_filtered_by(page: SitePage) -> None:
    rows = {attributes["data-row"] for _, attributes in page.reader.tags if "data-row" in attributes}
    assert rows == set(page.values)
    of_families = [values["client"] for values in page.values.values() if isinstance(values["client"], list)]
    assert ["ioredis", "iovalkey", "valkey-glide"] in [sorted(clients) for clients in of_families]


def test_the_feed_has_every_campaign_and_each_change_once_newest_first(site: Site) -> None:
    feed = ElementTree.fromstring(site.text("feed.xml"))  # noqa: S314 (made by us)
    entries = feed.findall("atom:entry", ATOM)
    ids = [entry.findtext("atom:id", "", ATOM) for entry in entries]
    assert len(ids) == len(set(ids))
    assert all(id_.startswith("urn:uuid:") for id_ in ids)
    times = [entry.findtext("atom:updated", "", ATOM) for entry in entries]
    assert times == sorted(times, reverse=True)
    assert feed.findtext("atom:updated", "", ATOM) == times[0] == "2026-01-09T00:00:00Z"
    terms = [entry.find("atom:category", ATOM).get("term") for entry in entries]  # type: ignore[union-attr]
    campaigns = list(site.results.rglob("manifest.json"))
    audits = list((site.results / "audits").iterdir())
    first_verdicts = 1
    assert terms.count("measurement") == len(campaigns) + len(audits) + first_verdicts
    titles = [entry.findtext("atom:title", "", ATOM) for entry in entries]
    claims = [title for title in titles if title.startswith("Claim")]
    assert claims == [
        "Claim: A is 35 % faster than B: does not hold",
        "Claim: A is 35 % faster than B: holds",
    ]
    for entry in entries:
        link = entry.find("atom:link", ATOM).get("href")  # type: ignore[union-attr]
        path = (link or "").removeprefix("https://example.com/bench/").partition("#")[0]
        assert (site.folder / path).is_file()


def test_the_same_results_give_the_same_site(site: Site, tmp_path: Path) -> None:
    again = tmp_path / "again"
    assert main([str(again), str(site.results), "--address", "https://example.com/bench/"]) == 0
    for name in ("index.html", "feed.xml"):
        assert (again / name).read_text(encoding="utf-8") == site.text(name)


def test_a_page_is_kept_where_there_is_one_and_built_on_the_site_alone_where_not(
    results: Path, build_page: Build, tmp_path: Path
) -> None:
    committed, bare = slow(results, 1), slow(results, 2)
    shutil.rmtree(bare / "report")
    build_page()
    names = [named(day)[0] for day in (1, 2)]
    kept, built = (tmp_path / "site" / "results" / name / "report" / "index.html" for name in names)
    assert "as committed" in kept.read_text(encoding="utf-8")
    assert "What rate limiting costs" in built.read_text(encoding="utf-8")
    assert not (bare / "report").exists()
    assert sorted(path.name for path in committed.iterdir()) == [
        "00_run1.json",
        "01_run2.json",
        "manifest.json",
        "report",
    ]


def test_what_is_missing_is_said_with_the_command_that_measures_it(results: Path, build_page: Build) -> None:
    slow(results)
    text = " ".join(read(build_page().replace("<", " <")).text.split())
    assert (
        "no campaign measured CPU per decision at a rate. 1 campaign (20260101_000000) measured at full"
        in text
    )
    command = "./scripts/run-all.sh --clients iovalkey --duration-mode fixed30 --runs 10 --rate 1000"
    assert text.count(command) == 2
    for missing in (
        "ratelimit-bench audit",
        "--rate 500 --fault primary-kill --runs 3",
        "ratelimit-bench claims run",
        "ratelimit-bench memory --clients all",
        "ratelimit-bench run --clients all --layer limiter --duration-mode fixed30 --runs 10",
    ):
        assert missing in text
    assert "is the best" not in text


def test_a_rate_that_was_not_asked_for_is_no_answer(results: Path, build_page: Build) -> None:
    load = {"model": "open", "rate_per_second": 500, "arrivals": "constant", "connections": 200}
    add(results, 1, [result(configuration(label, load=load), 1) for label in ("iovalkey", "ioredis@valkey")])
    text = read(build_page()).text
    assert "Not measured at 1000/s; other campaigns measured at 500/s." in text


def test_what_ends_as_before_is_no_change(results: Path, build_page: Build, tmp_path: Path) -> None:
    runs = range(1, RUNS + 1)
    for day in (1, 2):
        add(results, day, [at_rate(label, run, *DAYS[0][label]) for label in DAYS[0] for run in runs])
    assert "nothing that was measured twice ended otherwise than before" in read(build_page()).text
    assert "change" not in re.findall(r'term="(\w+)"', (tmp_path / "site" / "feed.xml").read_text("utf-8"))


def test_too_few_runs_name_nobody(results: Path, build_page: Build) -> None:
    add(results, 1, [at_rate(label, run, *DAYS[0][label]) for label in DAYS[0] for run in range(1, 4)])
    text = read(build_page()).text
    none = "no target was shown to have a lower p99 than all others in 1 comparison"
    assert f"{none}. 3 runs of each, and it takes 5." in text
    assert "no target was shown to cost less CPU than all others" in text


def test_a_copy_that_is_told_apart_takes_the_winner_away(results: Path, build_page: Build) -> None:
    labels = {**DAYS[0], "iovalkey+copy": (2300, 40.0)}
    folder = add(
        results, 1, [at_rate(label, run, *labels[label]) for label in labels for run in range(1, RUNS + 1)]
    )
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["plan"]["references"] = [manifest["plan"]["configurations"][0]["hash"]]
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    text = read(build_page()).text
    assert "nothing is ranked, because the copy was told apart from its original" in text.lower()
    assert "iovalkey on valkey, decided by a library: p99" not in text


def test_what_cannot_be_read_is_named_and_the_rest_is_shown(
    results: Path, build_page: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    slow(results, 1)
    copied = results / "copied"
    shutil.copytree(results / named(1)[0], copied)
    torn = slow(results, 2)
    (torn / "00_run1.json").write_text("{", encoding="utf-8")
    ruined = slow(results, 3)
    for path in ruined.glob("*_run*.json"):
        path.write_text("{", encoding="utf-8")
    page = read(build_page()).text
    assert "it is also results/20260101_000000/: one campaign is counted once" in page
    for left_out in ("results/20260102_000000/: 00_run1.json", "results/20260103_000000/"):
        assert left_out in page
    assert "left out" in capsys.readouterr().err


def test_what_is_no_site_is_refused(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = str(tmp_path / "site")
    for arguments, text in (
        ([site, str(results)], "no campaign, audit or register of claims to show"),
        ([site, str(tmp_path / "nothing")], "is not a folder"),
        ([str(results), str(results)], "exists: name a folder that does not"),
        ([site, str(results), "--address", "javascript:1"], "must begin with https://"),
    ):
        assert main(arguments) == 2
        assert text in capsys.readouterr().err
    assert not Path(site).exists()
    assert [path.name for path in tmp_path.iterdir()] == ["results"]


def test_links_and_hidden_files_stay_off_the_site(results: Path, build_page: Build, tmp_path: Path) -> None:
    folder = slow(results)
    (folder / "secret.txt").symlink_to("/etc/hostname")
    (folder / "report" / "images").symlink_to("/etc")
    (folder / ".hidden").write_text("x", encoding="utf-8")
    (results / "latest").symlink_to(folder)
    build_page()
    found = {path.relative_to(tmp_path / "site").as_posix() for path in (tmp_path / "site").rglob("*")}
    assert not [name for name in found if re.search(r"secret|hidden|latest|images", name)]


def test_the_committed_example_makes_a_site(tmp_path: Path, results: Path) -> None:
    with tarfile.open(ROOT / "results" / "example.tar.xz") as archive:
        archive.extractall(results, filter="data")
    assert main([str(tmp_path / "site"), str(results)]) == 0
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert 'href="results/example/report/index.html"' in page
