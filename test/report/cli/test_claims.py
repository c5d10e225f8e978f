"""The page, the Markdown and the verdicts of published claims."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from builder import configuration, hash_of, result
from campaign_writer import manifest, write_campaign
from page_reader import read
from report.base.paths import CONTRACT_SCHEMAS
from report.cli.claims import main

HOSTILE = "<img src=x onerror=alert(1)>|`*"
ROUNDS = 10
STAMP = "20260102_030405"

Document = dict[str, Any]


def _wave(level: int, phase: int) -> list[int]:
    """Requests/s of ten runs, within 1 % of a level."""
    return [level + round(level * 0.002 * ((3 * run + phase) % 5 - 2)) for run in range(ROUNDS)]


def _measure(
    folder: Path,
    rates: dict[str, list[int]],
    stamp: str = STAMP,
    cpu_model: str = "Example CPU",
    client: str = "5.6.1",
) -> dict[str, str]:
    """A campaign of these targets, whose first one is the reference; the hashes of its rows by label."""
    configurations = [configuration(label) for label in rates]
    document = manifest(configurations, ROUNDS)
    document["plan"]["references"] = [hash_of(configurations[0])]
    document["machine"]["cpu_model"] = cpu_model
    results = [
        result(configured, run, rate)
        for configured, values in zip(configurations, rates.values(), strict=True)
        for run, rate in enumerate(values, start=1)
    ]
    for each in results:
        each["versions"]["client"] = client
    write_campaign(folder / "a-and-b" / stamp, document, results)
    return {each["target"]["label"]: hash_of(each) for each in configurations}


def _comparison(id_: str, rows: tuple[str, str] | None, **members: Any) -> Document:
    found = {
        "id": id_,
        "campaign": "a-and-b",
        "metric": "throughput",
        "new": {"target": "new"},
        "base": {"target": "base"},
        "new_text": "new",
        "base_text": "base",
        "conditions": f"conditions of {id_}",
        "as_published": True,
        "expected": {"ratio": 1.35, "at_least": 1.2, "at_most": 1.5, "refuted_below": 1.1},
    }
    if rows:
        found["rows"] = {"new": [rows[0]], "base": [rows[1]]}
    return found | members


def _claim(*comparisons: Document, id_: str = "a-beats-b", **members: Any) -> Document:
    return {
        "id": id_,
        "title": "A is 35 % faster than B",
        "sentence": f"A is 35 % faster {HOSTILE}",
        "source": {"project": "A", "date": "2025-04", "address": "https://example.com/a"},
        "measured_there": {"load": "50 connections", "not_said": ["how many runs"]},
        "refuted_by": "A is less than 10 % faster",
        "comparisons": list(comparisons),
        **members,
    }


def _register(
    folder: Path,
    *claims: Document,
    measured: bool = True,
    differs: tuple[str, ...] = (),
    earlier: tuple[str, ...] = (),
) -> None:
    campaign: Document = {"id": "a-and-b", "differs": list(differs)}
    if measured:
        campaign["folder"] = f"a-and-b/{STAMP}"
    if earlier:
        campaign["earlier"] = [f"a-and-b/{stamp}" for stamp in earlier]
    document = {
        "schema": "ratelimit-bench/claims",
        "schema_version": 1,
        "harness": "0.1.0",
        "claims": list(claims),
        "campaigns": [campaign],
    }
    (folder / "report").mkdir(parents=True, exist_ok=True)
    (folder / "report" / "register.json").write_text(json.dumps(document), encoding="utf-8")


def _verdicts(folder: Path) -> dict[str, Document]:
    """By claim, checked against the contract."""
    assert main([str(folder)]) == 0
    document = json.loads((folder / "report" / "verdicts.json").read_text(encoding="utf-8"))
    schema = json.loads((CONTRACT_SCHEMAS / "claim-verdicts.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, schema)
    return {claim["id"]: claim for claim in document["claims"]}


BASE, NEW, COPY = "iovalkey", "ioredis@valkey", "iovalkey+copy"


@pytest.mark.parametrize(
    ("level", "verdict"),
    [(5400, "holds"), (4000, "does not hold"), (4600, "cannot be told here")],
)
def test_a_claim_ends_by_the_ratio_its_interval_and_the_copy(
    tmp_path: Path, level: int, verdict: str
) -> None:
    rows = _measure(tmp_path, {BASE: _wave(4000, 0), NEW: _wave(level, 1), COPY: _wave(4000, 2)})
    _register(tmp_path, _claim(_comparison("headline", (rows[NEW], rows[BASE]))))
    found = _verdicts(tmp_path)["a-beats-b"]
    assert found["verdict"] == verdict
    (compared,) = found["comparisons"]
    assert compared["ratio"] == pytest.approx(level / 4000, rel=0.01)
    assert compared["interval"]["low"] < compared["ratio"] < compared["interval"]["high"]
    assert compared["copy"]["ratio"] == pytest.approx(1, abs=0.01)
    assert not compared["copy"]["told_apart"]


def test_where_the_copy_is_told_apart_nothing_is_told(tmp_path: Path) -> None:
    """5 % from its original, which is less than the ratio's distance from each of its bounds."""
    rows = _measure(tmp_path, {BASE: _wave(4000, 0), NEW: _wave(5400, 1), COPY: _wave(4200, 2)})
    _register(tmp_path, _claim(_comparison("headline", (rows[NEW], rows[BASE]))))
    found = _verdicts(tmp_path)["a-beats-b"]
    assert found["verdict"] == "cannot be told here"
    assert "the copy of the reference was told apart" in found["reason"]
    assert found["comparisons"][0]["copy"]["told_apart"]


