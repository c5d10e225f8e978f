"""The table of all campaigns, with a row for each campaign and configuration, from which
compare.csv, compare.json, the tables and the histories select.

It also has the columns that only several campaigns together can have, such as ratios between
them."""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

import pandas as pd
from msgspec import Struct, structs

from report.analysis import column
from report.analysis.column import Column
from report.analysis.figures import DOCUMENTED_FIGURES, p99, throughput
from report.analysis.frames import table
from report.analysis.summary import Summary
from report.analysis.summary_columns import RANGE_ENDS, SUMMARY_COLUMNS
from report.analysis.table_entries import SummaryEntry
from report.analysis.texts import load_text
from report.base.csv_text import csv_text
from report.compare.common_references import ReferenceKey, ratios_to, references_of
from report.export.frame_csv import frame_csv
from report.export.tables_csv import LATER_DIMENSIONS
from report.statistics.decision import compare_runs

Record = Mapping[str, Any]
"""A row of the table by column, with None where it has no value."""


class CampaignRow(Struct, frozen=True, kw_only=True):
    """A configuration of one campaign without its runs, so that many campaigns fit into memory."""

    cells: Record
    samples: Mapping[str, tuple[float, ...]]
    """The values of all runs that count, by the name of the figure."""
    ratios: Mapping[ReferenceKey, Mapping[str, tuple[float, ...]]]
    """The ratios of this row to a reference in each round, by reference and figure."""

    def ratio_to(self, base: "CampaignRow", figure: str) -> float | None:
        """The one estimate of a ratio (rule M28). It goes through the common reference where the
        rows have one (rule M22), and is None below two runs, or rounds, per side."""
        reference = next((key for key in base.ratios if key in self.ratios), None)
        if reference is None:
            return compare_runs(self.samples[figure], base.samples[figure]).ratio
        return compare_runs(self.ratios[reference][figure], base.ratios[reference][figure]).ratio


class _Entry(SummaryEntry, frozen=True, kw_only=True):
    versions: Mapping[str, str]
    """The versions of client, limiter and store as the runs reported them."""


def _of_summary(name: str, digits: int | None = None) -> Column:
    """The column of summary.csv. `digits` is given where this table prints other decimals."""
    summary_column = SUMMARY_COLUMNS[name]
    if digits is None:
        return summary_column
    return structs.replace(summary_column, digits=digits)


def _versions_text(entry: _Entry) -> str:
    return ", ".join(f"{part} {version}" for part, version in entry.versions.items())


def _has_supported_p99(entry: _Entry) -> bool:
    return entry.summary.has_figures and not entry.summary.figure_of(p99).few_samples


#: Figures whose range stands at the end of the row. That of the throughput stands beside it.
_RANGED = tuple(name for name in DOCUMENTED_FIGURES if name != "requests_per_second")

#: The columns that files had from the beginning. Columns that came later stand at the end, because
#: some readers take columns by their place.
_FIRST_OF_ROW: Mapping[str, Column] = {
    "configuration_hash": _of_summary("configuration_hash"),
    "label": _of_summary("label"),
    "store": _of_summary("store"),
    "topology": _of_summary("topology"),
    "workload": _of_summary("workload"),
    "traffic": _of_summary("traffic"),
    "load": column.text(lambda entry: load_text(entry.summary.identity)),
    "control": _of_summary("control"),
    "valid_runs": _of_summary("valid_runs"),
    "planned_runs": column.whole(
        lambda entry: len(entry.summary.runs) + len(entry.summary.missing)
    ),
    "verdict": _of_summary("verdict"),
    "requests_per_second": _of_summary("requests_per_second", 2),
    "requests_per_second_min": _of_summary("requests_per_second_min"),
    "requests_per_second_max": _of_summary("requests_per_second_max"),
    "requests_per_second_cv_percent": _of_summary("requests_per_second_cv_percent"),
    "latency_p50_ms": _of_summary("latency_p50_ms"),
    "latency_p99_ms": _of_summary("latency_p99_ms"),
    "latency_p99_supported": column.truth(_has_supported_p99),
    "server_cpu_us_per_request": _of_summary("server_cpu_us_per_request"),
    "versions": column.text(_versions_text),
}
_LATER_OF_ROW: Mapping[str, Column] = {
    "layer": _of_summary("layer"),
    "servers": _of_summary("servers"),
    "calls_per_request": _of_summary("calls_per_request"),
    "descriptors_per_call": _of_summary("descriptors_per_call"),
    "served_runs": _of_summary("served_runs"),
    "spoiled_runs": _of_summary("spoiled_runs"),
    **{name: _of_summary(name) for name in LATER_DIMENSIONS},
    **{f"{name}_{end}": _of_summary(f"{name}_{end}") for name in _RANGED for end, _ in RANGE_ENDS},
    "latency_p99_merged": column.truth(lambda entry: entry.summary.figure_of(p99).merged),
    "suspect_runs": _of_summary("suspect_runs"),
}
_HOLE = {"hole": column.text(lambda entry: entry.summary.no_figures_reason)}

