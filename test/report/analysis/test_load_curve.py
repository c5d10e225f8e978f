"""The load curve: cores at each rate, between two rates, and ratios in one family."""

import math
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from builder import Document
from campaign_writer import write_campaign
from curve_documents import (
    LEAD_IN_MS,
    REFERENCE,
    SLICE_S,
    TARGETS,
    CurveTarget,
    curve_campaign,
)
from report.analysis.campaign_analysis import Analysis, analyse
from report.analysis.figures import p99
from report.analysis.load_curve import LoadCurve, Part, TargetCurve
from report.results.load import load_campaign

RATES = (200, 1000, 5000)
ROUNDS = 11
LOADED_S = SLICE_S + LEAD_IN_MS / 1000
COPY = f"{REFERENCE}+copy"
SERVER = Part("server", "server")
STORE = Part("store", "store")


def analysed(folder: Path, campaign: tuple[Document, list[Document]]) -> Analysis:
    return analyse(load_campaign(write_campaign(folder / "campaign", *campaign)))


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    targets = {
        **TARGETS,
        COPY: TARGETS[REFERENCE],
        "none": CurveTarget(request_us=20, store_us=0),
    }
    campaign = curve_campaign(targets, RATES, ROUNDS, copies={COPY: REFERENCE})
    return analysed(tmp_path_factory.mktemp("curve"), campaign)


@pytest.fixture(scope="module")
def curve(analysis: Analysis) -> LoadCurve:
    (only,) = analysis.load_curves
    return only


def target_of(curve: LoadCurve, label: str) -> TargetCurve:
    (matching,) = [target for target in curve.targets if target.identity.label == label]
    return matching


def test_targets_stand_with_the_reference_first_and_controls_last(curve: LoadCurve) -> None:
    labels = [target.identity.label for target in curve.targets]
    assert labels == [REFERENCE, COPY, "iovalkey", "valkey-glide", "none"]
    assert list(curve.rates) == list(RATES)
    assert [part.kind for part in curve.parts] == ["server", "store"]


@pytest.mark.parametrize("label", TARGETS)
def test_cores_at_a_measured_rate_hold_the_true_cost(curve: LoadCurve, label: str) -> None:
    for rate in RATES:
        estimate = target_of(curve, label).at(SERVER, rate).estimate
        assert estimate and estimate.low and estimate.high
        true_cores = TARGETS[label].server_cores(rate)
        assert estimate.low <= estimate.value <= estimate.high
        # The median of eleven runs that deviate by 2 %.
        assert math.isclose(estimate.value, true_cores, rel_tol=0.03)


def test_between_two_rates_it_is_the_line_through_both(curve: LoadCurve) -> None:
    target = target_of(curve, "iovalkey")
    found = target.at(SERVER, 2000)
    ends = [TARGETS["iovalkey"].server_cores(rate) for rate in (1000, 5000)]
    assert list(found.between or ()) == [1000, 5000]
    assert found.estimate is not None
    assert math.isclose(found.estimate.value, 0.75 * ends[0] + 0.25 * ends[1], rel_tol=0.03)
    assert found.cpu_us_per_request is not None
    assert math.isclose(found.cpu_us_per_request.value, found.estimate.value / 2000 * 1e6)


@pytest.mark.parametrize("rate", [199.9, 5001, 7000])
def test_beyond_the_measured_rates_it_is_refused(curve: LoadCurve, rate: float) -> None:
    """Full load, at 8,000/s, is no point."""
    found = target_of(curve, REFERENCE).at(SERVER, rate)
    assert found.estimate is None
    assert found.cpu_us_per_request is None
    assert "from 200/s to 5,000/s" in found.reason


def test_rounds_are_interpolated_one_by_one(tmp_path: Path) -> None:
    """The rounds in which a target is cheap at the low rate are those in which it is dear at the
    high one, so that the line through both medians is another."""
    low_us = [10, 20, 30, 40, 50, 60, 70]
    high_us = [40, 40, 40, 10, 10, 10, 10]
    manifest, results = curve_campaign(
        {REFERENCE: CurveTarget()}, (1000, 2000), len(low_us), saturation=False
    )
    for document in results:
        costs = low_us if document["configuration"]["load"]["rate_per_second"] == 1000 else high_us
        rate = document["configuration"]["load"]["rate_per_second"]
        cpu_us = costs[document["run"] - 1] * rate * LOADED_S
        document["resources"]["server-1"]["cpu_us"] = round(cpu_us)
    (curve,) = analysed(tmp_path, (manifest, results)).load_curves
    found = curve.targets[0].at(SERVER, 1500)
    lines = [
        (low * 1000 + high * 2000) / 2 / 1e6 for low, high in zip(low_us, high_us, strict=True)
    ]
    assert found.estimate is not None
    assert math.isclose(found.estimate.value, median(lines))
    assert not math.isclose(
        found.estimate.value, (median(low_us) * 1000 + median(high_us) * 2000) / 2 / 1e6
    )
    # Seven rounds: the interval of the median is the whole range.
    assert found.estimate.low is not None
    assert found.estimate.high is not None
    assert math.isclose(found.estimate.low, min(lines))
    assert math.isclose(found.estimate.high, max(lines))


def test_below_six_rounds_there_is_no_interval(tmp_path: Path) -> None:
    campaign = curve_campaign({REFERENCE: CurveTarget()}, (500, 1000), 5, saturation=False)
    (curve,) = analysed(tmp_path, campaign).load_curves
    for rate in (500, 700):
        estimate = curve.targets[0].at(SERVER, rate).estimate
        assert estimate is not None
        assert (estimate.low, estimate.high) == (None, None)


