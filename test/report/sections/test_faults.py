"""What happens to an API when its store fails: a section of its own, with medians over the runs."""

import csv
import io
import json
from typing import Any

import pytest

from builder import Document, configuration, failed_result, hash_of, result, verdict
from campaign_writer import manifest
from conftest import Build, analysis_of_results
from fault_documents import PAUSE, RESTART, faulted
from report.analysis.fault_figures import fault_groups
from report.base.errors import FieldError
from report.charts.fault_strips import fault_charts
from report.cli.compare_command import main as compare
from report.export.fault_tables import fault_documents, faults_csv
from report.results.convert import run_of
from report.results.load import load_campaign
from report.results.validate import validate_result
from report.sections.faults import fault_headlines, fault_runs, fault_sentences, fault_table, faults
from report.sections.section import Table
from tables import by_column, only_table


def table_of(*documents: Document) -> Table:
    return fault_table(fault_groups(analysis_of_results(*documents).campaign))


def cells(*documents: Document) -> dict[str, str]:
    """Text and range of the figures of the first row."""
    table = table_of(*documents)
    return {
        column.name: (f"{cell.text} [{cell.range}]" if cell.range else cell.text).replace(
            "\u00a0", " "
        )
        for column, cell in zip(table.columns[3:], table.rows[0].cells[3:], strict=True)
    }


def test_figures_are_medians_over_the_runs_with_their_range() -> None:
    over = {"admitted": 4100, "counters_kept": 4000, "counters_lost": 4940}
    texts = cells(
        faulted(run=1),
        faulted(run=2, recovery_s=1.5, outage_seen_s=1.3, requests_lost=2500, over_admission=over),
        faulted(run=3, recovery_s=1.4),
    )
    assert texts == {
        "Outage": "1.0 / 1.2 [1.2–1.3]",
        "Errors": "98.0 %",
        "First error": "0.1",
        "Served again": "1.1",
        "Settled again": "1.4 [1.3–1.5]",
        "p99": "1.00 / 140.0",
        "Lost": "2,400 [2,400–2,500]",
        "Over quota": "+1,000 [+100–+1,000; model +950]",
        "Fails": "answers 500 [admitted 2 %, failed 98 %]",
        "Memory peak": "100.0",
        "Reconnections": "12",
    }


def test_a_recovery_that_did_not_come_is_the_longest_one() -> None:
    never: Document = {
        "recovery": "never",
        "recovery_s": None,
        "recovery_text": "not in the 3 s that were observed",
    }
    assert cells(faulted(run=1), faulted(run=2, **never))["Settled again"] == "never [1.3–never]"
    two = (faulted(run=1), faulted(run=2), faulted(run=3, **never))
    assert cells(*two)["Settled again"] == "1.3 [1.3–never]"
    section = faults(analysis_of_results(*two))
    assert section
    (note,) = section.notes[1:]
    assert note == "Settled again (not in the 3 s that were observed): iovalkey, store-restart."
    (entry,) = fault_documents(fault_groups(analysis_of_results(*two).campaign))
    assert entry["recovery_s"] == {"median": 1.3, "min": 1.3, "max": None, "runs": 3}
    assert (entry["recovered_runs"], entry["never_recovered_runs"]) == (2, 1)


def test_the_last_screen_has_a_sentence_for_each_target() -> None:
    groups = fault_groups(
        analysis_of_results(
            faulted(), failed_result(faulted("ioredis")["configuration"], 1)
        ).campaign
    )
    assert fault_sentences(groups) == [
        "When the store restarts, iovalkey: an outage of 1.2 s is seen, requests are served again after "
        "1.1 s and settled after 1.3 s, 2,400 requests are lost, +1,000 over the quota; it answers 500."
    ]


def test_the_headline_has_the_time_of_each_of_several_targets_the_shortest_first() -> None:
    never: Document = {"recovery": "never", "recovery_s": None}
    at_once = faulted("ioredis", served_again_s=0.5, recovery_s=0.5)
    documents = [faulted(), at_once, faulted("valkey-glide", **never)]
    (headline,) = fault_headlines(fault_groups(analysis_of_results(*documents).campaign))
    assert headline == (
        "When the store restarts, requests are served again, by the median, after: ioredis 0.5 s, iovalkey "
        "1.1 s (settled after 1.3 s) and valkey-glide 1.1 s (never settled)."
    )


def test_the_page_says_what_was_read_from_timelines_later() -> None:
    document = faulted(served_again_s=None, served_again_from="timeline")
    analysis = analysis_of_results(document)
    assert cells(document)["Served again"] == "never"
    (row,) = csv.DictReader(io.StringIO(faults_csv(analysis.faults)))
    assert (row["served_again_s"], row["served_again_from"]) == ("", "timeline")
    section = faults(analysis)
    assert section
    assert any("read from the timeline of 1 run" in note for note in section.notes)


def test_a_result_that_does_not_tell_when_requests_were_served_again() -> None:
    document = faulted()
    del document["fault_figures"]["faults"][0]["served_again_s"]
    assert cells(document)["Served again"] == "not known"
    (row,) = csv.DictReader(
        io.StringIO(faults_csv(fault_groups(analysis_of_results(document).campaign)))
    )
    assert (row["served_again_s"], row["served_again_from"]) == ("", "")


def test_what_failed_is_named_by_the_code_of_the_answer() -> None:
    document = faulted()
    assert cells(document)["Fails"].startswith("answers 500")
    # Requests whose connection ended have no code.
    document["errors"] = 1000
    assert cells(document)["Fails"].startswith("answers 500 and loses connections")