#: Columns that only pages read.
_OF_PAGES: Mapping[str, Column] = {
    "key": column.text(lambda entry: entry.summary.identity.key),
    "open_loop": column.truth(lambda entry: entry.summary.identity.open_loop),
    "group_text": column.text(lambda entry: entry.summary.group_text),
    "store_text": _of_summary("store_text"),
    "store_version": column.text(lambda entry: entry.versions.get("store")),
}
_OF_ROW: Mapping[str, Column] = {**_FIRST_OF_ROW, **_HOLE, **_LATER_OF_ROW, **_OF_PAGES}

TO_BASELINE = {f"{name}_to_baseline": name for name in DOCUMENTED_FIGURES}

#: The columns of compare.csv and compare.json, in their order, which some readers rely on.
COLUMNS: Mapping[str, Column] = {
    "campaign": Column("string"),
    "started_at": Column("string"),
    "place": Column("Int64"),
    "group": Column("Int64"),
    **_FIRST_OF_ROW,
    "software": Column("string"),
    **_HOLE,
    "highest_to_lowest": Column("Float64", digits=4),
    "versions_changed": Column("boolean"),
    **{name: Column("Float64", digits=6) for name in TO_BASELINE},
    **_LATER_OF_ROW,
}


def campaign_row(
    summary: Summary, summaries: Sequence[Summary], versions: Mapping[str, str]
) -> CampaignRow:
    entry = _Entry(summary=summary, ranking=None, versions=versions)
    return CampaignRow(
        cells={name: row_column.read(entry) for name, row_column in _OF_ROW.items()},
        samples={name: summary.sample(figure) for name, figure in DOCUMENTED_FIGURES.items()},
        ratios={
            key: {
                name: ratios_to(reference, summary, figure)
                for name, figure in DOCUMENTED_FIGURES.items()
            }
            for key, reference in references_of(summary, summaries).items()
        },
    )


class PlacedRow(Struct, frozen=True, kw_only=True):
    """A row with the properties that all rows of its campaign share."""

    row: CampaignRow
    campaign: str
    started_at: str
    place: int
    group: int
    software: str
    runtime: str


def _cell(name: str) -> column.Read:
    cell_of = itemgetter(name)
    return lambda placed: cell_of(placed.row.cells)


def _member(name: str) -> column.Read:
    return lambda placed: getattr(placed, name)


_PLACED_COLUMNS: Mapping[str, Column] = {
    "campaign": column.text(_member("campaign")),
    "started_at": column.text(_member("started_at")),
    "place": column.whole(_member("place")),
    "group": column.whole(_member("group")),
    "software": column.text(_member("software")),
    "runtime": column.text(_member("runtime")),
    "row": column.thing(_member("row")),
    **{name: structs.replace(row_column, read=_cell(name)) for name, row_column in _OF_ROW.items()},
}


