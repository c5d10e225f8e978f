"""What the page says, and that nothing in a result can make it do something."""

import base64
import hashlib
import json
import re

from builder import Document, configuration, result, verdict
from campaign_writer import manifest
from conftest import Build
from evidence import calls_of
from page_reader import data_of, glued_texts, read, tables_of
from report.html.template import BASE_SCRIPTS, CHART_SCRIPTS
from report.statistics.histograms import CURVE

SCRIPT = "</script><img src=x onerror=alert(1)>"
HOSTILE = f"{SCRIPT}\"'{{{{7*7}}}}"


def hostile_campaign() -> tuple[Document, list[Document]]:
    configured = configuration()
    configured["target"] |= {"label": HOSTILE, "text": HOSTILE}
    run = result(configured, verdict=verdict("suspect", (HOSTILE, HOSTILE)), notes=[HOSTILE])
    run["versions"] = dict.fromkeys(run["versions"], HOSTILE)
    run["consumers"][0]["client_settings"] = {HOSTILE: HOSTILE}
    run["consumers"][0]["limiter_script"] = {"kind": "fcall", "name_or_sha1": SCRIPT}
    run["store"]["nodes"][0]["at_end"]["script_calls"] = calls_of({HOSTILE: 1})
    run["resources"][HOSTILE] = run["resources"]["server-1"]
    document = manifest([configured], runs=1)
    document |= {"conditions": [HOSTILE], "command": HOSTILE}
    document["machine"] |= {"cpu_model": HOSTILE, "sysctl": {HOSTILE: HOSTILE}}
    document["plan"] |= {"notes": [HOSTILE], "skips": [{"asked": HOSTILE, "reason": HOSTILE}]}
    return document, [run]


# [R-markup-1]
def test_hostile_text_is_text(build: Build) -> None:
    outcome = build(*hostile_campaign())
    assert outcome.code == 0, outcome.err
    assert SCRIPT not in outcome.page
    reader = read(outcome.page)
    assert [tag for tag, _ in reader.tags if tag in ("img", "iframe", "object", "svg")] == []
    ours = len(BASE_SCRIPTS) + len(CHART_SCRIPTS)
    assert len([tag for tag, _ in reader.tags if tag == "script"]) == ours + 1
    assert not any(name.startswith("on") for _, attributes in reader.tags for name in attributes)
    assert "{{7*7}}" in reader.text
    assert reader.text.count(SCRIPT) > 10


def test_hostile_text_is_no_template_of_a_chart(build: Build) -> None:
    configured = configuration()
    configured["target"] |= {"label": "%{customdata}", "text": "%{customdata}"}
    page = build(None, [result(configured)]).page
    figures = data_of(read(page))["figures"]
    templates = [
        trace.get("hovertemplate", "") for each in figures.values() for trace in each["data"]
    ]
    assert any("%\u200b{customdata}" in template for template in templates)
    assert not any(
        "%{customdata}:" in template or "%{customdata} at" in template for template in templates
    )


def test_a_trace_says_first_what_was_limited_and_is_not_told_as_a_deviation(build: Build) -> None:
    configured = configuration(traffic="trace")
    document = manifest([configured], runs=1)
    document["plan"] |= {"sources": ["the trace: 3 requests"], "skips": [], "notes": []}
    run = result(configured)
    page = read(build(document, [run]).page).text
    assert page.index("10.0 % of the requests were limited") < page.index("the trace: 3 requests")
    assert "Not as asked" not in page


# [R-markup-2]
def test_charts_hold_no_markup_of_a_result(build: Build) -> None:
    outcome = build(*hostile_campaign())
    figures = json.dumps(data_of(read(outcome.page))["figures"])
    assert "&lt;/script&gt;&lt;img" in figures
    assert "<img" not in figures


def test_policy_admits_the_scripts_of_the_page_and_nothing_else(build: Build) -> None:
    outcome = build(None, [result(configuration())])
    reader = read(outcome.page)
    (policy,) = [
        a["content"] for tag, a in reader.tags if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    directives = dict(part.split(" ", 1) for part in policy.split("; "))
    code = [
        text for attributes, text in reader.scripts if attributes.get("type") != "application/json"
    ]
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in code]
    assert directives["default-src"] == "'none'"
    assert directives["script-src"].split() == [f"'sha256-{digest}'" for digest in digests]
    assert "http:" not in policy and "https:" not in policy


