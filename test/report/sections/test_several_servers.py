"""What several servers bring and cost, against the fewest of them."""

from collections.abc import Sequence
from typing import Any

import pytest

from builder import Document, configuration, result
from campaign_writer import manifest
from conftest import Build, analysis_of_results
from evidence import spread_evenly
from page_reader import read
from report.sections.section import Table
from report.sections.several_servers import several_servers
from report.statistics.run_samples import jain_index
from tables import by_column as cells_of

FACTORS = (0.99, 0.995, 1.0, 1.005, 1.01)


def with_answers(document: Document, answers: Sequence[int]) -> Document:
    for consumer, count in zip(document["consumers"], answers, strict=True):
        consumer["at_window_open"]["requests"] = 1_000
        consumer["at_end"]["requests"] = 1_000 + count
    return document


def runs_of(rate: int, servers: int, label: str = "iovalkey", **changes: Any) -> list[Document]:
    configured = configuration(label, servers=servers, **changes)
    documents = [
        result(configured, run, int(rate * factor)) for run, factor in enumerate(FACTORS, start=1)
    ]
    for document in documents:
        with_answers(document, spread_evenly(document["counts"]["sent"], servers))
        document["servers_ready_s"] = {f"server-{n}": 0.2 * n for n in range(1, servers + 1)}
    return documents


def manifest_of(results: list[Document]) -> Document:
    configurations = {each["configuration_hash"]: each["configuration"] for each in results}
    return manifest(list(configurations.values()), len(FACTORS))


def tables_of(*documents: Document) -> tuple[Table, ...]:
    section = several_servers(analysis_of_results(*documents))
    assert section
    return section.tables


def test_growth_is_compared_with_linear_growth() -> None:
    (table,) = tables_of(*runs_of(2000, 1), *runs_of(3000, 2), *runs_of(3600, 4))
    one, two, four = cells_of(table)
    assert [row["Servers"] for row in cells_of(table)] == ["1 server", "2 servers", "4 servers"]
    assert (one["Of linear"], one["Each added server"]) == ("–", "–")
    assert two["Of linear"].startswith("0.75×, ") and two["Of linear"].endswith(
        ", slower, at least 24 %"
    )
    assert four["Of linear"].startswith("0.45×, ")
    # The second brings half of the first; each of the next two 300 of 1500.
    assert two["Each added server"].startswith("0.50, ")
    assert four["Each added server"].startswith("0.20, ")
    # All servers together use 4 s of CPU.
    assert (two["Server CPU"], two["Server CPU to the fewest"][:6]) == ("267", "0.67×,")
    assert [column.unit for column in table.columns if column.name.endswith(" CPU")] == [
        "µs/request at full load",
        "µs/consume at full load",
    ]
    assert four["Limited by"] == "server loop"
    assert "from 1 server to 4: its throughput grows less than the servers" in table.caption


def test_fairness_and_start_are_those_of_the_servers() -> None:
    documents = [*runs_of(2000, 1), *runs_of(3000, 2)]
    for document in documents[5:]:
        with_answers(document, (3000, 1000))
    (table,) = tables_of(*documents)
    one, two = cells_of(table)
    assert (one["Fairness"], one["Fewest to most answers"]) == ("1.000", "1.000")
    assert (two["Fairness"], two["Fewest to most answers"]) == ("0.800", "0.333")
    assert (one["All ready after"], two["All ready after"]) == ("0.20", "0.40")


def test_a_cold_first_second_is_told() -> None:
    documents = [*runs_of(2000, 1), *runs_of(3000, 2)]
    for document in documents[5:]:
        document["slices"]["allowed"] = [60] * 10 + [120] * 40
        document["slices"]["limited"] = [0] * 50
    (table,) = tables_of(*documents)
    assert cells_of(table)[1]["First second"] == "0.50×"
    assert cells_of(table)[0]["First second"] == "1.00×"


def test_targets_and_loads_are_never_mixed() -> None:
    tables = tables_of(
        *runs_of(2000, 1),
        *runs_of(3000, 2),
        *runs_of(2000, 1, "ioredis"),
        *runs_of(3000, 2, "ioredis"),
        *runs_of(3000, 2, load={"model": "closed", "connections": 100}),
        *runs_of(3000, 2, "node-redis"),
    )
    assert [(table.title, len(table.rows)) for table in tables] == [
        ("ioredis, 50 connections", 2),
        ("iovalkey, 50 connections", 2),
    ]


def test_results_without_times_and_counts_have_gaps() -> None:
    documents = [*runs_of(2000, 1), *runs_of(3000, 2)]
    for document in documents:
        del document["servers_ready_s"]
        with_answers(document, [0] * len(document["consumers"]))
    (table,) = tables_of(*documents)
    assert {cells_of(table)[1][name] for name in ("Fairness", "All ready after")} == {"–"}


def test_one_number_of_servers_has_no_section(build: Build) -> None:
    documents = runs_of(2000, 2)
    outcome = build(manifest_of(documents), documents)
    assert "Several servers" not in outcome.page
    assert not (outcome.folder / "report" / "servers.csv").exists()


def test_page_csv_and_json_agree(build: Build) -> None:
    documents = [*runs_of(2000, 1), *runs_of(3000, 2)]
    outcome = build(manifest_of(documents), documents)
    assert outcome.code == 0
    assert "each of the 2 gives 0.75×" in read(outcome.page).text
    one, two = outcome.rows("servers.csv")
    assert (one["servers"], one["throughput_per_server_ratio"]) == ("1", "")
    assert (two["servers"], two["throughput_per_server_ratio"]) == ("2", "0.7500")
    assert (two["added_server_share"], two["fairness_index"]) == ("0.5000", "1.000000")
    (target,) = outcome.summary["several_servers"]
    step = target["steps"][1]
    assert step["throughput_per_server"]["ratio"] == pytest.approx(0.75)
    assert step["throughput_per_server"]["conclusion"] == "slower"
    assert step["servers_ready_s"] == [0.2, 0.4]
    assert sum(step["answers_by_server"]) == 15_000


@pytest.mark.parametrize(
    ("answers", "index"),
    [((5, 5, 5, 5), 1.0), ((8, 0), 0.5), ((3, 1), 0.8), ((0, 0), None), ((), None)],
)
def test_jain_index(answers: tuple[int, ...], index: float | None) -> None:
    assert jain_index(answers) == (None if index is None else pytest.approx(index))
