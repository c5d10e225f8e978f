"""What the stores counted, and stores that the user already ran."""

import pytest

from builder import Document, configuration, result
from campaign_writer import manifest
from conftest import Build, ranks_of, summaries_of
from evidence import REDIS_SHA1, calls_of, reading
from report.analysis.cells import cells
from report.base.errors import FieldError
from report.results.convert import run_of
from report.results.validate import validate_result
from report.sections.environment import script_calls
from report.sections.script_text import calls_text


def with_nodes(*readings: tuple[Document, Document], run: int = 1) -> Document:
    """A run with with a store node for each pair of counters at start and end."""
    document = result(configuration("node-redis:cluster"), run)
    document["store"]["nodes"] = [
        {"role": f"store-{n}", "at_start": reading(start), "at_end": reading(end)}
        for n, (start, end) in enumerate(readings, start=1)
    ]
    return document


def calls(document: Document) -> dict[str, int] | None:
    measured = run_of(validate_result(document), "a.json").measured
    assert measured
    return None if measured.script_calls is None else dict(measured.script_calls)


def test_calls_that_ran_are_those_of_all_nodes_less_what_was_before_and_what_failed() -> None:
    document = with_nodes(
        ({}, calls_of({"eval": 1000}, failed=3)),
        (
            calls_of({"eval": 100, "fcall": 5}, failed=1),
            calls_of({"eval": 700, "fcall": 5}, failed=1),
        ),
    )
    assert calls(document) == {"eval": 997 + 600}


def test_counter_that_went_back_proves_nothing() -> None:
    assert calls(with_nodes((calls_of({"eval": 100}), calls_of({"eval": 99})))) is None
    assert calls(with_nodes((calls_of({"eval": 100}), {}))) is None


def test_calls_in_words() -> None:
    assert calls_text({"eval": 1, "evalsha": 123_456}) == "evalsha 123,456; eval 1"


def test_proof_is_over_all_runs_of_a_configuration(build: Build) -> None:
    lost = with_nodes((calls_of({"eval": 100}), {}), run=3)
    results = [
        with_nodes(({}, calls_of({"eval": 1000})), run=1),
        with_nodes(({}, calls_of({"eval": 500, "evalsha": 1})), run=2),
        lost,
    ]
    table = script_calls(summaries_of(*results, result(configuration("none"))))
    assert table
    (row,) = table.rows
    texts = ["2 of 3", "eval 1,500; evalsha 1", f"EVAL {REDIS_SHA1}"]
    assert [cell.text for cell in row.cells[-3:]] == texts
    assert "eval 1,500; evalsha 1" in build(None, results).page
    table = script_calls(summaries_of(lost))
    assert table
    assert [cell.text for cell in table.rows[0].cells[-3:-1]] == [
        "0 of 1",
        "not known: no counters, or they went back",
    ]


def test_csv_names_script_options_and_whose_store(build: Build) -> None:
    labels = ["iovalkey+autopipelining+same-script", "valkey-glide", "none"]
    outcome = build(None, [result(configuration(label)) for label in labels])
    columns = ("Client", "store_external", "limiter_script_kind", "limiter_script", "options")
    rows = [tuple(row[name] for name in columns) for row in outcome.rows()]
    assert rows == [
        (labels[0], "false", "evalsha", REDIS_SHA1, "autopipelining same-script"),
        ("valkey-glide", "false", "fcall", "consume", ""),
        ("none", "", "", "", ""),
    ]


EXTERNAL = configuration("iovalkey", external_store=True)


def test_store_that_already_ran_is_never_ranked_with_one_of_ours() -> None:
    (cell,) = cells(
        summaries_of(result(EXTERNAL, 1, 9000), result(configuration("iovalkey"), 1, 1000))
    )
    assert [ranks_of(ranking) for ranking in cell.rankings] == [[None], [None]]
    assert cell.stores_differ


def test_store_that_already_ran_is_said_to(build: Build) -> None:
    other = configuration("valkey-glide", external_store=True)
    document = manifest([EXTERNAL, other], 1)
    document["stores"]["valkey"] = {
        "path": "already running",
        "version": "9.1.2",
        "embedded": False,
    }
    outcome = build(document, [result(EXTERNAL), result(other)])
    page = outcome.page
    assert "The store valkey already ran before this campaign. It was not emptied" in page
    assert "9.1.2, already ran, not emptied" in page
    assert "On valkey 9.1.2 (already ran), each client&#39;s own script" in page
    assert "counts the calls of its other users too" in page
    assert {row["store_external"] for row in outcome.rows()} == {"true"}


def test_store_and_configuration_must_agree_on_whose_store_it_is() -> None:
    document = result(configuration("iovalkey"))
    document["store"]["external"] = True
    with pytest.raises(
        FieldError, match=r"store\.external is true, but .* is not one that already ran"
    ):
        run_of(validate_result(document), "a.json")
