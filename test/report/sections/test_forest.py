"""The picture of the first screen: what is left of 1 is worse, and one row never squeezes the
others."""

import re
from pathlib import Path
from typing import Any

import pytest

from builder import Document, configuration, result, target, verdict
from campaign_writer import manifest, write_campaign
from conftest import analysis_of_results
from report.analysis.campaign_analysis import analyse
from report.base.format import cut_labels
from report.export.images import images
from report.results.load import load_campaign
from report.sections.forest import SHAPES, Forest, forests
from report.sections.screen_text import WIDTH, forest_lines, screen_lines

STEADY = (0.997, 0.999, 1.0, 1.001, 1.003)
WIDE = (1.0, 0.95, 1.05, 0.97, 1.02)


def runs_of(
    label: str, rate: int, factors: tuple[float, ...] = STEADY, **changes: Any
) -> list[Document]:
    return [
        result(configuration(label, **changes), run, int(rate * factor))
        for run, factor in enumerate(factors, start=1)
    ]


def forest_of(*results: Document) -> Forest:
    (forest,) = forests(analysis_of_results(*results))
    return forest


def test_rows_stand_by_their_ratio_and_are_told_by_shape_and_word() -> None:
    tied = (*runs_of("iovalkey", 6000, WIDE), *runs_of("ioredis@valkey", 5990, WIDE))
    forest = forest_of(*tied, *runs_of("valkey-glide", 3000))
    by_label = {row.label: row for row in forest.rows}
    base, open_row, slower = (
        by_label[name] for name in ("iovalkey", "ioredis@valkey", "valkey-glide")
    )
    assert base.at == forest.one
    assert slower.low is not None and slower.at is not None and slower.high is not None
    assert 0 <= slower.low <= slower.at <= slower.high < forest.margin[0]
    assert (slower.status, slower.shape) == ("slower", SHAPES["slower"])
    assert (open_row.status, open_row.shape) == ("not decided", SHAPES["not decided"])
    assert forest.margin[0] < forest.one < forest.margin[1]


def test_an_outlier_is_cut_and_its_value_is_written() -> None:
    forest = forest_of(
        *runs_of("iovalkey", 6000), *runs_of("ioredis@valkey", 5400), *runs_of("valkey-glide", 60)
    )
    far = forest.rows[-1]
    near = forest.rows[1]
    assert (far.cut_low, near.cut_low, near.cut_high) == (True, False, False)
    assert far.at == 0
    assert far.text.startswith("0.01×")
    # A tenth less is still told apart by the eye.
    assert near.at is not None and forest.one - near.at > 3


def test_the_copy_of_the_reference_gives_the_resolution(tmp_path: Path) -> None:
    labels = ("ioredis@valkey", "ioredis@valkey+copy", "iovalkey")
    rates = (WIDE, WIDE[::-1], STEADY)
    runs = [runs_of(label, 5000, factors) for label, factors in zip(labels, rates, strict=True)]
    document = manifest([configuration(label) for label in labels], 5)
    document["plan"]["references"] = [runs[0][0]["configuration_hash"]]
    write_campaign(
        tmp_path / "c", document, [run for runs_of_target in runs for run in runs_of_target]
    )
    (forest,) = forests(analyse(load_campaign(tmp_path / "c")))
    copy = next(row for row in forest.rows if row.label.endswith("+copy"))
    assert forest.resolution and copy.low is not None and copy.high is not None
    assert forest.resolution == (copy.low, copy.high)
    assert forest.resolution[0] < forest.one < forest.resolution[1]


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
    (forest,) = forests(analysis)
    assert len(list(forest_lines(forest))) == 2


def test_a_long_name_is_cut_and_no_conclusion(tmp_path: Path) -> None:
    labels = [f"{client}+autopipelining+same-script" for client in ("ioredis@valkey", "iovalkey")]
    runs = [runs_of(label, 5000, STEADY) for label in labels]
    document = manifest([configuration(label) for label in labels], 5)
    document["plan"]["references"] = [runs[0][0]["configuration_hash"]]
    write_campaign(
        tmp_path / "c", document, [run for runs_of_target in runs for run in runs_of_target]
    )
    analysis = analyse(load_campaign(tmp_path / "c"))
    lines = screen_lines(analysis)
    assert max(map(len, lines)) <= WIDTH
    # The end of a name tells versions apart; a text of no fixed width has it whole.
    rows = [line for line in lines if "…" in line and "µs" not in line][-2:]
    assert rows[0].startswith("ioredis@va") and "-script  " in rows[0]
    assert labels[0] in "\n".join(forest_lines(forests(analysis)[0]))
    assert [line.split("  ")[-1] for line in rows] == ["reference", "no difference"]


