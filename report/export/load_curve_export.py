"""Makes the CSV and JSON of load curves."""

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from report.analysis import column
from report.analysis.column import Column, Read
from report.analysis.figures import throughput
from report.analysis.load_curve import (
    CurvePoint,
    Estimate,
    LoadCurve,
    Part,
    TargetCurve,
)
from report.analysis.summary_columns import interval_end
from report.base.csv_text import picked
from report.export.comparison_document import comparison_document, rounded
from report.export.frame_csv import entries_csv
from report.statistics.comparison import Comparison

#: Decimals of cores. At 100 requests/s a store may use a few thousandths of a CPU.
_DIGITS = 6


class _CurveRow(Struct, frozen=True):
    """A part of a target at a rate."""

    curve: LoadCurve
    target: TargetCurve
    point: CurvePoint
    part: Part

    @property
    def estimate(self) -> Estimate | None:
        return self.point.cores(self.part)

    @property
    def ratio(self) -> Comparison | None:
        return self.point.ratios.get(self.part.kind)


def _estimated(end: str) -> Read:
    return lambda row: getattr(row.estimate, end, None)


_COLUMNS: Mapping[str, Column] = {
    "configuration_hash": column.text(attrgetter("point.summary.identity.configuration_hash")),
    "label": column.text(attrgetter("target.identity.label")),
    "curve": column.text(attrgetter("curve.title")),
    "rate_per_second": column.number(attrgetter("point.rate_per_second"), 3, "1/s"),
    "part": column.text(attrgetter("part.kind")),
    "cores": column.number(_estimated("value"), _DIGITS, "cores"),
    "cores_interval_low": column.number(_estimated("low"), _DIGITS, "cores"),
    "cores_interval_high": column.number(_estimated("high"), _DIGITS, "cores"),
    "cpu_us_per_request": column.number(
        lambda row: row.point.summary.figure_of(row.part.cpu).value, 3, "us"
    ),
    "runs": column.whole(attrgetter("point.summary.counted_runs")),
    "ratio": column.number(lambda row: row.ratio.ratio if row.ratio else None, 4),
    "ratio_interval_low": column.number(lambda row: interval_end(row.ratio, "low"), 4),
    "ratio_interval_high": column.number(lambda row: interval_end(row.ratio, "high"), 4),
    "conclusion": column.text(lambda row: row.ratio.conclusion if row.ratio else None),
    "p_holm": column.number(lambda row: row.ratio.p_holm if row.ratio else None, None),
}


def load_curve_csv(curves: Sequence[LoadCurve]) -> str:
    """A row for each part of each target at each rate."""
    return entries_csv(_COLUMNS, _rows(curves))


def _rows(curves: Sequence[LoadCurve]) -> Iterator[_CurveRow]:
    for curve in curves:
        for target in curve.targets:
            for point in target.points:
                for part in curve.parts:
                    yield _CurveRow(curve, target, point, part)


def load_curve_documents(curves: Sequence[LoadCurve]) -> list[dict[str, Any]]:
    return [
        {
            "title": curve.title or None,
            "layer": curve.text.layer,
            "rates_per_second": list(curve.rates),
            "reference": curve.reference.identity.label if curve.reference else None,
            "targets": [_target(curve, target) for target in curve.targets],
        }
        for curve in curves
    ]


def _target(curve: LoadCurve, target: TargetCurve) -> dict[str, Any]:
    return {
        **picked(target.identity, "label", "control", "copy_of"),
        "points": [_point(curve, point) for point in target.points],
        "full_load": [
            {
                "configuration_hash": row.identity.configuration_hash,
                "requests_per_second": rounded(row.figure_of(throughput).value),
                "limited_by": picked(row.limit, "resource", "text", "runs", "of_runs")
                if row.limit
                else None,
            }
            for row in target.full_loads
        ],
        "full_load_ratios": _ratios(target.full_load_ratios),
    }


def _point(curve: LoadCurve, point: CurvePoint) -> dict[str, Any]:
    estimates = {part.kind: point.cores(part) for part in curve.parts}
    medians = {part.kind: point.summary.figure_of(part.cpu).value for part in curve.parts}
    return {
        "configuration_hash": point.summary.identity.configuration_hash,
        "rate_per_second": point.rate_per_second,
        "runs": point.summary.counted_runs,
        "cores": {kind: asdict(estimate) for kind, estimate in estimates.items() if estimate},
        "cpu_us_per_request": {
            kind: round(median, 3) for kind, median in medians.items() if median is not None
        },
        "ratios": _ratios(point.ratios),
        "hole": point.summary.no_figures_reason or None,
    }


#: The members of a comparison in these documents.
_COMPARED = (
    "conclusion",
    "statement",
    "ratio",
    "interval",
    "p_holm",
    "comparisons_in_family",
    "pairs",
)


def _ratios(ratios: Mapping[str, Comparison]) -> dict[str, dict[str, Any]]:
    """The comparisons with the reference by kind of role, `p99` or `throughput`."""
    documents = {name: comparison_document(ratio) for name, ratio in ratios.items()}
    return {
        name: {member: document[member] for member in _COMPARED}
        for name, document in documents.items()
    }
