"""Golden numbers, each worked out by hand."""

import pytest
from hdrh.histogram import HdrHistogram

from evidence import encoded, histogram_of
from report.statistics.histograms import (
    Bounds,
    Histogram,
    decode_histogram,
    merge_histograms,
    percentile_bounds,
    unsupported_percentiles,
)


def percentiles_ms(histogram: Histogram) -> dict[str, float | None]:
    return {name: bounds.figure for name, bounds in percentile_bounds(histogram).items()}


def test_percentiles_of_merged_histograms_are_not_averages_of_percentiles() -> None:
    # 990 values of 100 µs on one worker, 10 of 2000 µs on another: the median is 0.1 ms, not 1.05
    # ms.
    merged = merge_histograms([histogram_of({100: 990}), histogram_of({2000: 10})])
    assert merged is not None
    percentiles = percentiles_ms(merged)
    assert merged.total == 1000
    assert percentiles["p50"] == 0.1
    assert percentiles["p99"] == 0.1
    assert percentiles["p99_9"] == 2.0


def test_percentile_is_the_value_at_its_rank() -> None:
    # 40 of 500 µs, then 60 of 1000 µs: rank 50 is 1000 µs; of 51 and 49, rank 50 is 500 µs.
    assert percentiles_ms(histogram_of({500: 40, 1000: 60}))["p50"] == 1.0
    assert percentiles_ms(histogram_of({500: 51, 1000: 49}))["p50"] == 0.5


def test_percentiles_are_those_of_the_generators_library() -> None:
    # Made by hdr-histogram-js: 1598 of 100 µs, one of 5000, one of 9000; rank ⌈0.999 · 1600⌉ is the
    # 5000.
    data = "HISTFAAAAC14nJNpmSzMwMDAxcDAwMjAwMDMAAEgNgO7Oh8DjH+c8Y/ET0OmZj4mAF4VBS4="
    decoded = decode_histogram(data, 1600)
    percentiles = percentiles_ms(decoded)
    assert [percentiles[name] for name in ("p50", "p75", "p90", "p95", "p97_5", "p99")] == [0.1] * 6
    assert percentiles["p99_9"] == 5.003


@pytest.mark.parametrize("lowest", [1, 8, 1000])
@pytest.mark.parametrize("figures", [1, 2, 3, 5])
def test_buckets_are_those_of_another_implementation(lowest: int, figures: int) -> None:
    """Values of every order of magnitude, some of them many times."""
    other = HdrHistogram(lowest, 3_600_000_000, figures)
    values = [lowest * value for value in (1, 2, 3, 255, 256, 2047, 2048, 2049, 99_999, 3_000_001)]
    for times, value in enumerate(values):
        other.record_value(value, 1 + 1000**times % 1_000_003)
    total = other.get_total_count()
    decoded = decode_histogram(other.encode().decode("ascii"), total)
    ends = decoded.highest_values_at(decoded.indices.tolist())
    assert ends == sorted({other.get_highest_equivalent_value(value) for value in values})
    assert [decoded.index_of(end) for end in ends] == decoded.indices.tolist()
    assert decoded.numbers.tolist() == [other.get_count_at_index(at) for at in decoded.indices]


def test_histograms_with_other_buckets_are_merged_by_value() -> None:
    coarse = HdrHistogram(1, 1_000_000, 1)
    coarse.record_value(500, 30)
    decoded = decode_histogram(coarse.encode().decode("ascii"), 30)
    merged = merge_histograms([histogram_of({500: 10, 100_000: 5}), decoded])
    assert merged is not None
    assert merged.total == 45
    assert percentiles_ms(merged)["p50"] == pytest.approx(0.5, rel=0.07)
    assert percentiles_ms(merged)["p99"] == pytest.approx(100, rel=0.01)


def test_nothing_recorded_has_no_percentiles() -> None:
    assert percentiles_ms(histogram_of({})) == {}
    assert merge_histograms([]) is None


def test_histogram_survives_its_encoding() -> None:
    assert percentiles_ms(histogram_of({500: 40, 1000: 60}))["p50"] == 1.0


@pytest.mark.parametrize("data", ["", "AAAA", "not base64!", "HISTFAAAAB542pNpmSzMwMDAwgAB"])
def test_damaged_histogram_is_refused(data: str) -> None:
    with pytest.raises(ValueError, match=r"is damaged|is not an HDR histogram"):
        decode_histogram(data, 1)


def test_histogram_must_hold_as_many_values_as_it_says() -> None:
    with pytest.raises(ValueError, match="holds 2 values, but count says 3"):
        decode_histogram(encoded({500: 2})["data"], 3)


@pytest.mark.parametrize(
    ("samples", "unsupported"),
    [(9_999, ("p99", "p99_9")), (10_000, ("p99_9",)), (99_999, ("p99_9",)), (100_000, ())],
)
def test_percentiles_need_samples(samples: int, unsupported: tuple[str, ...]) -> None:
    assert unsupported_percentiles(samples) == unsupported


def test_requests_without_an_answer_bound_what_they_could_move() -> None:
    # 990 answers of 1 ms; 10 time-outs at 20 ms. Rank 990 of 1000 is an answer, rank 999 a
    # time-out.
    bounds = percentile_bounds(histogram_of({1000: 990}), histogram_of({20_000: 10}))
    assert (bounds["p50"].figure, bounds["p99"].figure) == (1.0, 1.0)
    assert bounds["p99_9"].low == pytest.approx(20.0, rel=1e-3)
    assert bounds["p99_9"].high is None
    assert bounds["p99_9"].figure is None


def test_a_percentile_has_an_upper_bound_where_an_answer_stands_at_its_rank() -> None:
    # 50 of 1 ms, 40 of 2 ms, 9 of 8 ms, and one lost at 3 ms: rank 90 of 100 is 2 ms whatever came
    # of it, rank 91 would be that one (3 ms) or the next answer (8 ms).
    answered = histogram_of({1000: 50, 2000: 40, 8000: 9})
    bounds = percentile_bounds(answered, histogram_of({3000: 1}))
    assert bounds["p90"].figure == pytest.approx(2.0, rel=1e-3)
    lost_early = percentile_bounds(histogram_of({1000: 89, 8000: 10}), histogram_of({3000: 1}))
    assert lost_early["p90"].low == pytest.approx(3.0, rel=1e-3)
    assert lost_early["p90"].high == pytest.approx(8.0, rel=1e-3)


def test_bounds_within_the_accuracy_of_a_latency_are_one_figure() -> None:
    assert Bounds(1.0, 1.04).figure == 1.04
    assert Bounds(1.0, 1.06).figure is None
    assert Bounds(1000.0, 1001.0).figure == 1001.0
    assert Bounds(1000.0, 1002.0).figure is None
