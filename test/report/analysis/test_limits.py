"""Rows that differ by limits or cost alone are told apart."""

from builder import configuration, result
from conftest import summaries_of
from report.analysis.texts import load_text, shared_load_text, varying_fields


def _limits(**changes: int) -> dict[str, int]:
    return {"points": 1_000_000_000, "window_s": 60, "block_s": 0, **changes}


def _rows(*limits: dict[str, int]):  # type: ignore[no-untyped-def]
    return summaries_of(*(result(configuration("iovalkey", limits=limit)) for limit in limits))


def test_cost_alone() -> None:
    rows = _rows(_limits(), _limits(cost=5))
    fields = varying_fields(rows)
    assert [load_text(row.identity, fields) for row in rows] == ["cost 1", "cost 5"]
    assert "cost" not in shared_load_text(rows)


def test_points_and_window() -> None:
    rows = _rows(
        _limits(points=10, window_s=1), _limits(points=10, window_s=60), _limits(points=1000)
    )
    fields = varying_fields(rows)
    texts = [load_text(row.identity, fields) for row in rows]
    assert texts == [
        "10 points · 1 s window",
        "10 points · 60 s window",
        "1,000 points · 60 s window",
    ]


def test_a_shared_cost_is_named_and_shared_limits_are_not() -> None:
    rows = _rows(_limits(points=10, cost=5))
    assert varying_fields(rows) == ()
    assert "cost 5" in shared_load_text(rows)
    assert "points" not in shared_load_text(rows)
