"""What limited runs stands in each row; where it was none of the target's own, the conclusion says
what throughput is then. The conclusion itself does not change."""

from collections.abc import Sequence
from typing import Any

import pytest

from builder import Document, configuration, result
from campaign_writer import manifest
from conftest import Build, analysis_of_results, summaries_of
from report.analysis.cells import cells
from report.cli.compare_command import main as compare
from report.sections.decision_table import decision_cells
from report.sections.ranking_text import sentence
from report.sections.recommendation import recommend
from report.sections.screen_text import screen_lines

STEADY = (0.997, 0.999, 1.0, 1.001, 1.003)
TOGETHER = "cost of all roles together"


def runs_of(
    label: str, rate: int, limits: Sequence[str] = ("host CPU",), **changes: Any
) -> list[Document]:
    """Five runs; the limits in turn."""
    documents = []
    for number, factor in enumerate(STEADY):
        resource = limits[number % len(limits)]
        limited_by = {"resource": resource, "text": f"{resource}, run {number + 1}"}
        documents.append(
            result(
                configuration(label, **changes),
                number + 1,
                int(rate * factor),
                limited_by=limited_by,
            )
        )
    return documents


def sentence_of(*documents: Document) -> str:
    (cell,) = cells(summaries_of(*documents))
    (ranking,) = cell.rankings
    return sentence(ranking)


def test_a_row_has_the_resource_that_most_of_its_runs_name() -> None:
    mixed = runs_of("iovalkey", 6000, ("host CPU", "none", "server loop", "host CPU", "host CPU"))
    none = runs_of("valkey-glide", 5000, ("none",))
    (cell,) = decision_cells(cells(summaries_of(*mixed, *none)))
    limits = {row.summary.identity.label: row.limit.text for row in cell.rows}
    assert limits == {"iovalkey": "host CPU (3 of 5 runs)", "valkey-glide": "none named"}


def test_a_row_of_which_few_runs_name_a_resource_is_limited_by_none() -> None:
    once = runs_of("iovalkey", 6000, ("none", "none", "none", "none", "host CPU"))
    (cell,) = decision_cells(cells(summaries_of(*once)))
    assert [row.limit.text for row in cell.rows] == ["none named (4 of 5 runs)"]


def test_every_form_of_the_report_has_it(build: Build) -> None:
    documents = [
        *runs_of("iovalkey", 6000),
        *runs_of("valkey-glide", 5000, ("server loop", "none")),
    ]
    outcome = build(
        manifest([documents[0]["configuration"], documents[-1]["configuration"]]), documents
    )
    assert [(row["limited_by"], row["limited_by_runs"]) for row in outcome.rows()] == [
        ("host CPU", "5"),
        ("server loop", "3"),
    ]
    limit = outcome.summary["configurations"][1]["limited_by"]
    assert limit == {
        "resource": "server loop",
        "text": "server loop, run 3",
        "runs": 3,
        "of_runs": 5,
    }
    markdown = outcome.text("summary.md")
    assert "Limited by" in markdown and "server loop (3 of 5 runs)" in markdown
    assert "server loop (3 of 5 runs)" in outcome.page
    assert [row["limited_by"] for row in outcome.rows("runs.csv")][-2:] == ["none", "server loop"]


def test_a_limit_that_is_not_the_targets_own_makes_throughput_the_cost_of_all_roles() -> None:
    limited = [*runs_of("iovalkey", 6000), *runs_of("valkey-glide", 5000)]
    documents = [
        *runs_of("iovalkey", 6000, ("store CPU",)),
        *runs_of("valkey-glide", 5000, ("server loop",)),
    ]
    text = sentence_of(*limited)
    assert f"The host's CPU was the limit, so throughput is the {TOGETHER}." in text
    assert TOGETHER not in sentence_of(*documents)
    # The rest of the sentence is the same: what was shown does not depend on it.
    assert text.replace(f" The host's CPU was the limit, so throughput is the {TOGETHER}.", "") == (
        sentence_of(*documents)
    )


@pytest.mark.parametrize(("limits", "said"), [(("none",), False), (("generator", "none"), True)])
def test_half_of_the_pairs_are_enough(limits: Sequence[str], said: bool) -> None:
    """Without pairs each run is compared with each of the other side: 3 of 5 runs are in 15 of 25
    pairs."""
    documents = [
        *runs_of("iovalkey", 6000, limits),
        *runs_of("valkey-glide", 5000, ("server loop",)),
    ]
    assert (TOGETHER in sentence_of(*documents)) is said


def test_the_client_is_ours_only_where_a_service_decides() -> None:
    def both(*labels: str) -> list[Document]:
        return [
            document
            for rate, label in zip((6000, 5000), labels, strict=True)
            for document in runs_of(label, rate, ("client",), layer="limiter")
        ]

    assert TOGETHER not in sentence_of(*both("iovalkey", "valkey-glide"))
    assert "The harness's own client was the limit" in sentence_of(
        *both("envoy-grpc", "envoy-http")
    )


def test_rows_that_alone_had_such_a_limit_are_named() -> None:
    documents = [
        *runs_of("iovalkey", 6000, ("server loop",)),
        *runs_of("ioredis@valkey", 5500, ("server loop",)),
        *runs_of("valkey-glide", 5000, ("generator",)),
    ]
    (cell,) = cells(summaries_of(*documents))
    (ranking,) = cell.rankings
    text = sentence(ranking)
    assert text.count(TOGETHER) == 1
    assert (
        "load generator" in text
        and "valkey-glide" in text.split("load generator")[0].split(". ")[-1]
    )


def test_a_comparison_says_it_too(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    documents = [*runs_of("iovalkey", 6000), *runs_of("valkey-glide", 5000)]
    planned = manifest([documents[0]["configuration"], documents[-1]["configuration"]], runs=5)
    folder = build(planned, documents).folder
    # The conclusion and the exit code are those of the ratio.
    assert compare([f"{folder}#iovalkey", f"{folder}#valkey-glide"]) == 6
    assert capsys.readouterr().out.count(TOGETHER) == 1


def test_the_first_sentence_and_the_console_say_it_once() -> None:
    analysis = analysis_of_results(*runs_of("iovalkey", 6000), *runs_of("valkey-glide", 5000))
    assert recommend(analysis).lead.count(TOGETHER) == 1
    lines = screen_lines(analysis)
    assert "Limited by host CPU: iovalkey, valkey-glide" in lines
    assert " ".join(lines).count(TOGETHER) == 1
    assert max(map(len, lines)) <= 80
