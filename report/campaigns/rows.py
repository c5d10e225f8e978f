"""The rows of several campaigns as one table: a row a campaign and configuration, with the columns
that only several campaigns can have. compare.csv, compare.json, tables and histories select from
it."""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

import pandas as pd
from msgspec import Struct, structs

from report.analysis import column
from report.analysis.column import Column
from report.analysis.columns import RANGE_ENDS, SUMMARY_COLUMNS, SummaryEntry
from report.analysis.figures import FIGURES, p99, throughput
from report.analysis.frames import table
from report.analysis.summary import Summary
from report.analysis.texts import load_text
from report.base.csv_text import csv_text
from report.compare.matching import Thing, ratios_to, references_of
from report.export.frame_csv import frame_csv
from report.export.tables_csv import LATER_DIMENSIONS
from report.statistics.decision import compare_runs

Record = Mapping[str, Any]
"""A row of the table, by column; None where it has no value."""


class CampaignRow(Struct, frozen=True, kw_only=True):
    """A configuration of one campaign without its runs, so that many campaigns fit into memory."""

    cells: Record
    samples: Mapping[str, tuple[float, ...]]
    """By the name of a figure: its values of all runs that count."""
    ratios: Mapping[Thing, Mapping[str, tuple[float, ...]]]
    """By reference and figure: those of this row by the reference's, by round."""

    def ratio_to(self, base: "CampaignRow", figure: str) -> float | None:
        """The one estimate of a ratio (rule M28), through their common reference where they have
        one (rule M22); None below two runs, or rounds, per side."""
        reference = next((thing for thing in base.ratios if thing in self.ratios), None)
        if reference is None:
            return compare_runs(self.samples[figure], base.samples[figure]).ratio
        return compare_runs(self.ratios[reference][figure], base.ratios[reference][figure]).ratio


class _Entry(SummaryEntry, frozen=True, kw_only=True):
    versions: Mapping[str, str]
    """By client, limiter and store, as they were seen."""


def _of_summary(name: str, digits: int | None = None) -> Column:
    """A column as summary.csv has it; `digits` where this table prints other decimals."""
    shown = SUMMARY_COLUMNS[name]
    return shown if digits is None else structs.replace(shown, digits=digits)


def _versions_text(entry: _Entry) -> str:
    return ", ".join(f"{part} {version}" for part, version in entry.versions.items())


def _has_supported_p99(entry: _Entry) -> bool:
    return entry.summary.has_figures and not entry.summary.figure_of(p99).few_samples


#: Figures whose range is at the end: that of throughput stands beside it.
_RANGED = tuple(name for name in FIGURES if name != "requests_per_second")

#: What a campaign knows of a row; the columns that came later stand at the end of the file.
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

#: What pages read besides; no file has it.
_OF_PAGES: Mapping[str, Column] = {
    "key": column.text(lambda entry: entry.summary.identity.key),
    "open_loop": column.truth(lambda entry: entry.summary.identity.open_loop),
    "group_text": column.text(lambda entry: entry.summary.group_text),
    "store_text": _of_summary("store_text"),
    "store_version": column.text(lambda entry: entry.versions.get("store")),
}
_OF_ROW: Mapping[str, Column] = {**_FIRST_OF_ROW, **_HOLE, **_LATER_OF_ROW, **_OF_PAGES}

TO_BASELINE = {f"{name}_to_baseline": name for name in FIGURES}

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
    summary: Summary, every: Sequence[Summary], versions: Mapping[str, str]
) -> CampaignRow:
    entry = _Entry(summary=summary, ranking=None, versions=versions)
    return CampaignRow(
        cells={name: shown.read(entry) for name, shown in _OF_ROW.items()},
        samples={name: summary.sample(figure) for name, figure in FIGURES.items()},
        ratios={
            thing: {name: ratios_to(reference, summary, figure) for name, figure in FIGURES.items()}
            for thing, reference in references_of(summary, every).items()
        },
    )


class PlacedRow(Struct, frozen=True, kw_only=True):
    """A row, and what its campaign says of all of them."""

    row: CampaignRow
    campaign: str
    started_at: str
    place: int
    group: int
    software: str
    runtime: str


def _cell(name: str) -> column.Read:
    of_row = itemgetter(name)
    return lambda placed: of_row(placed.row.cells)


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
    **{name: structs.replace(shown, read=_cell(name)) for name, shown in _OF_ROW.items()},
}


