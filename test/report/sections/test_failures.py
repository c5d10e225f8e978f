"""The error analysis: which requests failed, in which runs, and what else was different there."""

from typing import Any

from builder import Document, configuration, result
from conftest import analysis_of_results
from report.sections.failed_requests import failures
from report.sections.section import Section
from tables import by_column


def failing(run: int, requests_per_second: int = 2000, **counts: Any) -> Document:
    """A run with so many failed requests: connection_errors, timed_out, and answers by code."""
    by_code = counts.get("by_code", {})
    document = result(configuration(), run, requests_per_second)
    total = counts.get("connection_errors", 0) + counts.get("timed_out", 0) + sum(by_code.values())
    document["counts"] = {
        **document["counts"],
        **counts,
        "sent": document["counts"]["sent"] + total,
        "failed_answers": sum(by_code.values()),
        "by_code": document["counts"]["by_code"] | by_code,
    }
    return document | {
        "errors": counts.get("connection_errors", 0),
        "timeouts": counts.get("timed_out", 0),
        "totalErrors": total,
    }


def failures_of(*documents: Document) -> Section:
    section = failures(analysis_of_results(*documents))
    assert section
    return section


def requests_of(section: Section) -> dict[str, tuple[str, str]]:
    """Requests and runs by kind."""
    return {row["Kind"]: (row["Requests"], row["Runs"]) for row in by_column(section.tables[0])}


def test_every_kind_is_counted_over_all_runs() -> None:
    section = failures_of(
        failing(1, connection_errors=3, by_code={"500": 2, "503": 5, "404": 1}),
        failing(2, timed_out=4, by_code={"502": 1}),
        result(configuration(), 3),
    )
    assert requests_of(section) == {
        "connection": ("3", "1"),
        "time-out": ("4", "1"),
        "5xx": ("8", "2"),
        "other status": ("1", "1"),
        "store": ("0", "0"),
    }
    assert section.answer.startswith("16 failed requests in 2 of 3 measured runs")


def test_no_error_is_said_and_no_row_is_shown() -> None:
    section = failures_of(result(configuration()))
    assert section.text[0].startswith(
        "No request failed in 1 measured run with 10,000 answered requests."
    )
    assert len(section.tables) == 1


def test_runs_with_errors_stand_beside_those_without() -> None:
    failed = failing(3, 3000, connection_errors=7)
    section = failures_of(
        result(configuration(), 1, 2000), result(configuration(), 2, 1000), failed
    )
    (row,) = section.tables[1].rows
    texts = [cell.text for cell in row.cells]
    # With errors 3,000; without the median of 1,000 and 2,000. One run has no ratio.
    place = texts.index("1 of 3")
    assert texts[place : place + 4] == ["1 of 3", "0 of 3", "3,000", "1,500"]


def test_store_failures_are_those_within_the_window() -> None:
    document = result(configuration())
    for moment, failed in (("at_start", 0), ("at_window_open", 2), ("at_end", 9)):
        consumes = {"calls": 2 + failed, "allowed": 1, "limited": 1, "failed": failed}
        document["consumers"][0][moment]["consumes"] = consumes
    document["consumers"][0]["consumes"] = {"calls": 7, "allowed": 0, "limited": 0, "failed": 7}
    assert requests_of(failures_of(document))["store"] == ("7", "1")