EARLIER = "20260101_000000"


def _measured_twice(folder: Path, level: int, before: int, client: str = "5.6.1") -> Document:
    """The claim by two campaigns in which the base does 4000/s; the earlier one ran on another machine."""
    for rate, stamp, cpu_model, version in (
        (level, STAMP, "Example CPU", "5.6.1"),
        (before, EARLIER, "Other CPU", client),
    ):
        rates = {BASE: _wave(4000, 0), NEW: _wave(rate, 1), COPY: _wave(4000, 2)}
        rows = _measure(folder, rates, stamp, cpu_model, version)
    _register(folder, _claim(_comparison("headline", (rows[NEW], rows[BASE]))), earlier=(EARLIER,))
    return _verdicts(folder)["a-beats-b"]


def test_campaigns_that_disagree_tell_nothing_and_both_are_named(tmp_path: Path) -> None:
    """1.35× holds, and 1.00× does not."""
    found = _measured_twice(tmp_path, 5400, 4000)
    assert found["verdict"] == "cannot be told here"
    assert re.fullmatch(
        r"campaigns disagree: 1\.35×, 1\.3\d–1\.3\d× on 2026-01-02 \(Example CPU, local\); "
        r"1\.00×, [\d.]+–[\d.]+× on 2026-01-02 \(Other CPU, local\)",
        found["reason"],
    )
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert f'href="../a-and-b/{EARLIER}/report/index.html"' in page
    assert "measured before" not in read(page).text


@pytest.mark.parametrize(
    ("level", "before", "verdict"),
    [(5400, 5410, "holds"), (4000, 3000, "does not hold")],
    ids=["the same ratio", "the same verdict"],
)
def test_campaigns_that_agree_keep_the_verdict(tmp_path: Path, level: int, before: int, verdict: str) -> None:
    found = _measured_twice(tmp_path, level, before)
    assert (found["verdict"], found["reason"]) == (verdict, "")
    page = read((tmp_path / "report" / "index.html").read_text(encoding="utf-8")).text
    assert re.search(r"measured before: [01]\.\d\d×, [\d.]+–[\d.]+× on 2026-01-02 \(Other CPU, local\)", page)


def test_a_campaign_with_other_versions_is_not_held_against_the_newest(tmp_path: Path) -> None:
    found = _measured_twice(tmp_path, 5400, 4000, client="5.5.0")
    assert found["verdict"] == "holds"


