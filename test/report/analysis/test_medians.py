"""Each figure of a row is the median of that figure over its runs, everywhere the same (rule
M28)."""

import html
import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from builder import Document, configuration, result
from campaign_writer import manifest
from conftest import Build, Outcome, summaries_of
from evidence import latency
from page_reader import data_of, read, tables_of
from report.analysis.figure_summary import FigureSummary
from report.analysis.figures import consumer_cpu, p99, percentile, throughput
from report.analysis.summary import Summary
from report.statistics.histograms import Bounds

#: p99 of five runs at one rate in ms; the runs of a constant rate have one throughput, so that the
#: one in the middle by number was drawn.
P99S_MS = (50.6, 6.0, 88.7, 9.4, 70.2)
CPU_US = (64.3, 86.4, 71.0, 68.2, 90.5)
RATE = {"model": "open", "rate_per_second": 200, "arrivals": "constant", "connections": 50}


def at_a_rate(label: str, run: int, p99_ms: float, cpu_us: float = 70, **changes: Any) -> Document:
    """20,000 answers, two of 100 as slow as its p99."""
    slow = {4000: 19_600, round(1000 * p99_ms): 400}
    document = result(
        configuration(label, load=RATE),
        run,
        200,
        allowed_us=slow,
        limited_us={},
        window_s=100,
        **changes,
    )
    document["service_time"] = latency(slow)
    document["schedule"] = {
        "rate_per_second": 200,
        "arrivals": "constant",
        "offered": 20_000,
        "sent": 20_000,
        "late": run,
        "blocked": 0,
        "dropped": 0,
        "unsent": 0,
        "achieved_per_second": 200,
        "lateness_ms": {"p50": 0.07, "p90": 0.1, "p99": 0.31, "max": 2.5},
        "late_percentiles": [],
        "gaps_ms": {"intended": 5.0, "p10": 4.9, "p50": 5.0, "p90": 5.12, "p99": 5.4, "max": 7.5},
        "shared_wakes": False,
    }
    server = document["resources"]["server-1"]
    server["cpu_us_per_request"] = cpu_us
    return document


