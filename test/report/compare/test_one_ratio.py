"""Golden: one estimate of a ratio for a pair of rows, wherever one is printed (M28)."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from statistics import median

import pytest

from builder import Document, configuration, result
from campaign_folders import add_campaign
from campaign_writer import manifest
from conftest import Build
from report.campaigns.build import build_report
from report.cli.compare_command import main as compare

#: Skewed runs: the ratio of medians is 0.75 in the one pair and 1.00 in the other, the estimate is
#: neither.
RUNS = {
    "iovalkey": (1000, 1000, 1000, 1300, 1330),
    "valkey-glide": (700, 720, 750, 760, 770),
    "ioredis@valkey": (830, 850, 999, 1001, 1002),
    "none": (2000, 2010, 2020, 2030, 2040),
}
CPU = {"iovalkey": 60, "valkey-glide": 108, "ioredis@valkey": 70, "none": 30}


def campaign() -> tuple[Document, list[Document]]:
    configurations = [configuration(label) for label in RUNS]
    results = []
    for configured, (label, rates) in zip(configurations, RUNS.items(), strict=True):
        for run, rate in enumerate(rates, start=1):
            document = result(configured, run, rate)
            document["resources"]["server-1"]["cpu_us_per_request"] = CPU[label] * (
                1 + run * run / 100
            )
            results.append(document)
    return manifest(configurations, 5), results


def ratios(text: str) -> set[str]:
    return set(re.findall(r"\d+\.\d\d(?=×| times)", text))


def estimates(documents: Iterable[Document]) -> dict[tuple[str, str], str]:
    """By base and new."""
    return {
        (comparison["base"], comparison["new"]): f"{comparison['ratio']:.2f}"
        for comparison in documents
    }


def printed_rows(page: str, table: str, column: int, word: int = 0) -> dict[str, str]:
    """The words at one place of a column of a table of the page, by client."""
    body = page[page.index(f'id="{table}"') :]
    body = body[: body.index("</table>")]
    ratios_by_name = {}
    for row in re.findall(r"<tr data-row.*?</tr>", body, re.S):
        label = re.search(r'<th scope="row".*?</th>', row, re.S)
        cells = re.findall(r"<td.*?</td>", row, re.S)
        plain = [re.sub(r"<[^>]*>", " ", text).split() for text in cells]
        name = re.sub(r"<[^>]*>", "", label[0] if label else "").replace("\u200b", "").strip()
        ratios_by_name[re.sub(r"^\d+\.\s*|\s*\(best\)", "", name)] = (
            plain[column][word] if len(plain[column]) > word else ""
        )
    return ratios_by_name


def test_no_two_ratios_for_one_pair(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = build(*campaign())
    assert outcome.code == 0, outcome.err
    (conclusion,) = outcome.summary["conclusions"]
    by_rate = estimates(conclusion["comparisons"])
    by_cpu = estimates(conclusion["server_cpu_comparisons"])
    assert all(comparison["ratio_of_medians"] is None for comparison in conclusion["comparisons"])

    # The estimate is none of the quotients of printed figures.
    middle = {label: median(rates) for label, rates in RUNS.items()}
    for (base, new), ratio in by_rate.items():
        if base == "iovalkey":
            assert ratio != f"{middle[new] / middle[base]:.2f}"

    # The first screen and the table of all figures.
    first = {new: ratio for (base, new), ratio in by_rate.items() if base == "iovalkey"}
    first_cpu = {new: ratio for (base, new), ratio in by_cpu.items() if base == "iovalkey"}
    texts = re.findall(
        r'forest-label">(.*?)</span>\s*<span class="forest-axis.*?forest-text">(.*?)</span>',
        outcome.page,
        re.S,
    )
    forest = {re.sub(r"<[^>]*>|\s", "", label): text for label, text in texts}
    decision_cpu = printed_rows(outcome.page, "decision", 1, word=3)
    figures = printed_rows(outcome.page, "table1", 6)
    text = outcome.text("summary.md")
    for label, ratio in first.items():
        assert forest[label].startswith(f"{ratio}× ")
        assert figures[label] == f"{ratio}×,"
        assert decision_cpu[label] == f"{first_cpu[label]}×,"
        (line,) = [
            line for line in text.splitlines() if line.startswith("|") and f"`{label}`" in line
        ]
        assert f"| {ratio}×, " in line and f"| {first_cpu[label]}×, " in line
    assert figures["iovalkey"] == "–"

    # Sentences, of page and Markdown: nothing but these ratios, and ends of their intervals.
    bounds = set(by_rate.values()) | set(by_cpu.values())
    for comparison in (*conclusion["comparisons"], *conclusion["server_cpu_comparisons"]):
        bounds |= {f"{comparison['interval'][end]:.2f}" for end in ("low", "high")}
    assert ratios(conclusion["sentence"]) <= bounds
    assert ratios(text) <= bounds

    # `compare`, of the same campaign.
    for label, ratio in first.items():
        compare(
            [
                "iovalkey",
                label,
                "--campaign",
                str(outcome.folder),
                "--format",
                "json",
                "--allow",
                "script",
            ]
        )
        (row,) = json.loads(capsys.readouterr().out)["comparisons"]
        assert f"{row['ratio']:.2f}" == ratio
        assert row["ratio_of_medians"] is None
        assert row["base"]["median"] == middle["iovalkey"]

    # The CSV has the same ratio, beside medians over the runs.
    rows = {row["Client"]: row for row in outcome.rows()}
    assert float(rows["valkey-glide"]["ReqPerSec"]) == middle["valkey-glide"]
    in_csv = {label: rows[label] for label in first}
    assert {label: f"{float(row['ratio']):.2f}" for label, row in in_csv.items()} == first
    assert {row["ratio_to"] for row in in_csv.values()} == {"iovalkey"}
    assert rows["iovalkey"]["ratio"] == ""


def test_campaigns_side_by_side_have_the_ratio_of_compare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = add_campaign(tmp_path, 1, {"iovalkey": RUNS["iovalkey"]})
    second = add_campaign(tmp_path, 2, {"iovalkey": RUNS["ioredis@valkey"]})
    assert build_report(tmp_path, baseline=first.name) == 0
    capsys.readouterr()
    rows = json.loads((tmp_path / "report" / "compare.json").read_text())["rows"]
    ratio = {row["campaign"]: row["requests_per_second_to_baseline"] for row in rows}[second.name]
    compare([str(first), str(second), "--format", "json", "--fail-on", "never"])
    (row,) = json.loads(capsys.readouterr().out)["comparisons"]
    assert ratio == pytest.approx(row["ratio"])
    # Highest ÷ lowest is the same pair.
    (spread,) = {row["highest_to_lowest"] for row in rows}
    assert max(spread, 1 / spread) == pytest.approx(max(ratio, 1 / ratio))
