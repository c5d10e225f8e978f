"""The tables of the page as plain cells: what to print, what to mark, what is a hole."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .compare import Cell
from .format import ABSENT, count, mebibytes, microseconds, milliseconds, percent, rate, ratio, share
from .loads import PARTS, Part, load_text, varying_parts
from .model import Measured
from .roles import cpu_us_per_request
from .script_text import script_names
from .summarize import Summary

Figure = Callable[[Measured], float | None]


@dataclass(frozen=True, slots=True)
class TableCell:
    """One printed value; `best` marks the best of its ranking, `note` says what a mark on it means."""

    text: str
    best: bool = False
    note: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class TableRow:
    """`header` cells come first and name the row."""

    summary_id: str
    header: tuple[TableCell, ...]
    cells: tuple[TableCell, ...]
    hole: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    id: str
    title: str
    caption: str
    headers: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    """Name and unit of each column after the headers."""
    rows: tuple[TableRow, ...]


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    unit: str
    read: Figure
    show: Callable[[float | None], str]
    best: Callable[[Iterable[float]], float] | None = None
    percentile: str = ""

    def cell(self, summary: Summary, best: float | None) -> TableCell:
        figures = summary.figures
        value = self.read(figures) if figures else None
        few = bool(figures and self.percentile in figures.unsupported)
        return TableCell(
            self.show(value),
            best=value is not None and value == best,
            note="too few samples behind it" if few else "",
            kind="number",
        )


_COLUMNS: tuple[_Column, ...] = (
    _Column("Throughput", "requests/s", lambda figures: figures.requests_per_second, rate, max),
    _Column("p50", "ms", lambda figures: figures.percentiles_ms.get("p50"), milliseconds, min),
    _Column("p99", "ms", lambda figures: figures.percentiles_ms.get("p99"), milliseconds, min, "p99"),
    _Column("p99.9", "ms", lambda figures: figures.percentiles_ms.get("p99_9"), milliseconds, min, "p99_9"),
    _Column(
        "Server CPU",
        "µs/request",
        lambda figures: cpu_us_per_request(figures.roles).get("server"),
        microseconds,
        min,
    ),
    _Column(
        "Store CPU",
        "µs/request",
        lambda figures: cpu_us_per_request(figures.roles).get("store"),
        microseconds,
        min,
    ),
    _Column("Heap", "MiB", lambda figures: figures.heap_bytes, mebibytes, min),
    _Column("Limited", "of answers", lambda figures: figures.limited_share, share),
    _Column("Errors", "requests", lambda figures: figures.errors_total, count),
)


def _bests(summaries: Sequence[Summary]) -> dict[str, float]:
    """Best value by column, where rows differ and each value has enough samples behind it."""
    bests = {}
    for column in _COLUMNS:
        found = [column.read(summary.figures) for summary in summaries if summary.figures]
        values = [value for value in found if value is not None]
        few = any(
            column.percentile in summary.figures.unsupported for summary in summaries if summary.figures
        )
        # At an offered rate the throughput is the rate: to be a little above it is no merit.
        offered = column.name == "Throughput" and any(summary.identity.open_loop for summary in summaries)
        if column.best and not few and not offered and len(set(values)) > 1:
            bests[column.name] = column.best(values)
    return bests


def _runs_text(summary: Summary) -> str:
    total = len(summary.runs) + len(summary.missing)
    return f"{summary.valid_runs} of {total}"


def _verdict_cell(verdict: str | None) -> TableCell:
    return TableCell(verdict or "none", kind=f"verdict {verdict or 'none'}")


def _row(
    summary: Summary, header: Sequence[str], bests: Mapping[str, float], to_best: float | None
) -> TableRow:
    spread = summary.spread
    throughput, *others = (column.cell(summary, bests.get(column.name)) for column in _COLUMNS)
    range_text = f"{rate(spread.min)}–{rate(spread.max)}" if spread and spread.count > 1 else ABSENT
    return TableRow(
        summary.id,
        tuple(TableCell(text) for text in header),
        (
            TableCell(_runs_text(summary), kind="number"),
            _verdict_cell(summary.verdict),
            throughput,
            TableCell(ratio(to_best), kind="number"),
            TableCell(range_text, kind="number"),
            TableCell(percent(spread.cv_percent if spread else None), kind="number"),
            *others,
        ),
        summary.hole,
    )


_FIXED_COLUMNS = (
    ("Valid runs", ""),
    ("Verdict", "worst"),
    ("Throughput", "requests/s"),
    ("To best", "ratio"),
    ("Range", "requests/s"),
    ("CV", "of runs"),
    *((column.name, column.unit) for column in _COLUMNS[1:]),
)


def _header(summary: Summary, parts: Sequence[Part]) -> list[str]:
    """What names a row: client, store, script, and what tells its load from that of others."""
    identity = summary.identity
    names = [identity.short_label, identity.store_text, script_names(summary)]
    return [*names, *(read(identity) for _, read in parts)]


def _client_rows(cell: Cell, parts: Sequence[Part]) -> list[TableRow]:
    rows = []
    for ranking in cell.rankings:
        bests = _bests(ranking.summaries) if ranking.group.rankable else {}
        for standing in ranking.standings:
            rows.append(_row(standing.summary, _header(standing.summary, parts), bests, standing.ratio))
    return rows


_TITLES = {"standalone": "Standalone", "cluster": "Cluster", None: "Other addresses"}


def _title(topology: str | None, open_loop: bool) -> str:
    title = _TITLES.get(topology, topology or "")
    return f"{title}, latency at a rate" if open_loop else title


def result_tables(cells: Sequence[Cell], controls: Sequence[Summary]) -> tuple[Table, ...]:
    """One table a topology, closed and open loops apart, then the controls.

    Args:
        cells: in page order; ratios and best marks hold within one of their rankings.
        controls: rows of the controls in page order.
    """
    summaries = [*(summary for cell in cells for summary in cell.summaries), *controls]
    parts = varying_parts(summaries)
    constant = [part for part in PARTS if part not in parts]
    common = f" All rows: {load_text(summaries[0].identity, constant)}." if constant else ""
    headers = ("Client", "Store", "Script", *(name for name, _ in parts))

    def table(table_id: str, title: str, caption: str, rows: Sequence[TableRow]) -> Table:
        return Table(table_id, title, caption + common, headers, _FIXED_COLUMNS, tuple(rows))

    by_topology: dict[tuple[str | None, bool], list[TableRow]] = {}
    for cell in cells:
        kind = (cell.identity.topology, cell.identity.open_loop)
        by_topology.setdefault(kind, []).extend(_client_rows(cell, parts))
    caption = (
        "Figures of the median runs. Best marks and ratios hold within one workload, traffic, load and "
        "store, among the rows of one script for all (+same-script) or among those of each client’s own, and "
        "tell an order of medians, not a proven difference."
    )
    tables = [
        table(f"table{number}", _title(topology, is_open), caption, rows)
        for number, ((topology, is_open), rows) in enumerate(by_topology.items(), start=1)
    ]
    if controls:
        rows = [_row(row, _header(row, parts), {}, None) for row in controls]
        text = (
            "none: the server without a limiter. memory: counters in the server's own process. They show "
            "what the harness itself can do, and are not ranked with the clients."
        )
        tables.append(table("table-controls", "Controls", text, rows))
    return tuple(tables)