def test_page_refers_to_nothing_outside(build: Build) -> None:
    reader = read(build(manifest([configuration()]), [result(configuration())]).page)
    places = [
        a[name] for _, a in reader.tags for name in ("src", "href", "action", "data") if a.get(name)
    ]
    assert places
    assert [
        place for place in places if place and re.match(r"[a-z]+:|//", place) and place != "data:,"
    ] == []


def test_raw_results_are_linked_by_their_quoted_names(build: Build) -> None:
    data = json.dumps(result(configuration())).encode()
    outcome = build(None, [], files={"a b#1?.json": data})
    assert 'href="../a%20b%231%3F.json"' in outcome.page


def test_a_note_of_the_plan_goes_with_the_rows_that_it_names(build: Build) -> None:
    document = manifest([configuration("iovalkey"), configuration("ioredis@valkey")], 1)
    named = "ioredis@valkey is measured beside iovalkey."
    general = "windows are short"
    document["plan"]["notes"] = [named, general]
    results = [result(configuration("iovalkey")), result(configuration("ioredis@valkey"))]
    page = build(document, results).page
    (rows,) = re.findall(f'<li data-rows="([^"]+)">{named}</li>', page)
    assert sorted(rows.split()) == ["row1", "row2"]
    assert f"<li>{general}</li>" in page


def test_aborted_campaign_is_said_before_any_figure(build: Build) -> None:
    text = read(
        build(manifest([configuration()], 1, status="aborted"), [result(configuration())]).page
    ).text
    assert text.index("This campaign was aborted:") < text.index(
        "beside it the range of the runs that served"
    )


def test_every_run_is_listed_with_its_reasons(build: Build) -> None:
    row = configuration()
    bad = verdict("invalid", ("M9", "0.4 % of the requests failed"))
    page = build(manifest([row], 3), [result(row, 1), result(row, 2, 9000, verdict=bad)]).page
    text = read(page).text
    assert "M9: 0.4 % of the requests failed" in text
    assert "9,000" in text
    assert "planned, but no result file was found" in text
    assert "1 of 3 runs invalid, 1 missing" in text


# [R-failed-1]
def test_row_without_a_valid_run_gives_the_reason_and_no_zero(build: Build) -> None:
    row = configuration()
    bad = verdict("invalid", ("M8", "3 answers are not accounted for"))
    page = build(manifest([row], 1), [result(row, 1, verdict=bad)]).page
    assert "no run counts: 3 answers are not accounted for" in read(page).text
    assert data_of(read(page))["figures"] == {}


def test_percentile_with_too_few_samples_is_hollow(build: Build) -> None:
    def symbol_of_p99(requests_per_second: int) -> str:
        page = build(None, [result(configuration(), 1, requests_per_second)]).page
        (trace,) = data_of(read(page))["figures"]["percentiles"]["data"]
        symbol: str = trace["marker"]["symbol"][CURVE.index(99.0)]
        return symbol

    assert symbol_of_p99(1000) == "circle-open"
    assert symbol_of_p99(2000) == "circle"


def test_texts_of_a_cell_are_apart_without_styles(build: Build) -> None:
    rows = [configuration("iovalkey"), configuration("ioredis@valkey"), configuration("none")]
    reasons = verdict("suspect", ("M6", "generator saturated"), ("M26", "not steady"))
    results = [result(row, run, 2000 + run, verdict=reasons) for row in rows for run in range(1, 7)]
    page = build(manifest(rows, 6), results).page
    assert len([table for table in tables_of(page) if table.rows]) > 5
    assert glued_texts(page) == []
    (decision,) = [table for table in tables_of(page) if table.kind == "decision"]
    figures = [row[1] for row in decision.rows if len(row) > 1]
    assert figures == ["2,004‖ (2,001–2,006)"] * 3
    assert glued_texts(page.replace(' <span class="range">(', '<span class="range">')) != []


def test_page_is_the_same_every_time(build: Build) -> None:
    rows = [configuration("iovalkey"), configuration("ioredis"), configuration("none")]
    results = [result(row, run) for row in rows for run in (1, 2)]
    first = build(manifest(rows, 2), results)
    page = first.page
    table = first.text("summary.csv")
    again = build(manifest(rows, 2), results)
    assert (again.page, again.text("summary.csv")) == (page, table)


def test_controls_alone_make_a_page(build: Build) -> None:
    rows = [configuration("none"), configuration("memory", extent={"requests": 10_000})]
    outcome = build(manifest(rows, 1), [result(row) for row in rows])
    assert outcome.code == 0, outcome.err
    assert "Only controls were measured." in read(outcome.page).text
