"""The rows of several campaigns as one table."""

from pathlib import Path

import pandas as pd
import pytest

from campaign_folders import add_campaign
from report.analysis.summary import summarize
from report.campaigns.records import placed_rows, record_of
from report.campaigns.rows import COLUMNS, compare_csv, compare_records, rows_of
from report.results.load import load_campaign

FIRST = "20260101_000000"
SECOND = "20260102_000000"


@pytest.fixture
def rows(tmp_path: Path) -> pd.DataFrame:
    folders = [
        add_campaign(
            tmp_path, 1, {"iovalkey": (1000, 1010, 1020), "ioredis@valkey": (500, 500, 500)}
        ),
        add_campaign(tmp_path, 2, {"iovalkey": (2000, 2020, 2040)}),
    ]
    campaigns = [load_campaign(folder, series=False) for folder in folders]
    records = [
        record_of(campaign, summarize(campaign), folder)
        for campaign, folder in zip(campaigns, folders, strict=True)
    ]
    return rows_of(placed_rows(records), FIRST)


def test_types_are_nullable(rows: pd.DataFrame) -> None:
    kinds = {str(kind) for kind in rows[list(COLUMNS)].dtypes}
    assert kinds == {"Float64", "Int64", "boolean", "string"}


def test_a_history_is_a_selection_in_order_of_time(rows: pd.DataFrame) -> None:
    histories = rows.groupby("history")["campaign"].agg(list).to_list()
    assert sorted(histories) == [[FIRST], [FIRST, SECOND]]


def test_what_no_other_campaign_measured_has_no_ratio(rows: pd.DataFrame) -> None:
    of_second = rows.set_index(["campaign", "label"])["requests_per_second_to_baseline"]
    assert of_second[SECOND, "iovalkey"] == pytest.approx(2)
    alone = rows.loc[rows["label"].eq("ioredis@valkey"), "highest_to_lowest"]
    assert alone.isna().all()


def test_files_have_columns_of_a_baseline_only_with_one(rows: pd.DataFrame) -> None:
    to_baseline = [name for name in COLUMNS if name.endswith("_to_baseline")]
    assert len(to_baseline) == 4
    with_one, without = (
        compare_csv(rows, baseline).split("\n")[0].split(",") for baseline in (FIRST, None)
    )
    assert with_one == list(COLUMNS)
    assert without == [name for name in COLUMNS if name not in to_baseline]
    assert list(compare_records(rows, None)[0]) == without