def rows_of(placed: Sequence[PlacedRow], baseline: str | None) -> pd.DataFrame:
    """The table of all rows, histories together and in order of time. `record` is the row as a
    mapping."""
    rows = table(_PLACED_COLUMNS, placed)
    # Where the target typically failed its load, it has the worst rank (rule M24).
    has_rank = rows["requests_per_second"].notna() | rows["spoiled_runs"].eq(0)
    rows["ranked"] = rows["requests_per_second"].where(has_rank, throughput.worst)
    rows = rows.assign(**_ratios(rows, baseline))
    rows["history"] = rows.groupby(["place", "key"], sort=False).ngroup()
    rows = rows.sort_values("history", kind="stable")
    seen = rows[["software", "versions"]]
    before = seen.groupby(rows["history"]).shift()
    rows["versions_changed"] = (
        (before.notna() & seen.ne(before)).any(axis="columns").astype("boolean")
    )
    # Rows as mappings are made once: selections of few rows would take their time for each column.
    return rows.assign(record=pd.Series(records_of(rows), rows.index, "object"))


def _ratios(rows: pd.DataFrame, baseline: str | None) -> dict[str, pd.Series]:
    """Ratios between the campaigns of a group that have a configuration in the same versions, by
    column."""
    ratios = {
        name: pd.Series(pd.NA, rows.index, "Float64")
        for name in ("highest_to_lowest", *TO_BASELINE)
    }
    for _, alike in rows.groupby(["group", "key", "versions"], sort=False):
        ratios["highest_to_lowest"][alike.index] = _highest_to_lowest(alike)
        bases = alike.loc[alike["campaign"].eq(baseline or ""), "row"]
        if not len(bases):
            continue
        for name, figure in TO_BASELINE.items():
            to_base = [row.ratio_to(bases.iloc[-1], figure) for row in alike["row"]]
            ratios[name][alike.index] = pd.array(to_base, dtype="Float64")
    return ratios


def _highest_to_lowest(alike: pd.DataFrame) -> Any:
    """Of the campaign with the highest median throughput to that with the lowest; unknown if the
    lowest failed its load."""
    known = alike.dropna(subset="ranked").sort_values("ranked", kind="stable")
    if len(known) < 2:
        return pd.NA
    ratio = known["row"].iloc[-1].ratio_to(known["row"].iloc[0], "requests_per_second")
    return pd.NA if ratio is None else ratio


def records_of(rows: pd.DataFrame) -> list[Record]:
    """As mappings; what is not known is None."""
    known = [
        [None if value is pd.NA else value for value in rows[name].astype(object)]
        for name in rows.columns
    ]
    return [dict(zip(rows.columns, cells, strict=True)) for cells in zip(*known, strict=True)]


def _header(baseline: str | None) -> list[str]:
    return [name for name in COLUMNS if baseline is not None or name not in TO_BASELINE]


def compare_records(rows: pd.DataFrame, baseline: str | None) -> list[Record]:
    return records_of(rows[_header(baseline)])


def compare_csv(rows: pd.DataFrame, baseline: str | None) -> str:
    return frame_csv(rows, COLUMNS, _header(baseline)) if len(rows) else csv_text([], [])


def store_notices(rows: pd.DataFrame) -> Iterator[str]:
    """A sentence for each store of which campaigns ran several versions: which, in which runtime,
    where."""
    known = rows.dropna(subset=["store", "store_version"]).sort_index()
    for store, of_store in known.groupby("store_text", sort=False):
        versions = [
            f"{version} ({_where(of_version)})"
            for version, of_version in of_store.groupby("store_version", sort=False)
        ]
        if len(versions) > 1:
            yield (
                f"These campaigns did not all run the same {store}: {'; '.join(versions)}. "
                "Their figures differ for that reason too, and no ratio is made of them."
            )


def _where(rows: pd.DataFrame) -> str:
    """By runtime: `local, 20260102_030405; docker, 20260102_030405 and 3 more`."""
    places = []
    for runtime, campaigns in rows.groupby("runtime", sort=False)["campaign"].unique().items():
        newest = campaigns[-1]
        more = len(campaigns) - 1
        places.append(f"{runtime}, {newest} and {more} more" if more else f"{runtime}, {newest}")
    return "; ".join(places)
