"""The copy stands directly below its reference wherever that stands, and the latency at full load
only where the size of the group is told."""

import re

import pytest

from builder import Document, configuration, hash_of, result
from campaign_writer import manifest, write_campaign
from conftest import Outcome
from page_reader import Table, data_of, read, tables_of
from report.cli.generate_command import main

REFERENCE = "iovalkey"
FAST = "ioredis@valkey"
SLOW = "valkey-glide"
COPY = "iovalkey+copy"
RATES = {REFERENCE: 2000, FAST: 2400, SLOW: 1500, COPY: 2001, "none": 4000, "memory": 3900}
#: The reference is in both, so that it has two runs in a round.
GROUPS = ((REFERENCE, COPY, FAST, SLOW), (REFERENCE, "none", "memory"))
ROUNDS = 8


def by_turns() -> tuple[Document, list[Document]]:
    """Each round has a group of four targets, and one of the controls, in which the reference is
    slower."""
    configurations = {label: configuration(label) for label in RATES}
    document = manifest(list(configurations.values()), ROUNDS)
    document["plan"] |= {"order": "turns", "references": [hash_of(configurations[REFERENCE])]}
    runs = []
    results = []
    for number in range(1, ROUNDS + 1):
        for group, labels in enumerate(GROUPS, start=1):
            for label in labels:
                key = hash_of(configurations[label])
                run = number
                slower = 1.0
                if label == REFERENCE and group == 2:
                    run = number + ROUNDS
                    slower = 0.8
                file = f"{key}_run{run}.json"
                runs.append(
                    {
                        "configuration_hash": key,
                        "run": run,
                        "file": file,
                        "round": number,
                        "group": group,
                    }
                )
                rate = int(slower * RATES[label]) + 3 * (number % 3)
                results.append(result(configurations[label], run, rate))
    document["plan"]["runs"] = runs
    return document, results


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """One report for all of these tests."""
    folder = tmp_path_factory.mktemp("copies") / "campaign"
    write_campaign(folder, *by_turns())
    return Outcome(main([str(folder), "--images"]), "", "", folder)


def table(outcome: Outcome, table_id: str) -> Table:
    (matching,) = [
        page_table for page_table in tables_of(outcome.page) if page_table.id == table_id
    ]
    return matching


def after(names: list[str], reference: str = REFERENCE) -> str:
    return names[names.index(reference) + 1]


TABLES = ("decision", "decision-cpu-rows", "limiter-cost-rows", "table1")


@pytest.mark.parametrize("table_id", TABLES)
def test_in_tables_of_the_page(outcome: Outcome, table_id: str) -> None:
    names = [row[0] for row in table(outcome, table_id).rows]
    assert after(names) == COPY


def test_in_pictures_markdown_and_console(outcome: Outcome) -> None:
    labels = re.findall(
        r'forest-label">(.*?)</span>\s*<span class="forest-axis', outcome.page, re.S
    )
    assert after([re.sub(r"<[^>]*>|\s", "", label) for label in labels if label]) == COPY
    markdown = [
        line.split("`")[1]
        for line in outcome.text("summary.md").splitlines()
        if line[:3] in ("| `", "| *")
    ]
    assert after(markdown) == COPY
    assert markdown.count(COPY) == 1
    screen = [
        words[0]
        for line in outcome.summary["recommendation"]["screen"]
        if (words := line.split()) and words[0] in RATES
    ]
    assert screen.count(COPY) == 2
    for part in (screen[: len(screen) // 2], screen[len(screen) // 2 :]):
        assert after(part) == COPY


@pytest.mark.parametrize("chart", ["throughput", "latency", "cpu", "memory", "limited", "ceiling"])
def test_in_charts_of_rows(outcome: Outcome, chart: str) -> None:
    data = data_of(read(outcome.page))
    categories = data["figures"][chart]["layout"]["meta"]["categories"]
    assert after([category["text"] for category in categories]) == COPY


@pytest.mark.parametrize("name", ["throughput-cell1", "latency-cell1", "answer-1"])
def test_in_images(outcome: Outcome, name: str) -> None:
    labels = re.findall(r'text-anchor="end">([^<]*)<', outcome.text(f"images/{name}.svg"))
    assert after(labels) == COPY


def test_it_is_named_a_copy_and_is_in_no_ranking(outcome: Outcome) -> None:
    decision = table(outcome, "decision")
    (copy,) = [row for row in decision.rows if row[0] == COPY]
    assert copy[-1].startswith("its copy no difference, at most 1 % slower")
    (ranked,) = [
        conclusion
        for conclusion in outcome.summary["conclusions"]
        if conclusion["reference"] == REFERENCE
    ]
    assert COPY not in {pair["new"] for pair in ranked["comparisons"]}


def test_p99_at_full_load_is_printed_with_the_size_of_the_group_alone(outcome: Outcome) -> None:
    assert [head for head in table(outcome, "decision").heads if "p99" in head] == []
    first = outcome.text("summary.md").split("<!-- details -->")[0]
    assert "p99" not in first
    assert "p99" not in "\n".join(outcome.summary["recommendation"]["screen"])
    for page_table in tables_of(outcome.page):
        latencies = [head for head in page_table.heads if head.startswith("p99")]
        if latencies:
            assert "Group targets" in page_table.heads, page_table.id
            # The list of runs has those of open loops too, and their load beside them.
            assert page_table.id == "run-rows" or all("at full load" in head for head in latencies)


def test_rows_of_groups_of_different_sizes_are_apart(outcome: Outcome) -> None:
    """A row that was in both has the figures of its runs in each."""
    latencies = table(outcome, "cell1-latency")
    headings = [index for index, row in enumerate(latencies.rows) if len(row) == 1]
    assert [latencies.rows[index] for index in headings] == [
        ["In groups of 3 targets"],
        ["In groups of 4 targets"],
    ]
    threes, fours = (
        {row[0].split()[0]: row for row in rows}
        for rows in (
            latencies.rows[headings[0] + 1 : headings[1]],
            latencies.rows[headings[1] + 1 :],
        )
    )
    assert (set(threes), set(fours)) == (set(GROUPS[1]), set(GROUPS[0]))
    assert after(list(fours)) == COPY
    size = latencies.heads.index("Group targets")
    p99 = latencies.heads.index("p99 ms at full load")
    assert {row[size] for row in threes.values()} == {"3"} and {
        row[size] for row in fours.values()
    } == {"4"}
    in_three, in_four = (float(rows[REFERENCE][p99][:5]) for rows in (threes, fours))
    assert in_three > 1.2 * in_four
    whole = table(outcome, "table1")
    (row,) = [row for row in whole.rows if row[0] == REFERENCE]
    assert row[whole.heads.index("Group targets")] == "3 or 4"


def test_an_export_has_no_series_of_a_copy(outcome: Outcome) -> None:
    for way in ("bigger", "smaller"):
        text = outcome.text(f"benchmark-{way}-is-better.json")
        assert REFERENCE in text and COPY not in text