def campaign(
    labels: Sequence[str], runs: Sequence[Document], *asked: str
) -> tuple[Document, list[Document]]:
    thresholds = [{"text": text, "metric": "p99", "op": "<", "value": 15} for text in asked]
    configured = [configuration(label, load=RATE) for label in labels]
    return manifest(configured, runs=len(runs) // len(labels), thresholds=thresholds), list(runs)


def texts(outcome: Outcome) -> tuple[str, str]:
    """Page and Markdown, without tags and scripts."""
    page = re.sub(r"(?s)<script.*?</script>", " ", outcome.page)
    return html.unescape(re.sub(r"<[^>]+>", " ", page)), outcome.text("summary.md")


def about(value: str, wanted: float) -> bool:
    return float(value) == pytest.approx(wanted, rel=2e-3)


@pytest.mark.parametrize(("runs", "median"), [(3, 50.6), (5, 50.6), (4, 30.0)])
def test_a_row_at_a_rate_has_the_median_p99_and_thresholds_judge_it(
    build: Build, runs: int, median: float
) -> None:
    documents = [at_a_rate("iovalkey", run, p99) for run, p99 in enumerate(P99S_MS[:runs], start=1)]
    outcome = build(*campaign(["iovalkey"], documents, "p99<15ms"), "--output-format", "all")
    assert outcome.code == 0, outcome.err
    (row,) = outcome.summary["configurations"]
    assert row["latency_p99_ms"] == pytest.approx(median, rel=2e-3)
    (judged,) = outcome.summary["thresholds"]
    assert judged["status"] == "missed"
    assert judged["value"] == pytest.approx(median, rel=2e-3)


def test_no_two_figures_for_one_thing(build: Build) -> None:
    """Page, Markdown, CSV, JSON and the file for github-action-benchmark print one p99 and one CPU
    time."""
    pairs = zip(P99S_MS, CPU_US, strict=True)
    documents = [at_a_rate("iovalkey", run, *figures) for run, figures in enumerate(pairs, start=1)]
    arguments = ("--output-format", "all", "--csv", "long", "--images")
    outcome = build(*campaign(["iovalkey"], documents, "p99<15ms"), *arguments)
    (line,) = outcome.rows()
    (row,) = outcome.summary["configurations"]
    p99, cpu = (line[name] for name in ("latency_p99_ms", "server_cpu_us_per_request"))
    assert about(p99, 50.6) and about(cpu, 71.0)
    assert about(p99, row["latency_p99_ms"]) and about(cpu, row["server_cpu_us_per_request"])
    assert [row["ranges"]["server_cpu_us_per_request"][end] for end in ("min", "max")] == [
        64.3,
        90.5,
    ]
    figures = {entry["metric"]: entry for entry in outcome.rows("figures.csv")}
    assert (figures["p99"]["value"], figures["cpu_per_request"]["value"]) == (p99, cpu)
    smaller = json.loads(outcome.text("benchmark-smaller-is-better.json"))
    assert {f"{entry['value']:.3f}" for entry in smaller} >= {p99, cpu}
    page, markdown = texts(outcome)
    assert markdown.count("50.6") >= 1 and "71.0 (64.3–90.5)" in markdown
    assert len(re.findall(r"\b50\.6\d*", page)) >= 3
    # The other runs stand in the list of runs and as ends of ranges alone.
    before_runs = page[: page.index("Every run that was planned")]
    assert not re.search(r"\b9\.4\d?\b", before_runs) and "86.4" not in before_runs
    assert "50.6" in (outcome.folder / "report" / "images" / "latency-cell1.svg").read_text()


def test_charts_draw_the_medians(build: Build) -> None:
    pairs = zip(P99S_MS, CPU_US, strict=True)
    documents = [at_a_rate("iovalkey", run, *figures) for run, figures in enumerate(pairs, start=1)]
    outcome = build(*campaign(["iovalkey"], documents))
    figures = data_of(read(outcome.page))["figures"]
    (bar,) = [trace for trace in figures["latency-at-rate"]["data"] if trace.get("name") == "p99"]
    assert bar["x"] == [pytest.approx(50.6, rel=2e-3)]
    assert "p99 50.62 ms (6.00–88.70)" in bar["customdata"][0]
    assert [bar["error_x"][end][0] for end in ("arrayminus", "array")] == [
        pytest.approx(44.6, rel=2e-3),
        pytest.approx(38.1, rel=2e-3),
    ]
    (curve,) = figures["percentiles"]["data"]
    slow = dict(zip(curve["x"], curve["y"], strict=True))
    assert slow[100.0] == pytest.approx(50.6, rel=2e-3)
    (server,) = [trace for trace in figures["cpu-at-rate"]["data"] if trace["name"] == "server"]
    assert server["x"] == [71.0]


def test_the_selected_run_of_an_open_loop_has_the_median_p99_and_the_originals_columns(
    build: Build,
) -> None:
    pairs = zip(P99S_MS, CPU_US, strict=True)
    documents = [at_a_rate("iovalkey", run, *figures) for run, figures in enumerate(pairs, start=1)]
    outcome = build(*campaign(["iovalkey"], documents))
    (line,) = outcome.rows()
    assert line["median_run"] == "1"
    assert [
        run_row["run"] for run_row in outcome.rows("runs.csv") if run_row["median"] == "true"
    ] == ["1"]
    assert about(line["Latency_P99"], 50.6)
    # Its own late sends, and the median of all.
    assert line["sends_late"] == "3"
    assert (line["sends_late_min"], line["sends_late_max"]) == ("1", "5")


def test_the_originals_columns_are_of_one_run_and_ours_are_medians(build: Build) -> None:
    """Throughput and p99 do not rise together: no run has both medians."""
    runs = ((2000, 12), (2001, 11), (2002, 30), (2003, 13), (2004, 14))
    documents = [
        result(
            configuration(),
            run,
            rate,
            allowed_us={5000: 5 * rate - 1000, 1000 * p99: 1000},
            limited_us={},
        )
        for run, (rate, p99) in enumerate(runs, start=1)
    ]
    (line,) = build(manifest([configuration()], runs=5), documents).rows()
    assert (line["ReqPerSec"], line["median_run"]) == ("2002.00", "3")
    assert about(line["Latency_P99"], 30)
    assert line["requests_per_second"] == "2002.000"
    assert about(line["latency_p99_ms"], 13)
    assert about(line["latency_p99_ms_min"], 11) and about(line["latency_p99_ms_max"], 30)


def test_equal_rows_print_equal_figures_whichever_run_is_selected(build: Build) -> None:
    """A copy had 64.3 and 86.4 µs beside each other, because another run of it was selected."""
    labels = ("iovalkey", "ioredis@valkey")
    pairs = list(zip(P99S_MS, CPU_US, strict=True))
    documents = [
        at_a_rate(label, run, p99, cpu)
        for label, first in zip(labels, (0, 1), strict=True)
        for run, (p99, cpu) in enumerate([*pairs[first:], *pairs[:first]], start=1)
    ]
    row, equal_row = build(*campaign(labels, documents)).rows()
    assert row["Latency_P99"] == equal_row["Latency_P99"]
    names = (
        "latency_p50_ms",
        "latency_p99_ms",
        "server_cpu_us_per_request",
        "store_cpu_us_per_request",
    )
    assert [row[name] for name in names] == [equal_row[name] for name in names]


def test_a_percentile_with_too_few_samples_in_single_runs_comes_from_all_together(
    build: Build,
) -> None:
    """Four runs of 4,000 answers: p99 needs 10,000, and p99.9 needs 100,000. Of all 16,000 the
    slowest 160 are those of the fourth run, and the one at rank 15,840 is below them."""
    tails = ({9000: 20}, {9000: 20}, {9000: 20}, {30_000: 160})
    documents = [
        result(
            configuration(),
            run,
            800,
            allowed_us={2000: 4000 - sum(tail.values()), **tail},
            limited_us={},
        )
        for run, tail in enumerate(tails, start=1)
    ]
    outcome = build(manifest([configuration()], runs=4), documents, "--output-format", "all")
    (line,) = outcome.rows()
    (row,) = outcome.summary["configurations"]
    assert (line["latency_merged"], line["latency_unsupported"]) == ("p99", "p99_9")
    assert about(line["latency_p99_ms"], 9)
    assert row["latency_merged"] == ["p99"] and row["latency_unsupported"] == ["p99_9"]
    assert row["latency_p99_ms"] == pytest.approx(9, rel=2e-3)
    (latencies,) = [table for table in tables_of(outcome.page) if table.id == "cell1-latency"]
    assert any(cell.startswith("9.01∪") for row in latencies.rows for cell in row)
    assert "∪ from the merged histogram" in outcome.page and "†" in outcome.page


def test_histograms_are_not_merged_where_a_run_failed_its_load(build: Build) -> None:
    """Those of the other runs would hide what failed."""
    failed: dict[str, Any] = {
        "outcome": "failed",
        "outcome_text": "2.4 % failed",
        "timed_out_us": {10**6: 96},
    }
    documents = [
        result(
            configuration(),
            run,
            800,
            allowed_us={2000: 4000},
            limited_us={},
            **(failed if run == 1 else {}),
        )
        for run in range(1, 6)
    ]
    (line,) = build(manifest([configuration()], runs=5), documents).rows()
    assert (line["latency_merged"], line["latency_unsupported"]) == ("", "p99 p99_9")


def failing(run: int, rate: int = 9000) -> Document:
    """The target failed its load in it, however fast it was."""
    return result(configuration(), run, rate, outcome="failed", outcome_text="9 % failed")


def row_of(*documents: Document) -> Summary:
    (row,) = summaries_of(*documents)
    return row


def served(*rates: int) -> list[Document]:
    return [result(configuration(), run, rate) for run, rate in enumerate(rates, start=1)]


def test_a_run_that_failed_its_load_has_the_worst_rank_in_a_median() -> None:
    one_of_five = row_of(*served(2000, 2100, 2200, 2300), failing(5))
    assert one_of_five.figure_of(throughput).value == 2100
    # The third cheapest of five, one of which is dearer than all others.
    costs = sorted(one_of_five.values(consumer_cpu))
    assert one_of_five.figure_of(consumer_cpu).value == costs[2]
    assert one_of_five.figure_of(throughput).range == (2000, 2300)
    one_of_four = row_of(*served(2000, 2100, 2200), failing(4))
    assert one_of_four.figure_of(throughput).value == 2050


@pytest.mark.parametrize("spoiled", [(4, 5, 6), (1, 2)])
def test_a_row_has_no_figures_where_a_middle_run_failed_its_load(spoiled: tuple[int, ...]) -> None:
    """Half of the runs are enough: a mean of a rank and a figure is no figure."""
    rates = {1: 2000, 2: 2100, 3: 2200, 4: 2300, 5: 2400, 6: 2500}
    count = 6 if len(spoiled) == 3 else 4
    row = row_of(
        *(
            failing(run) if run in spoiled else result(configuration(), run, rates[run])
            for run in range(1, count + 1)
        )
    )
    assert not row.has_figures
    for figure in (throughput, p99, consumer_cpu):
        summary = row.figure_of(figure)
        assert (summary.value, summary.bounds, summary.spoiled) == (None, None, True)
    assert row.no_figures_reason == f"failed its load in {len(spoiled)} of {count} runs"


def bounded(run: int, p99_9_ms: int, lost: int = 0) -> Document:
    """The slowest 25 of 10,000 answers have this p99.9; of the lost requests the ages alone are
    known."""
    slow = {1000: 9_975, 1000 * p99_9_ms: 25}
    return result(
        configuration(), run, allowed_us=slow, limited_us={}, timed_out_us={9_000_000: lost}
    )


def p99_9_of(*documents: Document) -> FigureSummary:
    return row_of(*documents).figure_of(percentile("p99_9"))


def test_a_run_of_which_bounds_are_known_moves_the_median_by_order_alone() -> None:
    # One run without an upper bound, above all others: the median is the middle one of the others'
    # figures.
    summary = p99_9_of(
        bounded(1, 10), bounded(2, 20), bounded(3, 30), bounded(4, 40, lost=40), bounded(5, 25)
    )
    assert summary.bounds is None
    assert summary.value == pytest.approx(25, rel=2e-3)
    assert summary.range is None


def test_the_bounds_of_a_median_are_the_medians_of_the_bounds() -> None:
    documents = [bounded(1, 10), bounded(2, 20), bounded(3, 30, lost=40)]
    summary = p99_9_of(*documents)
    # 20 is the median of the lower bounds 10, 20, 9,000, and of the upper ones 10, 20, unlimited.
    assert summary.value == pytest.approx(20, rel=2e-3)
    summary = p99_9_of(*documents, bounded(4, 40, lost=40), bounded(5, 50, lost=40))
    assert summary.value is None
    assert isinstance(summary.bounds, Bounds) and summary.bounds.high is None
    assert summary.bounds.low == pytest.approx(9_000, rel=2e-3)
    assert summary.text(lambda value: f"{value:.0f}").startswith("> 9")
