"""The tables of a campaign as DataFrames, of the example in the repository."""

import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pandas as pd
import pytest

from report.analysis.campaign_analysis import analyse
from report.analysis.columns import RUN_COLUMNS
from report.analysis.figure_list import FIGURE_LIST
from report.analysis.frames import Frames, frames
from report.analysis.summary_columns import SUMMARY_COLUMNS
from report.base.paths import ROOT
from report.export.summary_json import summary_document
from report.export.tables_csv import RUNS_HEADER, SUMMARY_HEADER
from report.results.load import load_campaign
from report.sections.decision_table import decision_row


@pytest.fixture(scope="module")
def example_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("frames")
    with tarfile.open(ROOT / "results" / "example.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "example"


@pytest.fixture(scope="module")
def example(example_folder: Path) -> Frames:
    return frames(example_folder)


def test_every_figure_has_a_column_in_both_tables(example: Frames) -> None:
    assert set(FIGURE_LIST) <= set(example.runs.columns)
    assert set(FIGURE_LIST) <= set(example.summary.columns)
    assert set(RUNS_HEADER) <= set(RUN_COLUMNS)
    assert set(SUMMARY_HEADER) <= set(SUMMARY_COLUMNS)


def test_types_are_nullable(example: Frames) -> None:
    for table in (example.runs, example.summary, example.comparisons, example.seconds):
        assert len(table) > 0
        assert {str(kind) for kind in table.dtypes} <= {"Float64", "Int64", "boolean", "string"}


def test_a_median_is_that_of_the_runs_that_count(example: Frames) -> None:
    counted = example.runs[
        example.runs["verdict"].ne("invalid") & example.runs["outcome"].eq("served")
    ]
    medians = counted.groupby("row")["requests_per_second"].median()
    summary = example.summary.set_index("row")["requests_per_second"]
    pd.testing.assert_series_equal(
        summary.dropna().sort_index(), medians.sort_index(), check_names=False
    )


def test_tables_share_the_key_of_a_configuration(example: Frames) -> None:
    rows = set(example.summary["row"])
    assert set(example.runs["row"]) == rows
    assert set(example.seconds["row"]) <= rows
    assert set(example.comparisons["base_row"]) | set(example.comparisons["new_row"]) <= rows


def test_seconds_are_those_of_the_selected_runs(example: Frames) -> None:
    selected = example.runs.loc[example.runs["median"], ["row", "run"]]
    of_seconds = example.seconds[["row", "run"]].drop_duplicates()
    assert len(of_seconds.merge(selected)) == len(of_seconds)


def test_page_csv_and_json_use_the_same_words_for_conclusions(example_folder: Path) -> None:
    analysis = analyse(load_campaign(example_folder))
    in_csv = Frames(analysis).summary.set_index("row")["conclusion"]
    in_json = {
        comparison["new_hash"]: comparison["conclusion"]
        for conclusion in summary_document(analysis, "")["conclusions"]
        for comparison in conclusion["comparisons"]
        if comparison["base"] == conclusion["reference"]
    }
    assert {"faster", "slower"} & set(in_json.values())
    for cell in analysis.cells:
        for ranking in cell.rankings:
            for row in ranking.summaries:
                on_page = decision_row(row, cell.text, ranking).status
                assert in_csv[row.id] == on_page
                assert in_json.get(row.identity.configuration_hash, "reference") == on_page


def test_a_ratio_is_that_of_its_comparison(example: Frames) -> None:
    ranked = example.comparisons[example.comparisons["family"].isin(["ranking", "copy"])]
    merged = ranked.merge(
        example.summary, left_on="new_row", right_on="row", suffixes=("", "_of_row")
    )
    same_base = merged[merged["base"].eq(merged["ratio_to"])]
    assert len(same_base) > 0
    assert same_base["ratio"].equals(same_base["ratio_of_row"])
    assert same_base["interval_low"].equals(same_base["ratio_interval_low"])


def test_what_a_campaign_asks_between_rounds_does_not_load_pandas() -> None:
    code = (
        "import json, sys; sys.path.insert(0, sys.argv[1]); "
        "import report.cli.decide_rounds_command, report.cli.statistics_command; "
        "print(json.dumps('pandas' in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, str(ROOT)], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) is False


def test_a_family_is_named_for_each_comparison(example: Frames) -> None:
    bases = example.comparisons.groupby("family")["base"].nunique()
    assert bases["ranking"] == 1
    assert set(example.comparisons["family"]) == {"ranking", "order", "cpu", "copy"}
