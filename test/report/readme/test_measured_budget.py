"""The budget is measured from shifts that are planted, in outputs of benches and in campaigns."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from builder import Document, configuration, hash_of, result
from campaign_writer import manifest, write_campaign
from report.base.errors import ReportError
from report.readme.measured_budget import Shift, from_archives, from_bench, shift_of, upper_bound

#: The deviation of what each row says of its shift.
NOISE = 0.005


def entry(low: float, high: float, **changes: object) -> dict[str, object]:
    """A component as `bench:turns -- order --json FILE` writes it."""
    return {
        "component": "order",
        "layer": "server",
        "figure": "throughput",
        "pair": "none-2 after memory-1",
        "low": low,
        "high": high,
        **changes,
    }


def bench_file(folder: Path, **document: object) -> Path:
    path = folder / "bench.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


class TestBound:
    def test_it_needs_three_rows(self) -> None:
        assert upper_bound([Shift(0.01, 0.0)] * 2) is None
        assert upper_bound([Shift(0.01, 0.0)] * 3) is not None

    def test_a_few_rows_show_less_than_the_bound(self) -> None:
        bound = upper_bound([Shift(0.02, 0.0)] * 4)
        # Nine of ten pairs lie within 1.645 deviations. 1.064 is the tenth percentile of chi² of 4.
        assert bound == pytest.approx(math.expm1(1.645 * 0.02 * math.sqrt(4 / 1.0636)), rel=1e-3)

    def test_noise_alone_bounds_less_than_the_same_shifts_would(self) -> None:
        logs = [0.01, -0.01, 0.01, -0.01, 0.01, -0.01]
        known = upper_bound([Shift(log, 0.0) for log in logs])
        noisy = upper_bound([Shift(log, 0.01**2) for log in logs])
        assert known is not None
        assert noisy is not None
        assert 0 < noisy < known

    @pytest.mark.parametrize("shift", [0.0, 0.01, 0.03])
    @pytest.mark.parametrize("rows", [3, 10, 27])
    def test_nine_of_ten_bounds_lie_above_the_planted_deviation(
        self, shift: float, rows: int
    ) -> None:
        rng = np.random.default_rng(4)
        above = 0
        for _ in range(300):
            logs = shift * rng.standard_normal(rows) + NOISE * rng.standard_normal(rows)
            bound = upper_bound([Shift(log, NOISE**2) for log in logs.tolist()])
            assert bound is not None
            above += bound >= math.expm1(1.645 * shift)
        # Three standard errors below nine of ten.
        assert above / 300 >= 0.9 - 3 * math.sqrt(0.9 * 0.1 / 300)


class TestShift:
    def test_it_is_the_mean_log_ratio_with_the_variance_of_that(self) -> None:
        shift = shift_of([(math.exp(0.01), 1.0), (math.exp(0.02), 1.0), (math.exp(0.03), 1.0)])
        assert shift is not None
        assert (shift.log, shift.variance) == pytest.approx((0.02, 0.01**2 / 3))

    @pytest.mark.parametrize("pairs", [[(1.0, 1.0)] * 2, [(1.0, 1.0), (1.0, 1.0), (0.0, 1.0)]])
    def test_few_rounds_and_failed_ones_show_none(self, pairs: list[tuple[float, float]]) -> None:
        assert shift_of(pairs) is None


class TestBench:
    def test_the_order_of_turns_is_a_component_of_throughput(self, tmp_path: Path) -> None:
        entries = [entry(0.99, 1.01), entry(1.0, 1.02), entry(0.98, 1.0)]
        (component,) = from_bench(bench_file(tmp_path, components=entries), "5,100")
        assert (component.component, component.layer, component.figure, component.pairs) == (
            "order",
            "server",
            "throughput",
            "targets",
        )
        assert 0 < component.at_most < 0.03
        assert component.source == "3 rows of bench.json"
        assert "order" in component.command

    def test_of_long_turns_only_those_of_the_campaigns_count(self, tmp_path: Path) -> None:
        agreements = [
            {"candidate": candidate, "layer": "server", "figure": "CPU", "low": low, "high": high}
            for candidate, low, high in (
                *[("5,100", 1.03, 1.05)] * 3,
                *[("50,100", 1.2, 1.3)] * 3,
                *[("continuous", 0.99, 1.01)] * 3,
                ("5,100", None, None),
            )
        ]
        components = from_bench(bench_file(tmp_path, agreements=agreements), "5,100")
        bounds = {component.component: component.at_most for component in components}
        assert bounds.keys() == {"start of a turn", "group size"}
        assert 0.04 <= bounds["start of a turn"] < 0.16
        assert {component.figure for component in components} == {"cpu"}

    def test_two_rows_bound_nothing(self, tmp_path: Path) -> None:
        entries = [entry(0.99, 1.01), entry(0.99, 1.01)]
        assert from_bench(bench_file(tmp_path, components=entries), "5,100") == []

    @pytest.mark.parametrize(
        "document",
        [
            {},
            {"components": [entry(0.9, 1.1, component="weather")]},
            {"components": [entry(0.9, 1.1, figure="p99")]},
            {"components": [entry(-1.0, 1.1)]},
            {"agreements": [{"candidate": "5,100"}]},
        ],
    )
    def test_other_files_are_refused(self, tmp_path: Path, document: dict[str, object]) -> None:
        with pytest.raises(ReportError):
            from_bench(bench_file(tmp_path, **document), "5,100")

    def test_no_json_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "bench.json"
        path.write_text("{", encoding="utf-8")
        with pytest.raises(ReportError):
            from_bench(path, "5,100")


REFERENCE = "iovalkey"
COPY = "iovalkey+copy"
RATES = {REFERENCE: 2000, COPY: 2000, "valkey-glide": 1500}
ROUNDS = 6


def write_by_turns(folder: Path, shift: float) -> None:
    """Writes a campaign by turns in which the copy differs from its reference by a share."""
    configurations = {label: configuration(label) for label in RATES}
    document = manifest(list(configurations.values()), ROUNDS)
    document["plan"] |= {"order": "turns", "references": [hash_of(configurations[REFERENCE])]}
    runs: list[Document] = []
    results: list[Document] = []
    for number in range(1, ROUNDS + 1):
        for label, configured in configurations.items():
            key = hash_of(configured)
            place = {"run": number, "round": number, "group": 1}
            runs.append({"configuration_hash": key, "file": f"{key}_run{number}.json", **place})
            share = 1 + shift if label == COPY else 1.0
            rate = round(RATES[label] * share * (1 + 0.002 * (number % 3)))
            results.append(result(configured, number, rate))
    document["plan"]["runs"] = runs
    write_campaign(folder, document, results)


class TestArchives:
    def test_copies_bound_what_pairs_of_one_program_meet(self, tmp_path: Path) -> None:
        for number, shift in enumerate((0.02, -0.02, 0.02)):
            write_by_turns(tmp_path / f"campaign-{number}", shift)
        bounds = {entry.figure: entry for entry in from_archives(tmp_path, ["copies"])}
        throughput = bounds["throughput"]
        assert (throughput.component, throughput.layer, throughput.pairs) == (
            "copies",
            "server",
            "one program",
        )
        assert 0.03 < throughput.at_most < 0.08
        assert throughput.source == "3 rows of 3 campaigns"

    def test_two_campaigns_bound_nothing(self, tmp_path: Path) -> None:
        for number in range(2):
            write_by_turns(tmp_path / f"campaign-{number}", 0.02)
        assert from_archives(tmp_path, ["copies"]) == []

    def test_windows_without_parts_bound_no_drift(self, tmp_path: Path) -> None:
        for number in range(3):
            write_by_turns(tmp_path / f"campaign-{number}", 0.02)
        assert from_archives(tmp_path, ["drift"]) == []
