"""The picture of the first screen: what is left of 1 is worse, and one row never squeezes the others."""

from pathlib import Path
from typing import Any

import pytest

from builder import Document, configuration, result
from campaign_writer import manifest, write_campaign
from conftest import Build, analysis_of_results
from report.analysis.campaign_analysis import analyse
from report.results.load import load_campaign
from report.sections.first_screen import SHAPES, WIDTH, Forest, cost_of, forest_lines, forests, screen_lines

STEADY = (0.997, 0.999, 1.0, 1.001, 1.003)
WIDE = (1.0, 0.95, 1.05, 0.97, 1.02)


def runs_of(label: str, rate: int, factors: tuple[float, ...] = STEADY, **changes: Any) -> list[Document]:
    return [
        result(configuration(label, **changes), run, int(rate * factor))
        for run, factor in enumerate(factors, start=1)
    ]


def forest_of(*results: Document) -> Forest:
    (found,) = forests(analysis_of_results(*results))
    return found


def test_rows_stand_by_their_ratio_and_are_told_by_shape_and_word() -> None:
    tied = (*runs_of("iovalkey", 6000, WIDE), *runs_of("ioredis@valkey", 5990, WIDE))
    found = forest_of(*tied, *runs_of("valkey-glide", 3000))
    by_label = {row.label: row for row in found.rows}
    base, open_row, slower = (by_label[name] for name in ("iovalkey", "ioredis@valkey", "valkey-glide"))
    assert base.at == found.one
    assert slower.low is not None and slower.at is not None and slower.high is not None
    assert 0 <= slower.low <= slower.at <= slower.high < found.floor[0]
    assert (slower.status, slower.shape) == ("slower", SHAPES["slower"])
    assert (open_row.status, open_row.shape) == ("not decided", SHAPES["not decided"])
    assert found.floor[0] < found.one < found.floor[1]


def test_an_outlier_is_cut_and_its_value_is_written() -> None:
    found = forest_of(
        *runs_of("iovalkey", 6000), *runs_of("ioredis@valkey", 5400), *runs_of("valkey-glide", 60)
    )
    far, near = found.rows[-1], found.rows[1]
    assert (far.cut_low, near.cut_low, near.cut_high) == (True, False, False)
    assert far.at == 0
    assert far.text.startswith("0.01×")
    # A tenth less is still told apart by the eye.
    assert near.at is not None and found.one - near.at > 3


def test_the_copy_of_the_reference_gives_the_resolution(tmp_path: Path) -> None:
    labels = ("ioredis@valkey", "ioredis@valkey+copy", "iovalkey")
    rates = (WIDE, WIDE[::-1], STEADY)
    runs = [runs_of(label, 5000, factors) for label, factors in zip(labels, rates, strict=True)]
    document = manifest([configuration(label) for label in labels], 5)
    document["plan"]["references"] = [runs[0][0]["configuration_hash"]]
    write_campaign(tmp_path / "c", document, [each for own in runs for each in own])
    (found,) = forests(analyse(load_campaign(tmp_path / "c")))
    copy = next(row for row in found.rows if row.label.endswith("+copy"))
    assert found.resolution and copy.low is not None and copy.high is not None
    assert found.resolution == (copy.low, copy.high)
    assert found.resolution[0] < found.one < found.resolution[1]


def test_text_forms_fit_80_columns() -> None:
    analysis = analysis_of_results(
        *runs_of("iovalkey+autopipelining+same-script", 6000, WIDE),
        *runs_of("ioredis@valkey+autopipelining+same-script", 5000, WIDE),
        *runs_of("none", 9000),
    )
    lines = screen_lines(analysis)
    assert max(map(len, lines)) <= WIDTH
    text = "\n".join(lines)
    for part in ("iovalkey+auto", "none", "requests/s", "slower"):
        assert part in text
    (found,) = forests(analysis)
    assert len(list(forest_lines(found))) == 2


def test_a_long_name_is_cut_and_no_conclusion(tmp_path: Path) -> None:
    labels = [f"{client}+autopipelining+same-script" for client in ("ioredis@valkey", "iovalkey")]
    runs = [runs_of(label, 5000, STEADY) for label in labels]
    document = manifest([configuration(label) for label in labels], 5)
    document["plan"]["references"] = [runs[0][0]["configuration_hash"]]
    write_campaign(tmp_path / "c", document, [each for own in runs for each in own])
    analysis = analyse(load_campaign(tmp_path / "c"))
    lines = screen_lines(analysis)
    assert max(map(len, lines)) <= WIDTH
    # The end of a name tells versions apart; a text of no fixed width has it whole.
    rows = [line for line in lines if line.endswith(("reference", "no difference"))][-2:]
    assert rows[0].startswith("ioredis@va") and "…" in rows[0] and "-script  " in rows[0]
    assert labels[0] in "\n".join(forest_lines(forests(analysis)[0]))
    assert [line.split("  ")[-1] for line in rows] == ["reference", "no difference"]


def test_cost_is_cpu_time_at_the_readers_rate(build: Build) -> None:
    documents = [*runs_of("iovalkey", 6000), *runs_of("ioredis@valkey", 5000)]
    for document in documents:
        document["resources"]["server-1"]["cpu_us_per_request"] = 48
    found = cost_of(analysis_of_results(*documents))
    assert found
    assert [found.share(cpu_us) for _, cpu_us in found.rows] == ["4.8 %", "4.8 %"]
    plan = manifest([configuration("iovalkey"), configuration("ioredis@valkey")], 5)
    outcome = build(plan, documents, "--output-format", "all", "--at-rate", "500", "--csv", "long")
    assert outcome.code == 0, outcome.err
    report = outcome.folder / "report"
    assert "At 500 requests/s: iovalkey 2.4 %" in (report / "summary.md").read_text()
    assert 'value="500"' in outcome.page
    lines = (report / "figures.csv").read_text().splitlines()
    assert any(",cpu_per_request,us,48.000," in line for line in lines)


def test_a_rate_that_is_none_is_refused(build: Build) -> None:
    with pytest.raises(SystemExit) as refused:
        build(None, [result(configuration())], "--at-rate", "0")
    assert refused.value.code == 2
