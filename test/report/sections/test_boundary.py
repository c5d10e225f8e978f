"""Promises of limiters: the worst of the runs, on the page and in the files."""

from typing import Any

from boundary_documents import boundary
from builder import Document, configuration, result
from conftest import Build


def built(build: Build, *runs: tuple[str, Document, str]) -> Any:
    numbers: dict[str, int] = {}
    documents = []
    for label, record, outcome in runs:
        numbers[label] = numbers.get(label, 0) + 1
        documents.append(
            result(
                configuration(label, traffic="boundary"),
                numbers[label],
                outcome=outcome,
                outcome_text="the limiter did not keep its promise"
                if outcome == "failed"
                else None,
                boundary=record,
                prediction=None,
            )
        )
    return build(None, documents)


def test_the_worst_run_of_each_promise_is_shown_also_of_a_target_that_failed_by_it(
    build: Build,
) -> None:
    outcome = built(
        build,
        ("iovalkey", boundary(1.9, 1), "served"),
        ("iovalkey", boundary(1.95, 0.5), "served"),
        ("ioredis", boundary(3.25), "failed"),
    )
    rows = outcome.rows()
    by_client = {row["Client"].split("@")[0]: row for row in rows}
    assert by_client["iovalkey"]["burst_quotas"] == "1.950"
    assert by_client["iovalkey"]["promises_broken"] == "retry-after-admits"
    assert by_client["ioredis"]["promises_broken"] == "burst over-admission"
    assert by_client["ioredis"]["over_admitted"] == "7"

    documents = outcome.summary["configurations"]
    by_label = {document["label"]: document["promises"] for document in documents}
    assert by_label["iovalkey"][2] == {
        "id": "retry-after-admits",
        "promised": 1,
        "seen": 0.5,
        "unit": "share",
        "runs": 2,
        "held_runs": 1,
    }

    markdown = outcome.text("summary.md")
    assert "| at most 2.00 quotas | 3.25 quotas | ✗ does not hold |" in markdown
    assert "| 100 % | 50 % | ✗ does not hold in 1 of 2 runs |" in markdown
    assert "What limiters promise, and what was seen" in outcome.page