def test_without_outage_errors_or_binding_quotas_the_cells_say_so() -> None:
    texts = cells(
        faulted(
            outage_seen_s=0,
            first_error_s=None,
            error_share=None,
            served_again_s=None,
            recovery="not known",
            recovery_s=None,
            recovery_text="only 2 s are left",
            over_admission=None,
            answers=None,
            behaviour="waits",
        )
    )
    assert texts["First error"] == "none"
    assert texts["Errors"] == "no answers"
    assert texts["Served again"] == "never"
    assert texts["Settled again"] == "not known"
    assert texts["Over quota"] == "not applicable"
    assert texts["Fails"] == "waits [no answers]"


def test_a_run_that_is_invalid_or_failed_does_not_count_and_is_listed() -> None:
    invalid = faulted(run=2, recovery_s=30)
    invalid["verdict"] = verdict("invalid", ("M8", "counts differ"))
    broken = failed_result(faulted()["configuration"], 3)
    (row,) = by_column(table_of(faulted(), invalid, broken))
    assert (row["Runs"], row["Verdict"], row["Settled again"]) == ("1 of 3", "failed", "1.3")
    listed = fault_runs(analysis_of_results(faulted(), invalid, broken))
    reasons = [row.cells[3].lines for row in only_table(listed).rows]
    assert reasons == [(), ("M8: counts differ",), ("server-1: exited with code 137",)]
    (alone,) = by_column(table_of(broken))
    assert alone["reason"] == "server-1: exited with code 137"
    assert "Settled again" not in alone


def test_a_fault_that_was_not_injected_has_its_reason() -> None:
    document = faulted()
    del document["fault_figures"], document["faults"][0]["injected"]
    document["faults"][0]["note"] = "the store was gone"
    (row,) = by_column(table_of(document))
    assert row["reason"] == "the store was gone"
    assert "Settled again" not in row


def test_each_fault_has_its_rows_and_its_chart_with_one_strip_a_target() -> None:
    documents = [
        faulted(label, fault=fault)
        for fault in (RESTART, PAUSE)
        for label in ("iovalkey", "ioredis")
    ]
    groups = fault_groups(analysis_of_results(*documents).campaign)
    blocks = fault_table(groups).groups
    assert [(block.heading, [row.cells[0].text for row in block.rows]) for block in blocks] == [
        ("… the store restarts", ["ioredis", "iovalkey"]),
        ("… the store stops for a while", ["ioredis", "iovalkey"]),
    ]
    (_, first, _), (_, second, _) = fault_charts(groups)
    layout = first["layout"]
    assert [text["text"] for text in layout["annotations"]] == [
        "<b>ioredis</b> · served again 1.1 s · settled 1.3 s",
        "<b>iovalkey</b> · served again 1.1 s · settled 1.3 s",
    ]
    for axis in ("xaxis", "yaxis", "yaxis2"):
        assert layout[axis]["range"] == second["layout"][axis]["range"]
    assert layout["yaxis"]["range"] == layout["yaxis3"]["range"]
    band = layout["shapes"][0]
    assert (band["x0"], band["x1"]) == (0, pytest.approx(1.01))
    admitted = first["data"][0]
    # The first slice begins 2.01 s before the fault.
    assert admitted["x"][0] == pytest.approx(-2.01)


def test_the_csv_has_every_run_and_never_a_zero_for_what_is_absent() -> None:
    groups = fault_groups(
        analysis_of_results(faulted(), failed_result(faulted()["configuration"], 2)).campaign
    )
    first, second = csv.DictReader(io.StringIO(faults_csv(groups)))
    values = [first[name] for name in ("fault", "recovery_s", "over_admission")]
    assert values == ["store-restart", "1.300", "1000"]
    assert (second["verdict"], second["recovery_s"], second["requests_lost"]) == ("failed", "", "")


def test_runs_with_faults_are_in_no_ranking_and_none_is_missing(build: Build) -> None:
    plain = configuration()
    with_faults = faulted()
    plan = manifest([plain, with_faults["configuration"]], runs=1)
    outcome = build(plan, [result(plain), with_faults])
    assert outcome.code == 0
    campaign = load_campaign(outcome.folder)
    assert [run.identity.configuration_hash for run in campaign.runs] == [hash_of(plain)]
    assert len(campaign.counted) == len(campaign.planned) == 2
    assert "What happens to your API when" in outcome.page
    assert "planned, but no result file was found" not in outcome.page
    report = outcome.folder / "report"
    assert len((report / "summary.csv").read_text().strip().splitlines()) == 2
    assert "the store restarts" in (report / "summary.md").read_text()
    assert (report / "faults.csv").exists()


def test_a_campaign_of_faults_alone_has_a_page_without_rankings(
    build: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = build(None, [faulted()])
    assert outcome.code == 0
    assert "What do faults do to an API?" in outcome.page
    assert 'id="answer"' not in outcome.page
    assert compare([str(outcome.folder), str(outcome.folder)]) == 2
    assert "has no row to compare: runs with faults" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("$.timeline.p99_us", lambda document: document["timeline"]["p99_us"].pop()),
        ("$.timeline.allowed", lambda document: document["timeline"]["allowed"].__setitem__(0, 7)),
        ("$.fault_figures.faults[0].fault", lambda document: document["faults"][0].pop("injected")),
        (
            "$.fault_figures.faults[0].recovery_s",
            lambda document: document["fault_figures"]["faults"][0].update(recovery_s=None),
        ),
    ],
)
def test_figures_that_contradict_the_run_are_refused(field: str, change: Any) -> None:
    document = json.loads(json.dumps(faulted()))
    change(document)
    with pytest.raises(FieldError) as refused:
        run_of(validate_result(document), "1.json")
    assert str(refused.value).startswith(f"{field} ")
