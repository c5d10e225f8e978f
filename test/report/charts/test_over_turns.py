"""The chart of the rate since a turn began."""

from builder import Document, configuration, result
from conftest import analysis_of_results
from report.charts.chart_data import chart_data_of
from report.charts.over_turns import OVER_TURNS

NONE = {"seconds": [0] * 6, "answers": [0] * 6, "latency_sum_us": [0] * 6}


def bins(seconds: list[float], answers: list[int]) -> Document:
    return {"seconds": seconds, "answers": answers, "latency_sum_us": [0] * 6}


#: Half as fast in the first 20 ms; the bin of 200 ms and more is hardly reached.
SHORT = bins([1, 4, 0, 0.01, 0, 0], [500, 4000, 0, 10, 0, 0])
LONG = bins([0.1, 0.4, 0.5, 1, 2, 6], [50, 400, 500, 1000, 2000, 6050])


def drawn(**more: Document) -> list[tuple[str, float]]:
    turns = {
        "group": 2,
        "turns": 50,
        "lead_in_ms": 5,
        "slice_ms": 100,
        "drained_s": 0,
        "since_began": {"from_ms": 1, "lead_in": NONE, "slice": SHORT},
        **more,
    }
    document = {**result(configuration()), "turns": turns}
    (runtime,) = analysis_of_results(document).runtimes
    figure = OVER_TURNS.build(chart_data_of([("", runtime.cells, runtime.controls)]))
    assert figure
    (trace,) = figure["data"]
    return list(zip(trace["x"], trace["y"], strict=True))


def test_the_rate_of_each_bin_is_relative_to_that_of_all() -> None:
    assert drawn() == [("0–20", 0.5554), ("20–100", 1.1109)]


def test_long_turns_reach_the_last_bins() -> None:
    long = {"turns": 1, "loaded_s": 10, "requests": 10_000, "lead_in": NONE, "slice": LONG}
    last_text, last_rate = drawn(long=long)[-1]
    assert (last_text, round(last_rate, 3)) == ("from 1000 on", 1.008)


def test_a_campaign_without_turns_has_no_chart() -> None:
    (runtime,) = analysis_of_results(result(configuration())).runtimes
    assert OVER_TURNS.build(chart_data_of([("", runtime.cells, runtime.controls)])) is None
