"""Which conclusions hold in another place: the page comes from campaigns alone, and says where a
direction turned round, where nothing was shown, and where a size moved."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from builder import Document
from campaign_writer import write_campaign
from curve_documents import ROUNDS, TARGETS, CurveTarget, curve_campaign
from report.cli.transfer_command import main
from report.readme.transfer import BASE, CAMPAIGNS, PAGE

RATE = 1000
LOW = "1,000/s constant, up to 200 connections"
FULL = "50 connections"
GLIDE = "valkey-glide"

#: Faster than the reference, where it is slower on the base.
TURNED: Mapping[str, CurveTarget] = {
    **TARGETS,
    GLIDE: replace(TARGETS[GLIDE], most_per_second=9000),
}


def _with_node(documents: list[Document], version: str) -> None:
    for document in documents:
        document["versions"]["node"] = version


def _measure(
    results: Path,
    place: str,
    targets: Mapping[str, CurveTarget] = TARGETS,
    *,
    node: str = "20.20.2",
    seed: int = 1,
    cv: float = 0.005,
) -> None:
    document, runs = curve_campaign(targets, (RATE,), ROUNDS, seed=seed, cv=cv)
    _with_node(runs, node)
    write_campaign(results / CAMPAIGNS / place / "20260102_030405", document, runs)


def _page(results: Path, docs: Path) -> str:
    docs.mkdir(exist_ok=True)
    assert main(["--results", str(results), "--docs", str(docs)]) == 0
    return (docs / PAGE).read_text("utf-8")


def _sections(page: str) -> dict[str, list[dict[str, str]]]:
    """The rows of the table below each heading, by the names of columns."""
    sections = {}
    for part in page.split("\n## "):
        title, _, text = part.partition("\n")
        lines = [line for line in text.splitlines() if line.startswith("| ")]
        if lines:
            header, _, *rows = (
                [cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines
            )
            sections[title] = [dict(zip(header, row, strict=True)) for row in rows]
    return sections


def _cell(rows: list[dict[str, str]], target: str, load: str, figure: str) -> dict[str, str]:
    (row,) = (
        row
        for row in rows
        if (row["Target"], row["Load"], row["Figure"]) == (f"`{target}`", load, figure)
    )
    return row


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    _measure(folder, BASE)
    return folder


def test_a_direction_holds_turns_round_or_is_not_decided(results: Path, tmp_path: Path) -> None:
    _measure(results, "node-24", TURNED, node="24.21.0", seed=2)
    sections = _sections(_page(results, tmp_path / "docs"))
    rows = sections["Node.js 24.21.0 instead of 20.20.2"]
    glide = _cell(rows, GLIDE, FULL, "requests/s")
    assert "; slower, at least " in glide["Base"]
    assert "; faster, at least " in glide["There"]
    assert glide["Direction"] == "opposite"
    assert glide["There ÷ base"].endswith("; moved")
    iovalkey = _cell(rows, "iovalkey", LOW, "CPU of the server")
    assert "; worse, at least " in iovalkey["Base"]
    assert iovalkey["Direction"] == "holds"
    assert iovalkey["There ÷ base"].endswith("; not told apart")
    # The two have the same rate at full load.
    assert _cell(rows, "iovalkey", FULL, "requests/s")["Direction"] == "not decided"


def test_the_summary_counts_the_rows_of_each_table(results: Path, tmp_path: Path) -> None:
    _measure(results, "node-24", TURNED, node="24.21.0", seed=2)
    sections = _sections(_page(results, tmp_path / "docs"))
    for row in next(iter(sections.values())):
        table = sections[row["Changed"]]
        shown = [
            line for line in table if re.search("; (worse|slower|better|faster)", line["Base"])
        ]
        directions = [line["Direction"] for line in shown]
        assert int(row["Directions shown on the base"]) == len(shown)
        assert int(row["Hold"]) == directions.count("holds")
        assert int(row["Opposite"]) == directions.count("opposite")
        moved = sum(line["There ÷ base"].endswith("; moved") for line in table)
        assert row["Sizes that moved"] == f"{moved} of {len(table)}"


def test_a_rate_is_compared_with_full_load_on_the_base(results: Path, tmp_path: Path) -> None:
    rows = _sections(_page(results, tmp_path / "docs"))[f"Load {LOW} instead of full load"]
    assert {row["Target"] for row in rows} == {"`iovalkey`", f"`{GLIDE}`"}
    assert {(row["Load"], row["Figure"]) for row in rows} == {(FULL, "CPU of the server")}
    # A wake-up of valkey-glide costs twice that of the reference, and at full load hardly counts.
    glide = _cell(rows, GLIDE, FULL, "CPU of the server")
    assert glide["Direction"] == "holds"
    assert glide["There ÷ base"].endswith("; moved")


def test_rows_of_another_node_are_the_same_targets(results: Path, tmp_path: Path) -> None:
    document, runs = curve_campaign(TARGETS, (RATE,), ROUNDS, seed=2, cv=0.005)
    # As `--node PATH` names its targets.
    for configured in (
        *(entry["configuration"] for entry in document["plan"]["configurations"]),
        *(run["configuration"] for run in runs),
    ):
        target = configured["target"]
        if "node" not in target:
            target["label"] += "+node-24.21.0"
            target["node"] = "24.21.0"
    _with_node(runs, "24.21.0")
    write_campaign(results / CAMPAIGNS / "node-24" / "20260102_030405", document, runs)
    rows = _sections(_page(results, tmp_path / "docs"))["Node.js 24.21.0 instead of 20.20.2"]
    assert {row["Target"] for row in rows} == {"`iovalkey`", f"`{GLIDE}`"}


def test_without_a_base_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _measure(tmp_path, "node-24")
    assert main(["--results", str(tmp_path), "--docs", str(tmp_path)]) == 2
    assert BASE in capsys.readouterr().err
    assert not (tmp_path / PAGE).exists()
