"""Throughput, CPU and memory over time: charts of one shape from the selected run's readings."""

from collections.abc import Mapping
from typing import Any

from builder import Document, configuration, result
from campaign_writer import manifest
from conftest import Build
from page_reader import data_of, read
from report.charts.over_time import OVER_TIME
from report.results.series import MAX_POINTS, stretches, usage_over_time
from report.results.validate import validate_result

MIB = 1024**2
FIRST_S = 1.0
SECOND_S = 2.0


def with_readings(document: Document, percents: Mapping[str, tuple[float, float]]) -> Document:
    """Two readings of each role, with as many MiB resident as its CPU has percent."""
    for role, both in percents.items():
        document["resources"][role]["samples"] = [
            {"t_s": t_s, "cpu_percent": percent, "resident_bytes": int(percent * MIB)}
            for t_s, percent in zip((FIRST_S, SECOND_S), both, strict=True)
        ]
    return document


def usage_of(document: Document) -> dict[str, list[tuple[float | None, float]]]:
    usage = usage_over_time(validate_result(document))  # type: ignore[arg-type]
    return {
        kind: [(reading.cpu_percent, reading.resident_bytes / MIB) for reading in usage[kind]]
        for kind in usage
    }


def figures_of(build: Build, *documents: Document) -> Any:
    configurations = {each["configuration_hash"]: each["configuration"] for each in documents}
    return data_of(read(build(manifest(list(configurations.values()), 1), documents).page))[
        "figures"
    ]


def test_cpu_and_memory_over_time_have_the_shape_of_throughput_over_time(build: Build) -> None:
    readings = {"server-1": (80, 90), "store-1": (20, 30)}
    document = with_readings(result(configuration(), window_s=2), readings)
    figures = figures_of(build, document)
    drawn = {chart.id for chart in OVER_TIME} & set(figures)
    kinds = {"consumer": (80, 90), "store": (20, 30)}
    assert drawn == {
        "series",
        *(f"{kind}-{what}-over-time" for kind in kinds for what in ("cpu", "memory")),
    }
    for kind, values in kinds.items():
        for what in ("cpu", "memory"):
            (line,) = figures[f"{kind}-{what}-over-time"]["data"]
            assert (line["x"], line["y"]) == ([FIRST_S, SECOND_S], list(values))
    views = [figures[name]["layout"]["meta"]["views"] for name in drawn]
    assert all(view == views[0] for view in views)


def test_closed_and_open_loops_share_no_view_over_time(build: Build) -> None:
    rate = {"model": "open", "rate_per_second": 2000, "arrivals": "constant", "connections": 50}
    readings = {"server-1": (80, 90)}
    loads: tuple[Document, ...] = ({}, {"load": rate})
    documents = [with_readings(result(configuration(**load)), readings) for load in loads]
    views = figures_of(build, *documents)["consumer-cpu-over-time"]["layout"]["meta"]["views"]
    assert [len(view["rows"]) for view in views] == [1, 1]


def test_usage_of_several_roles_is_added_up_where_they_were_read_equally_often() -> None:
    document = result(configuration(servers=2))
    with_readings(document, {"server-1": (80, 90), "server-2": (40, 50)})
    assert usage_of(document) == {"server": [(120, 120), (140, 140)]}
    document["resources"]["server-2"]["samples"].pop()
    assert usage_of(document) == {}


def test_cpu_is_not_known_over_time_where_the_correction_for_idle_use_is_too_large() -> None:
    document = with_readings(result(configuration()), {"store-1": (20, 30)})
    store = document["resources"]["store-1"]
    store["idle_us"] = 400_000
    assert usage_of(document) == {"store": [(20, 20), (30, 30)]}
    del store["cpu_us_per_request"]
    assert usage_of(document) == {"store": [(None, 20), (None, 30)]}


def test_the_load_generator_has_usage_where_it_alone_is_the_client() -> None:
    readings = {"generator-1": (50, 60)}
    at_limiter = configuration(layer="limiter", servers=0)
    turns = {"group": 5, "turns": 50, "lead_in_ms": 5, "slice_ms": 100, "drained_s": 0.1}
    assert usage_of(with_readings(result(configuration()), readings)) == {}
    assert list(usage_of(with_readings(result(at_limiter), readings))) == ["generator"]
    assert usage_of(with_readings(result(at_limiter, turns=turns), readings)) == {}


def test_a_short_last_stretch_joins_the_one_before_it() -> None:
    document = result(configuration(), window_s=5)
    samples = validate_result(document).samples  # type: ignore[union-attr]
    assert [len(stretch) for stretch in stretches(samples)] == [1] * 5
    document["samples"][-1]["interval_s"] = 0.1
    samples = validate_result(document).samples  # type: ignore[union-attr]
    assert [len(stretch) for stretch in stretches(samples)] == [1, 1, 1, 2]


def test_a_long_run_has_no_more_points_than_a_chart_can_show() -> None:
    document = result(configuration())
    document["resources"]["store-1"]["samples"] = [
        {"t_s": second, "cpu_percent": 10, "resident_bytes": MIB} for second in range(1, 1001)
    ]
    usage = usage_over_time(validate_result(document))["store"]  # type: ignore[arg-type]
    assert len(usage) <= MAX_POINTS
    assert (usage[-1].t_s, usage[-1].cpu_percent) == (1000, 10)
