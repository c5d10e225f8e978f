"""The report and the load generator compute the same percentiles and bounds, to the microsecond."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evidence import histogram_of
from report.base.paths import ROOT
from report.results.older_documents import curve_ms
from report.statistics.histograms import CURVE, PERCENTILES, Histogram, percentile_bounds

#: Written by test/unit/judge/latency-cases.test.ts, from the generator's own code.
CASES = (Path(ROOT) / "test/fixtures/latency-cases.jsonl").read_text("utf-8").splitlines()


def histogram(recorded: list[tuple[int, int]]) -> Histogram:
    """Of values in µs, each with how often it was recorded in a row."""
    counts: Counter[int] = Counter()
    for us, count in recorded:
        counts[us] += count
    return histogram_of(counts)


@pytest.mark.parametrize("line", CASES, ids=range(len(CASES)))
def test_percentiles_are_those_of_the_generator(line: str) -> None:
    case: dict[str, Any] = json.loads(line)
    stated = case["latency"]
    answered = histogram(case["answered"])
    unanswered = histogram(case["unanswered"])
    computed = percentile_bounds(answered, unanswered)
    assert {name: bounds.figure for name, bounds in computed.items()} == {
        name: stated[name] for name in PERCENTILES
    }
    assert {
        name: {"low": bounds.low, "high": bounds.high}
        for name, bounds in computed.items()
        if bounds.figure is None
    } == {name: bounds for name, bounds in stated.get("bounds", {}).items() if name in PERCENTILES}
    assert curve_ms(answered, unanswered) == case["curve"]
    for percent, value in zip(CURVE, case["curve"], strict=False):
        names = [name for name, percentage in PERCENTILES.items() if percentage == percent]
        assert [value] * len(names) == [stated[name] for name in names]


def test_cases_have_figures_and_bounds_of_each_kind() -> None:
    stated = [json.loads(line)["latency"] for line in CASES]
    bounds = [ends for latency in stated for ends in latency.get("bounds", {}).values()]
    assert sum(latency["p50"] is not None for latency in stated) > 10
    assert sum(ends["high"] is None for ends in bounds) > 10
    assert sum(ends["high"] is not None for ends in bounds) > 10
