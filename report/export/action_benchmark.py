"""Files for github-action-benchmark, whose tools `customBiggerIsBetter` and `customSmallerIsBetter`
take a list of `{name, unit, value, range?, extra?}`
(https://github.com/benchmark-action/github-action-benchmark)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from report.analysis.figure_list import FIGURE_LIST
from report.analysis.figure_summary import FigureSummary
from report.analysis.summary import Summary
from report.analysis.texts import AT_FULL_LOAD, layer_text, load_text
from report.base.errors import one_line

Entry = dict[str, Any]


def _name(summary: Summary) -> str:
    identity = summary.identity
    parts = [identity.label, identity.store_text, identity.topology or "", load_text(identity)]
    return one_line(" · ".join(part for part in parts if part))


def _distinct(summaries: Sequence[Summary]) -> list[tuple[str, Summary]]:
    """The rows with a run that counts, each with a name of its own. Rows that would share a name,
    e.g. under different limits, carry their hash in it.

    Copies of references have no series, because it would alert about the host alone."""
    rows = [summary for summary in summaries if summary.selected and not summary.identity.copy]
    counts = Counter(map(_name, rows))

    def distinct_name(row: Summary) -> str:
        name = _name(row)
        if counts[name] == 1:
            return name
        return f"{name} · {row.identity.configuration_hash or row.id}"

    return [(distinct_name(row), row) for row in rows]


def _entry(
    row: Summary, name: str, unit: str, figure: FigureSummary, digits: int, load: str = ""
) -> Entry:
    """An entry of one figure, whose `range` is that of its runs.

    `load` is the load at which the figure holds, where the name does not contain it."""
    versions = next((run.versions for run in row.selected_first if run.versions), {})
    extra = (
        f"runs that count: {row.counted_text}",
        row.spoiled_text,
        load,
        *(f"{part} {version}" for part, version in sorted(versions.items())),
    )

    entry: Entry = {"name": name, "unit": unit, "value": round(figure.value or 0, digits)}
    if range_text := figure.range_text(lambda value: f"{value:.{digits}f}"):
        entry["range"] = range_text
    entry["extra"] = one_line(", ".join(filter(None, extra)), 400)
    return entry


def _load(row: Summary, *details: str) -> str:
    """A text such as `at full load, in groups of 5 targets`. It is empty in an open loop, whose
    name contains the rate."""
    return "" if row.identity.open_loop else ", ".join((AT_FULL_LOAD, *details))


#: The latencies that have a series: the end of its name, and the column in the list of figures.
_LATENCIES = {"p50": "latency_p50_ms", "p99": "latency_p99_ms"}


def bigger_is_better(summaries: Sequence[Summary]) -> list[Entry]:
    """The entries of the median throughput. It is 0 where the target typically failed its load,
    because the tool would not notice a missing entry."""
    return [
        _entry(
            row,
            f"{name} · throughput",
            layer_text(row.identity.layer).rate_unit,
            _figure(row, "requests_per_second"),
            2,
        )
        for name, row in _distinct(summaries)
    ]


def smaller_is_better(summaries: Sequence[Summary]) -> list[Entry]:
    """The entries of the median latency and CPU of the rows that served their load."""
    rows = _distinct(summaries)
    return [
        *(
            entry
            for ending, column in _LATENCIES.items()
            for name, row in rows
            for entry in _latency_entries(row, f"{name} · {ending}", column)
        ),
        *(entry for name, row in rows for entry in _cpu_entries(row, name)),
    ]


def _figure(row: Summary, column: str) -> FigureSummary:
    return row.figure_of(FIGURE_LIST[column].figure)


def _latency_entries(row: Summary, name: str, column: str) -> Iterator[Entry]:
    """One entry, or none if the latency is not identified or rests on too few samples."""
    figure = _figure(row, column)
    listed = FIGURE_LIST[column]
    if figure.value is not None and not figure.few_samples:
        yield _entry(row, name, listed.unit, figure, listed.digits, _load(row, row.group_text))


def _cpu_entries(row: Summary, name: str) -> Iterator[Entry]:
    text = layer_text(row.identity.layer)
    figure = _figure(row, "cpu_us_per_request")
    if figure.value is not None:
        yield _entry(row, f"{name} · {text.cpu}", text.cpu_unit, figure, 2, _load(row))
