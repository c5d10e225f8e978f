"""What other programs took and what roles waited for: said once, and in a table."""

import html
import re

from builder import Document, configuration, failed_result, result, verdict
from campaign_writer import manifest
from conftest import Build, analysis_of_results, summaries_of
from report.sections.cpu import resources
from report.sections.decision_table import verdict_summary
from report.sections.rules import RULE_SENTENCES
from tables import by_column, only_table

REASON = ("M25", "other programs used 153 % of one CPU in the window (this machine has 2)")


def disturbed(run: int, foreign_cpu_percent: float) -> Document:
    load = {"cpus": 2, "busy_cpu_percent": 200, "foreign_cpu_percent": foreign_cpu_percent}
    return result(configuration(), run, host_load=load, verdict=verdict("suspect", REASON))


def test_other_programs_are_said_once_with_the_most_that_they_used(build: Build) -> None:
    runs = [result(configuration(), 1), disturbed(2, 153.3), disturbed(3, 60)]
    outcome = build(manifest([configuration()], runs=3), runs, "--output-format", "all")
    said = "Other programs disturbed 2 of 3 runs: they used up to 153 % of one CPU meanwhile."
    page = outcome.page
    assert page.count(said) == 1
    assert said in outcome.text("summary.md")


def test_waiting_is_a_share_of_the_window_over_all_nodes_of_a_store() -> None:
    document = disturbed(1, 25)
    used = document["resources"]
    used["server-1"]["run_delay_us"] = 500_000
    used["store-1"]["run_delay_us"] = 100_000
    used["store-2"] = {**used["store-1"], "run_delay_us": 150_000}
    table = only_table(resources(analysis_of_results(document)))
    units = {column.name: column.unit for column in table.columns}
    assert (units["Server CPU"], units["Store CPU"]) == ("of one CPU at full load",) * 2
    (cells,) = by_column(table)
    assert cells["Server waited"] == "10.0 %"
    assert cells["Store waited"] == "5.0 %"
    assert cells["Generator waited"] == "–"
    assert cells["Server CPU"] == "80.0 %"
    assert cells["Other programs"] == "25.0 %"


def test_by_turns_other_programs_are_one_note_of_the_campaign(build: Build) -> None:
    turns = {"group": 2, "turns": 30, "lead_in_ms": 5, "slice_ms": 100, "drained_s": 0.1}
    runs = [
        disturbed(run, percent) | {"turns": turns} for run, percent in enumerate((20, 30, 60), 1)
    ]
    for run in runs:
        run["verdict"] = verdict("valid")
    page = build(manifest([configuration()], runs=3), runs).page
    assert page.count("used 30 % of one CPU, at most 60 %") == 1
    assert "Other programs disturbed" not in page


def test_by_turns_what_other_programs_did_in_a_round_is_said_once(build: Build) -> None:
    """Two targets, three rounds, of which the second and third were disturbed."""
    turns = {"group": 2, "turns": 30, "lead_in_ms": 5, "slice_ms": 100, "drained_s": 0.1}
    targets = [configuration("iovalkey"), configuration("valkey-glide")]
    runs = []
    for target in targets:
        runs.append(result(target, 1) | {"turns": turns})
        for number, percent in ((2, 153), (3, 120)):
            load = {"cpus": 2, "busy_cpu_percent": 200, "foreign_cpu_percent": percent}
            reason = ("M25", f"other programs used {percent} % of one CPU in the window")
            suspect = result(target, number, host_load=load, verdict=verdict("suspect", reason))
            runs.append(suspect | {"turns": turns})
    planned = manifest(targets, runs=3)
    planned["plan"]["order"] = "turns"
    for run in planned["plan"]["runs"]:
        run |= {"round": run["run"], "group": 1}
    outcome = build(planned, runs, "--output-format", "all")
    for text in (outcome.page, outcome.text("summary.md")):
        assert text.count("other programs used 153 % of one CPU in the window") == 1
        assert text.count("In 2 of 3 rounds their share makes the runs suspect") == 1
        assert "Other programs disturbed" not in text
    assert "M25</a> (2 rounds)" in outcome.page
    # Each row of a table of data stands alone.
    assert outcome.text("runs.csv").count("other programs used 153 %") == 2