def without_p99(label: str) -> list[Document]:
    load = {"model": "open", "rate_per_second": 500, "arrivals": "constant", "connections": 50}
    return [result(configuration(label, load=load), run, 500 + run) for run in range(1, 7)]


def test_a_row_without_a_ratio_has_no_place() -> None:
    broken = verdict("invalid", ("M8", "3 answers are not accounted for"))
    invalid = [
        result(configuration("valkey-glide"), run, 3000, verdict=broken) for run in range(1, 6)
    ]
    forest = forest_of(*runs_of("iovalkey", 6000), *runs_of("ioredis@valkey", 5000), *invalid)
    by_label = {row.label: row for row in forest.rows}
    assert by_label["iovalkey"].at == forest.one
    assert by_label["valkey-glide"].at is None
    assert "3 answers are not accounted for" in by_label["valkey-glide"].text
    (line,) = [line for line in forest_lines(forest, WIDTH) if line.startswith("valkey-glide")]
    assert not set("◆○▶◀■") & set(line)


def test_where_no_row_has_a_ratio_nothing_is_drawn() -> None:
    """Rule M18: 500/s give too few samples for a p99, so nothing is compared by it."""
    analysis = analysis_of_results(*without_p99("iovalkey"), *without_p99("ioredis@valkey"))
    assert forests(analysis) == ()
    assert [name for name in images(analysis)[0] if name.startswith("answer")] == []
    assert "◆" not in "\n".join(screen_lines(analysis))


#: They differ in their middle alone, where a long name is cut.
LONG = tuple(
    f"ioredis@valkey+autopipelining+pipeline-{part}us+offline-queue+same-script"
    for part in (10, 25, 75)
)


@pytest.mark.parametrize("width", [16, 24, 28, 38, 50])
def test_cut_names_stay_distinct(width: int) -> None:
    cut = cut_labels(LONG, width)
    assert len(set(cut.values())) == len(LONG)
    assert max(map(len, cut.values())) <= width
    assert cut_labels(["iovalkey", *LONG], width)["iovalkey"] == "iovalkey"


def test_no_place_of_the_cut_tells_apart_what_differs_in_many_places() -> None:
    names = [f"{'a' * 30}{middle}{'z' * 30}" for middle in ("1", "2", "3")]
    assert len(set(cut_labels(names, 20).values())) == 3


def test_two_rows_share_no_cut_name_in_console_and_images() -> None:
    targets = [
        target("ioredis@valkey+autopipelining+same-script") | {"label": label} for label in LONG
    ]
    analysis = analysis_of_results(
        *(
            run
            for number, long in enumerate(targets)
            for run in runs_of("ioredis", 5000 - 900 * number, target=long)
        )
    )
    drawn = re.findall(r'text-anchor="end">([^<]*…[^<]*)<', images(analysis)[0]["answer-1.svg"])
    assert len(set(drawn)) == len(LONG)
    screen = [line.split()[0] for line in screen_lines(analysis) if "…" in line]
    assert (len(screen), len(set(screen[:3])), len(set(screen[3:]))) == (6, 3, 3)


def test_the_image_names_the_ranking_of_rows_of_one_name() -> None:
    heavy: dict[str, Any] = {"workload": {"id": "heavy", "complexity": 1000}}
    documents = [
        run
        for load in ({}, heavy)
        for label, rate in (("iovalkey", 3000), ("ioredis@valkey", 2000))
        for run in runs_of(label, rate, **load)
    ]
    image = images(analysis_of_results(*documents))[0]["answer-1.svg"]
    assert image.count('text-anchor="end">iovalkey<') == 2
    assert image.index("Light") < image.index("Heavy")