def test_too_few_runs_are_said_with_what_it_takes(tmp_path: Path) -> None:
    few = {label: _wave(level, 0)[:3] for label, level in ((BASE, 4000), (NEW, 5400))}
    rows = _measure(tmp_path, few)
    _register(tmp_path, _claim(_comparison("headline", (rows[NEW], rows[BASE]))))
    found = _verdicts(tmp_path)["a-beats-b"]
    assert found["verdict"] == "cannot be told here"
    assert "takes at least 5" in found["reason"]


def test_what_cannot_be_told_comes_with_a_command_of_runs_enough(tmp_path: Path) -> None:
    wide = [3800, 5600, 4300, 5100, 4800, 4000, 5500, 4500, 5200, 4700]
    rows = _measure(tmp_path, {BASE: _wave(4000, 0), NEW: wide, COPY: _wave(4000, 2)})
    pair = (rows[NEW], rows[BASE])
    near = _comparison("near", pair, expected={"at_least": 1.15, "refuted_below": 1.15})
    far = _comparison("far", pair, expected={"at_least": 1.08, "refuted_below": 1.08})
    _register(tmp_path, _claim(near, far))
    found = _verdicts(tmp_path)["a-beats-b"]
    needed = [int(re.findall(r"about (\d+) runs", each["takes"])[0]) for each in found["comparisons"]]
    assert len(set(needed)) == 2
    assert main([str(tmp_path), "--markdown", str(tmp_path / "claims.md")]) == 0
    takes = f"It takes: about {max(needed)} runs per side would decide. On a larger machine: "
    command = f"ratelimit-bench claims run a-beats-b --again --runs {max(needed)}"
    assert f"{takes}`{command}`" in (tmp_path / "claims.md").read_text(encoding="utf-8")
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert takes + command in read(page).text


def test_what_holds_under_other_conditions_is_said_with_these(tmp_path: Path) -> None:
    rows = _measure(tmp_path, {BASE: _wave(4000, 0), NEW: _wave(4000, 1), "valkey-glide": _wave(5400, 3)})
    _register(
        tmp_path,
        _claim(
            _comparison("headline", (rows[NEW], rows[BASE])),
            _comparison("now", (rows["valkey-glide"], rows[BASE]), as_published=False),
        ),
    )
    found = _verdicts(tmp_path)["a-beats-b"]
    assert found["verdict"] == "holds under other conditions"
    assert found["reason"].startswith("conditions of now; not so as published")


@pytest.mark.parametrize(("level", "said"), [(5400, "2 hold"), (4000, "2 do not hold")])
def test_several_claims_are_counted_in_the_plural(tmp_path: Path, level: int, said: str) -> None:
    rows = _measure(tmp_path, {BASE: _wave(4000, 0), NEW: _wave(level, 1), COPY: _wave(4000, 2)})
    comparison = _comparison("headline", (rows[NEW], rows[BASE]))
    _register(tmp_path, _claim(comparison), _claim(comparison, id_="again"))
    assert main([str(tmp_path)]) == 0
    page = read((tmp_path / "report" / "index.html").read_text(encoding="utf-8")).text
    assert f"2 claims: {said}." in page


def test_what_was_not_measured_is_said_as_such(tmp_path: Path) -> None:
    _register(
        tmp_path,
        _claim(_comparison("headline", None)),
        _claim(_comparison("headline", None), id_="needs", needs={"program": "rsedis", "from": "its source"}),
        _claim(id_="never", cannot_be_told={"why": "it is in no version", "takes": "a build"}),
        measured=False,
    )
    found = _verdicts(tmp_path)
    assert found["a-beats-b"]["verdict"] == "not measured yet"
    assert found["needs"]["verdict"] == "cannot be told here"
    assert found["needs"]["comparisons"][0]["takes"] == "--program rsedis=PATH (its source)"
    assert (found["never"]["verdict"], found["never"]["reason"]) == (
        "cannot be told here",
        "it is in no version",
    )
    page = read((tmp_path / "report" / "index.html").read_text(encoding="utf-8")).text
    assert "3 claims: 2 cannot be told here and 1 not measured yet." in page
    assert "It takes: a build" in page


