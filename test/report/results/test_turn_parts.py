"""The earlier and the later parts of a run by turns, as a result tells them."""

from typing import Any

from builder import Document, configuration, result
from report.results.convert import run_of
from report.results.turn_parts import TurnParts
from report.results.validate import validate_result

NONE = {"seconds": [0] * 6, "answers": [0] * 6, "latency_sum_us": [0] * 6}
ANSWERS = [750, 8000, 500, 0, 0, 0]
#: Turns of 100 ms after 5 ms; the first 15 ms of each are half as fast.
SLICE = {
    "seconds": [0.75, 4, 0.25, 0, 0, 0],
    "answers": ANSWERS,
    "latency_sum_us": [75_000, 800_000, 50_000, 0, 0, 0],
}


def turned(**changes: Any) -> Document:
    turns = {
        "group": 2,
        "turns": 50,
        "lead_in_ms": 5,
        "slice_ms": 100,
        "drained_s": 0,
        "since_began": {"from_ms": 1, "lead_in": NONE, "slice": SLICE},
        **changes,
    }
    return {**result(configuration()), "turns": turns}


def parts_of(document: Document) -> TurnParts:
    measured = run_of(validate_result(document), "run.json").measured
    assert measured
    return measured.parts


def test_the_start_is_the_first_bins_that_last_a_tenth_of_the_slices() -> None:
    assert parts_of(turned()).rate_at_start == (1000, 2000)


def test_a_start_that_is_shorter_than_a_mean_latency_tells_nothing() -> None:
    slow = {**SLICE, "latency_sum_us": [200_000 * count for count in ANSWERS]}
    since_began = {"from_ms": 1, "lead_in": NONE, "slice": slow}
    assert parts_of(turned(since_began=since_began)).rate_at_start is None


def test_the_halves_are_those_of_cycles() -> None:
    document = turned()
    slices = document["slices"]
    document["slices"] = {
        **slices,
        "allowed": [100] * 25 + [60] * 25,
        "limited": [0] * 50,
        "failed": [0] * 50,
        "latency_sum_us": [0] * 50,
    }
    assert parts_of(document).rate_in_halves == (100, 60)


def test_the_cpu_in_halves_is_that_between_readings_by_the_answers_there() -> None:
    document = turned()
    flat = {"limited": [0] * 50, "failed": [0] * 50, "latency_sum_us": [0] * 50}
    document["slices"] = {**document["slices"], "allowed": [100] * 50, **flat}
    server = document["resources"]["server-1"]
    # One reading after each ten turns of 100 ms; the third one is in neither half.
    percents = [10, 10, 90, 20, 20]
    samples = [
        {"t_s": second, "cpu_percent": percent, "resident_bytes": 1}
        for second, percent in enumerate(percents, start=1)
    ]
    document["resources"]["server-1"] = {**server, "samples": samples}
    assert parts_of(document).cpu_in_halves == (100, 200)

    document["resources"]["server-1"] = {**server, "samples": samples[:4]}
    assert parts_of(document).cpu_in_halves is None


def test_the_cpu_of_short_turns_stands_beside_that_of_long_ones() -> None:
    document = turned(
        long={"turns": 1, "loaded_s": 3, "requests": 5000, "lead_in": NONE, "slice": NONE}
    )
    server = document["resources"]["server-1"]
    document["resources"]["server-1"] = {
        **server,
        "cpu_us_per_request": 66.0,
        "long_turns_cpu_us": 300_000,
    }
    assert parts_of(document).cpu_at_start == (66, 60)


def test_older_results_and_continuous_windows_tell_less() -> None:
    older = turned()
    del older["turns"]["since_began"]
    assert parts_of(older).rate_at_start is None
    assert parts_of(older).cpu_at_start is None
    assert parts_of(result(configuration())) == TurnParts()
