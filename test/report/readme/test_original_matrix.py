"""The original's matrix of results: its page and its lines in README.md come from the campaigns
alone."""

from pathlib import Path

import pytest

from builder import Document, configuration, hash_of, result
from campaign_writer import manifest, write_campaign
from report.cli.original_matrix_command import main
from report.readme.original_matrix import CAMPAIGNS, PAGE, README_LOADS
from report.readme.readme_blocks import BEGIN, END, MATRIX_BEGIN, MATRIX_END, readme

REFERENCE = "ioredis@valkey"
FASTER = "valkey-glide"
CLOSE = "iovalkey"
HEAVY: Document = {"id": "heavy", "complexity": 10}


def _wave(level: int, spread: float) -> list[int]:
    """Requests/s of ten runs, around a level."""
    return [level + round(level * spread * (3 * run % 5 - 2)) for run in range(10)]


def _configurations(label: str, topology: str, connections: int) -> Document:
    load = {"model": "closed", "connections": connections}
    text = f"{label}:{topology}" if topology == "cluster" else label
    return configuration(text, workload=HEAVY, traffic="denied", load=load)


def _measure(results: Path, day: int, topology: str, connections: int, glide: int = 5400) -> None:
    """valkey-glide differs from the reference; iovalkey's runs scatter too far to decide
    anything."""
    levels = {REFERENCE: (4000, 0.002), FASTER: (glide, 0.002), CLOSE: (4050, 0.2)}
    configurations = [_configurations(label, topology, connections) for label in levels]
    runs = [
        result(each, run, rate)
        for each, (level, spread) in zip(configurations, levels.values(), strict=True)
        for run, rate in enumerate(_wave(level, spread), start=1)
    ]
    document = manifest(configurations, 10, started_at=f"2026-01-{day:02d}T03:04:05.000Z")
    document["plan"]["references"] = [hash_of(configurations[0])]
    write_campaign(results / CAMPAIGNS / f"202601{day:02d}_030405", document, runs)


def _rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [line.strip("| ").split(" | ") for line in lines]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    _measure(tmp_path, 2, "cluster", 1000)
    _measure(tmp_path, 3, "standalone", 500, glide=2700)
    return tmp_path


def test_a_row_is_a_load_and_a_column_a_target_with_its_conclusion(results: Path) -> None:
    assert main(["--results", str(results)]) == 0
    head, _, standalone, cluster = _rows((results / PAGE).read_text("utf-8"))
    assert standalone[:3] == ["standalone", "heavy", "500"]
    assert cluster[:3] == ["cluster", "heavy", "1000"]
    cells = dict(zip(head, cluster, strict=True))
    assert cells["`ioredis@valkey`"].endswith("; reference")
    assert cells["`valkey-glide`"].startswith("5,4")
    assert cells["`valkey-glide`"].endswith("; faster, at least 34 %")
    assert "; not decided, at most " in cells["`iovalkey`"]
    assert "; slower, at least " in dict(zip(head, standalone, strict=True))["`valkey-glide`"]


def test_of_two_campaigns_of_a_load_the_later_one_is_shown(results: Path) -> None:
    _measure(results, 4, "cluster", 1000, glide=2700)
    assert main(["--results", str(results)]) == 0
    text = (results / PAGE).read_text("utf-8")
    assert "; faster" not in text
    assert text.count("2026-01-0") == 3


def test_the_readme_has_three_loads_where_it_has_a_place_for_them(results: Path) -> None:
    text = f"{BEGIN}\n{END}\n{MATRIX_BEGIN}\nold\n{MATRIX_END}\nafter\n"
    written = readme(text, results)
    between = written[written.index(MATRIX_BEGIN) : written.index(MATRIX_END)]
    _, _, *rows = _rows(between)
    assert [(row[0], row[1], int(row[2])) for row in rows] == list(README_LOADS)
    # Nobody measured it.
    assert set(rows[1][3:]) == {"–"}
    assert "old" not in between
    assert written.endswith("after\n")


def test_without_a_campaign_nothing_is_written(tmp_path: Path) -> None:
    assert main(["--results", str(tmp_path)]) == 2
    assert not (tmp_path / PAGE).exists()