def test_comparisons_of_a_figure_are_one_family_over_targets_and_rates(
    analysis: Analysis, curve: LoadCurve
) -> None:
    for part in (SERVER, STORE):
        ratios = [
            point.ratios[part.kind]
            for label in ("iovalkey", "valkey-glide")
            for point in target_of(curve, label).points
        ]
        assert len(ratios) == 2 * len(RATES)
        assert {ratio.comparisons for ratio in ratios} == {2 * len(RATES)}
    for cell in (cell for cell in analysis.cells if cell.identity.open_loop):
        for pair in cell.rankings[0].cpu_pairs:
            assert pair.comparison.comparisons == 2 * len(RATES)
    closed = next(cell for cell in analysis.cells if not cell.identity.open_loop)
    assert {pair.comparison.comparisons for pair in closed.rankings[0].ranked_by} == {2}


def test_the_ratio_by_rate_is_that_of_the_costs_there(curve: LoadCurve) -> None:
    for label in ("iovalkey", "valkey-glide"):
        for point in target_of(curve, label).points:
            rate = point.rate_per_second
            ratio = point.ratios["server"].ratio
            assert ratio is not None
            true_ratio = TARGETS[label].server_us(rate) / TARGETS[REFERENCE].server_us(rate)
            assert math.isclose(ratio, true_ratio, rel_tol=0.03)
            assert point.ratios["server"].conclusion == "worse"


def test_a_copy_is_compared_and_belongs_to_no_family(curve: LoadCurve) -> None:
    for point in target_of(curve, COPY).points:
        assert point.ratios["server"].comparisons == len(RATES)
        assert not point.ratios["server"].shown


def test_full_load_is_told_apart_from_the_rates(curve: LoadCurve) -> None:
    glide = target_of(curve, "valkey-glide")
    assert [row.identity.open_loop for row in glide.full_loads] == [False]
    assert glide.full_load_ratios["throughput"].conclusion == "slower"


def test_a_group_has_as_many_targets_as_are_up(analysis: Analysis) -> None:
    assert {row.group_sizes for row in analysis.summaries} == {(5,)}


def test_it_is_not_checked_whether_one_long_turn_is_settled(analysis: Analysis) -> None:
    assert not any(ranking.settlings for cell in analysis.cells for ranking in cell.rankings)


def test_percentiles_come_from_all_rounds_where_one_has_too_few_samples(curve: LoadCurve) -> None:
    few, merged, enough = (point.summary for point in target_of(curve, REFERENCE).points)
    assert few.figure_of(p99).few_samples
    assert merged.figure_of(p99).merged
    assert not enough.figure_of(p99).merged


def test_a_target_that_fails_its_load_has_no_cost_there(tmp_path: Path) -> None:
    manifest, results = curve_campaign({REFERENCE: CurveTarget()}, (500, 1000, 2000), 6)
    for document in results:
        if document["configuration"]["load"].get("rate_per_second") == 2000:
            document["outcome"] = "overloaded"
            document["outcome_text"] = "it kept 1,500/s of 2,000/s"
    (curve,) = analysed(tmp_path, (manifest, results)).load_curves
    target = curve.targets[0]
    at_rate = target.at(SERVER, 2000)
    assert at_rate.estimate is None
    assert at_rate.spoiled
    assert target.at(SERVER, 1500).estimate is None
    assert target.at(SERVER, 700).estimate is not None


def test_without_rates_in_the_plan_there_is_no_curve(tmp_path: Path) -> None:
    manifest, results = curve_campaign({REFERENCE: CurveTarget()}, (500, 1000), 2)
    del manifest["plan"]["load_curve"]
    analysis = analysed(tmp_path, (manifest, results))
    assert analysis.load_curves == ()
    assert not any(row.in_curve for row in analysis.summaries)


def test_a_rate_without_runs_leaves_the_others(tmp_path: Path) -> None:
    target = replace(CurveTarget(), most_per_second=3000)
    manifest, results = curve_campaign({REFERENCE: target}, (500, 1000, 2000), 6)
    kept = [
        document
        for document in results
        if document["configuration"]["load"].get("rate_per_second") != 1000
    ]
    (curve,) = analysed(tmp_path, (manifest, kept)).load_curves
    (only,) = curve.targets
    assert only.at(SERVER, 1000).estimate is None
    assert only.at(SERVER, 1000).reason
    assert list(only.at(SERVER, 1500).between or ()) == [500, 2000]


def test_a_campaign_without_a_rate_has_no_curve(tmp_path: Path) -> None:
    described, results = curve_campaign({REFERENCE: TARGETS[REFERENCE]}, rates=(), rounds=2)
    described["plan"]["load_curve"]["rates"] = [200]
    assert analysed(tmp_path, (described, results)).load_curves == ()


@pytest.mark.parametrize(("late_runs", "is_told"), [(3, False), (2, True)])
def test_late_sends_of_half_of_the_runs_hide_the_percentile_and_no_cost(
    tmp_path: Path, late_runs: int, is_told: bool
) -> None:
    described, results = curve_campaign({REFERENCE: TARGETS[REFERENCE]}, (200,), 6)
    at_rate = [result for result in results if result["configuration"]["load"]["model"] == "open"]
    for result in at_rate[:late_runs]:
        result["schedule"]["lateness_ms"]["p99"] = result["latency"]["p99"] / 2 + 1
    (curve,) = analysed(tmp_path, (described, results)).load_curves
    (target,) = curve.targets
    assert (target.points[0].summary.figure_of(p99).value is not None) is is_told
    assert target.at(SERVER, 200).estimate is not None
