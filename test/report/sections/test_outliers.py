"""Runs far from their siblings, by fences that were worked out by hand."""

import pytest

from builder import configuration, result
from conftest import summaries_of
from report.sections.problems import fences, outliers


def runs_found(*values: int) -> list[int]:
    documents = [result(configuration(), run, value) for run, value in enumerate(values, start=1)]
    return [run.run for _, run, _ in outliers(summaries_of(*documents))]


def test_fences_are_tukeys() -> None:
    # Quartiles of 1, 2, 3, 4, 5 with both ends included are 2 and 4.
    assert fences([1, 2, 3, 4, 5]) == pytest.approx((-1, 7))


def test_run_beyond_the_fences_is_found() -> None:
    assert runs_found(1000, 1010, 1020, 1030, 700) == [5]


def test_four_runs_are_too_few() -> None:
    assert runs_found(1000, 1010, 1020, 100) == []


def test_run_within_five_percent_is_none_however_alike_the_others_are() -> None:
    assert runs_found(1000, 1000, 1000, 1000, 1040) == []
    assert runs_found(1000, 1000, 1000, 1000, 1060) == [5]