def test_the_headline_says_how_many_rounds_do_not_count(build: Build) -> None:
    turns = {"group": 1, "turns": 30, "lead_in_ms": 5, "slice_ms": 100, "drained_s": 0.1}
    still = verdict("invalid", ("M36", "the load generator stood still for 0.12 s"))
    runs = [result(configuration(), run) | {"turns": turns} for run in range(1, 7)]
    runs.append(result(configuration(), 7, verdict=still) | {"turns": turns})
    planned = manifest([configuration()], runs=7)
    planned["plan"]["order"] = "turns"
    for run in planned["plan"]["runs"]:
        run |= {"round": run["run"], "group": 1}
    summary = build(planned, runs, "--output-format", "all").text("summary.md")
    lead = summary.partition("Campaign `")[0]
    assert "1 of 7 rounds does not count: the load generator stood still for 0.12 s." in lead


def test_a_row_says_how_many_of_its_runs_are_invalid(build: Build) -> None:
    still = verdict("invalid", ("M36", "the load generator stood still for 0.12 s"))
    runs = [*(result(configuration(), run) for run in range(1, 7))]
    runs.append(result(configuration(), 7, verdict=still))
    outcome = build(manifest([configuration()], runs=7), runs, "--output-format", "all")
    (row,) = [line for line in outcome.text("summary.md").splitlines() if "6 of 7" in line]
    assert row.endswith("1 of 7 runs invalid |")


def test_the_header_of_page_and_summary_name_the_version_of_node(build: Build) -> None:
    document = result(configuration())
    outcome = build(manifest([configuration()]), [document], "--output-format", "all")
    version = f"Node.js {document['versions']['node']}"
    assert version in outcome.page.partition("<h1")[0]
    assert version in outcome.text("summary.md").partition("###")[0]


def test_a_row_of_the_page_has_its_range_its_warnings_and_what_a_narrow_screen_hides(
    build: Build,
) -> None:
    targets = [configuration("iovalkey"), configuration("valkey-glide")]
    two_levels = [2000, 2004, 2002, 2700, 2704, 2702, 2701, 2703, 2705, 2706, 2699, 2698]
    runs = [
        result(target, run, rate) for target in targets for run, rate in enumerate(two_levels, 1)
    ]
    outcome = build(manifest(targets, runs=12), runs, "--output-format", "all")
    row = re.findall(r"<tr data-row.*?</tr>", outcome.page, re.DOTALL)[1]
    (server_cpu,) = [cell for cell in row.split("<td") if "ratio " in cell and "number" in cell]
    assert re.search(r"\(\d[\d.]*–\d[\d.]*\)</span> <span[^>]*>ratio \d", server_cpu)
    assert "Runs have two levels" in row
    for name in ("Store CPU", "Limited by", "Ratio of CPU"):
        assert f"{name}" in row.partition('class="narrow-only"')[2]
    assert "Runs have two levels" in outcome.text("summary.md").partition("<!-- details -->")[0]


def test_a_missing_figure_has_no_mark(build: Build) -> None:
    suspect = verdict("suspect", REASON)
    runs = [result(configuration(label), 1, verdict=suspect) for label in ("iovalkey", "none")]
    targets = [configuration(label) for label in ("iovalkey", "none")]
    outcome = build(manifest(targets, runs=1), runs, "--output-format", "all")
    assert "‖" in outcome.text("summary.md")
    assert "–‖" not in outcome.text("summary.md")


def test_each_rule_of_a_reason_leads_to_what_it_says(build: Build) -> None:
    reason = verdict("suspect", ("M26", "not steady, where M25 does not explain it"))
    page = build(manifest([configuration()]), [result(configuration(), verdict=reason)]).page
    for rule in ("M25", "M26"):
        assert f'<a href="#rule-{rule}">{rule}</a>' in page
        (line,) = re.findall(rf'<tr id="rule-{rule}">.*?</tr>', page, re.DOTALL)
        assert RULE_SENTENCES[rule] in html.unescape(line)
    assert 'id="rule-M36"' not in page


def test_an_aborted_run_is_not_counted_as_invalid() -> None:
    stopped = failed_result(configuration(), 2, "interrupted", status="aborted")
    (row,) = summaries_of(result(configuration(), 1), stopped)
    assert verdict_summary(row) == "1 of 2 runs aborted"