def test_a_row_that_its_campaign_skipped_is_told_with_the_reason(tmp_path: Path) -> None:
    _measure(tmp_path, {BASE: _wave(4000, 0)})
    skipped = _comparison("headline", None, missing="ioredis@redis was skipped: no redis-server was found")
    _register(tmp_path, _claim(skipped))
    found = _verdicts(tmp_path)["a-beats-b"]
    assert (found["verdict"], found["reason"]) == ("cannot be told here", skipped["missing"])


def _decomposition(folder: Path, middle_rps: int, new_rps: int) -> str:
    """The text of a claim on two targets, by a third one between them; the base does 4000/s."""
    rows = _measure(
        folder, {BASE: _wave(4000, 0), NEW: _wave(middle_rps, 1), "valkey-glide": _wave(new_rps, 3)}
    )
    steps = [
        _comparison("client", (rows["valkey-glide"], rows[NEW]), as_published=False),
        _comparison("store", (rows[NEW], rows[BASE]), as_published=False),
    ]
    for each in steps:
        del each["expected"]
    _register(
        folder,
        _claim(
            _comparison("headline", (rows["valkey-glide"], rows[BASE])),
            *steps,
            decomposition={
                "of": "headline",
                "steps": [
                    {"comparison": "client", "cause": "the clients"},
                    {"comparison": "store", "cause": "the store"},
                ],
            },
        ),
    )
    assert main([str(folder)]) == 0
    return (folder / "report" / "claims.md").read_text(encoding="utf-8")


def test_a_decomposition_names_the_part_of_each_cause_and_whether_they_add_up(tmp_path: Path) -> None:
    """1.44 = 1.2 × 1.2."""
    text = _decomposition(tmp_path, 4800, 5760)
    assert "| the clients | 1.20×" in text
    assert text.count("| 50 % |") == 2
    assert "| Product of all | 1.44× |" in text
    assert "adds up |" in text


def test_causes_that_work_against_each_other_are_no_parts_of_a_whole(tmp_path: Path) -> None:
    """0.9 = 0.72 × 1.25."""
    text = _decomposition(tmp_path, 5000, 3600)
    assert "| the clients | 0.72×" in text
    assert re.search(r"\| Product of all \| 0\.90× \| they work against each other \|", text)
    assert re.search(r"\| the store \| 1\.25×[^|]* \| – \|", text)


def test_page_and_markdown_hold_what_a_reader_needs_and_no_foreign_markup(tmp_path: Path) -> None:
    rows = _measure(tmp_path, {BASE: _wave(4000, 0), NEW: _wave(5400, 1), COPY: _wave(4000, 2)})
    _register(
        tmp_path, _claim(_comparison("headline", (rows[NEW], rows[BASE]))), differs=("runs 10 instead of 20",)
    )
    docs = tmp_path / "docs"
    docs.mkdir()
    assert main([str(tmp_path), "--markdown", str(docs / "claims.md")]) == 0
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    markdown = (docs / "claims.md").read_text(encoding="utf-8")
    for text in (read(page).text, markdown):
        for words in (
            "1.35× (holds: 1.2 to 1.5; refuted below 1.1)",
            "how many runs",
            "runs 10 instead of 20",
        ):
            assert words in text
    for text in (page, markdown):
        assert "<img src=x" not in text
    assert f'href="../a-and-b/{STAMP}/report/index.html"' in page
    assert f"(../a-and-b/{STAMP}.tar.xz)" in markdown
    assert "[claims-register.md](claims-register.md)" in markdown


@pytest.mark.parametrize(
    ("change", "named"),
    [({"schema_version": 2}, "$.schema_version"), ({"claims": {}}, "$.claims"), ({"speed": 1}, "$.speed")],
)
def test_a_register_that_is_none_is_refused_with_its_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Document, named: str
) -> None:
    _register(tmp_path, _claim(_comparison("headline", None)), measured=False)
    document = json.loads((tmp_path / "report" / "register.json").read_text(encoding="utf-8")) | change
    (tmp_path / "report" / "register.json").write_text(json.dumps(document), encoding="utf-8")
    assert main([str(tmp_path)]) == 2
    assert named in capsys.readouterr().err
    assert not (tmp_path / "report" / "index.html").exists()


def test_a_folder_without_a_register_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 2
    assert "register.json cannot be read" in capsys.readouterr().err