def rows_of(placed: Sequence[PlacedRow], baseline: str | None) -> pd.DataFrame:
    """The table of all rows, in which the rows of a history follow each other in time. Its column
    `record` holds the row as a mapping."""
    rows = table(_PLACED_COLUMNS, placed)

    # Where the target typically failed its load, it has the worst rank (rule M24).
    has_rank = rows["requests_per_second"].notna() | rows["spoiled_runs"].eq(0)
    rows["ranked"] = rows["requests_per_second"].where(has_rank, throughput.worst)
    rows = rows.assign(**_ratios(rows, baseline))

    rows["history"] = rows.groupby(["place", "key"], sort=False).ngroup()
    rows = rows.sort_values("history", kind="stable")
    versions = rows[["software", "versions"]]
    versions_before = versions.groupby(rows["history"]).shift()
    changed = versions_before.notna() & versions.ne(versions_before)
    rows["versions_changed"] = changed.any(axis="columns").astype("boolean")

    # The mappings are made once for all rows, because pandas takes its time for each column however
    # few the rows are.
    return rows.assign(record=pd.Series(records_of(rows), rows.index, "object"))


def _ratios(rows: pd.DataFrame, baseline: str | None) -> dict[str, pd.Series]:
    """The ratios between campaigns by column. They are between campaigns of one group that have a
    configuration in the same versions."""
    ratios = {
        name: pd.Series(pd.NA, rows.index, "Float64")
        for name in ("highest_to_lowest", *TO_BASELINE)
    }
    for _, same_versions in rows.groupby(["group", "key", "versions"], sort=False):
        ratios["highest_to_lowest"][same_versions.index] = _highest_to_lowest(same_versions)

        bases = same_versions.loc[same_versions["campaign"].eq(baseline or ""), "row"]
        if not len(bases):
            continue
        for name, figure in TO_BASELINE.items():
            to_base = [row.ratio_to(bases.iloc[-1], figure) for row in same_versions["row"]]
            ratios[name][same_versions.index] = pd.array(to_base, dtype="Float64")
    return ratios


def _highest_to_lowest(rows: pd.DataFrame) -> Any:
    """The ratio of the campaign with the highest median throughput to that with the lowest, which
    is `<NA>` if the lowest failed its load."""
    ranked = rows.dropna(subset="ranked").sort_values("ranked", kind="stable")
    if len(ranked) < 2:
        return pd.NA

    lowest = ranked["row"].iloc[0]
    highest = ranked["row"].iloc[-1]
    ratio = highest.ratio_to(lowest, "requests_per_second")
    return pd.NA if ratio is None else ratio


def records_of(rows: pd.DataFrame) -> list[Record]:
    """The rows as mappings, with None for what is not known."""
    columns = [
        [None if value is pd.NA else value for value in rows[name].astype(object)]
        for name in rows.columns
    ]
    return [dict(zip(rows.columns, cells, strict=True)) for cells in zip(*columns, strict=True)]


def _header(baseline: str | None) -> list[str]:
    return [name for name in COLUMNS if baseline is not None or name not in TO_BASELINE]


def compare_records(rows: pd.DataFrame, baseline: str | None) -> list[Record]:
    return records_of(rows[_header(baseline)])


def compare_csv(rows: pd.DataFrame, baseline: str | None) -> str:
    return frame_csv(rows, COLUMNS, _header(baseline)) if len(rows) else csv_text([], [])


def store_notices(rows: pd.DataFrame) -> Iterator[str]:
    """A sentence for each store of which the campaigns ran several versions. It names the versions,
    their runtimes and campaigns."""
    known = rows.dropna(subset=["store", "store_version"]).sort_index()
    for store, store_rows in known.groupby("store_text", sort=False):
        versions = [
            f"{version} ({_campaigns_text(version_rows)})"
            for version, version_rows in store_rows.groupby("store_version", sort=False)
        ]
        if len(versions) > 1:
            yield (
                f"These campaigns did not all run the same {store}: {'; '.join(versions)}. "
                "Their figures differ for that reason too, and no ratio is made of them."
            )


def _campaigns_text(rows: pd.DataFrame) -> str:
    """The campaigns by runtime, such as `local, 20260102_030405; docker, 20260102_030405 and 3
    more`."""
    texts = []
    for runtime, campaigns in rows.groupby("runtime", sort=False)["campaign"].unique().items():
        newest = campaigns[-1]
        older_count = len(campaigns) - 1
        ending = f" and {older_count} more" if older_count else ""
        texts.append(f"{runtime}, {newest}{ending}")
    return "; ".join(texts)
