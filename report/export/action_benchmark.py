"""Files for github-action-benchmark, whose tools `customBiggerIsBetter` and `customSmallerIsBetter`
take a list of `{name, unit, value, range?, extra?}`
(https://github.com/benchmark-action/github-action-benchmark)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from report.analysis.figure_list import FIGURE_LIST
from report.analysis.figures import FigureSummary
from report.analysis.summary import Summary
from report.analysis.texts import AT_FULL_LOAD, layer_text, load_text
from report.base.errors import one_line

Entry = dict[str, Any]


def _name(summary: Summary) -> str:
    identity = summary.identity
    parts = [identity.label, identity.store_text, identity.topology or "", load_text(identity)]
    return one_line(" · ".join(part for part in parts if part))


def _distinct(summaries: Sequence[Summary]) -> list[tuple[str, Summary]]:
    """Rows with a run that counts, and names; rows of one name, e.g. under other limits, carry a
    hash too. The copy of a reference is left out: its series would alert about the host alone."""
    named = [summary for summary in summaries if summary.selected and not summary.identity.copy]
    names = [(_name(summary), summary) for summary in named]
    counts = Counter(name for name, _ in names)
    return [
        (
            name if counts[name] == 1 else f"{name} · {row.identity.configuration_hash or row.id}",
            row,
        )
        for name, row in names
    ]


def _entry(
    row: Summary, name: str, unit: str, figure: FigureSummary, digits: int, load: str = ""
) -> Entry:
    """`range` is that of the runs. `load`: at which one the figure holds, where its name does not
    say it."""
    versions = next((run.versions for run in row.selected_first if run.versions), {})
    extra = (
        f"runs that count: {row.counted_text}",
        row.spoiled_text,
        load,
        *(f"{part} {version}" for part, version in sorted(versions.items())),
    )
    entry: Entry = {"name": name, "unit": unit, "value": round(figure.value or 0, digits)}
    if span := figure.range_text(lambda value: f"{value:.{digits}f}"):
        entry["range"] = span
    return entry | {"extra": one_line(", ".join(filter(None, extra)), 400)}


def _load(row: Summary, *more: str) -> str:
    """`at full load, in groups of 5 targets`; in an open loop the rate is part of the name."""
    return "" if row.identity.open_loop else ", ".join((AT_FULL_LOAD, *more))


#: Latencies with a series, by the end of its name: their columns in the list of figures.
_LATENCIES = {"p50": "latency_p50_ms", "p99": "latency_p99_ms"}


def bigger_is_better(summaries: Sequence[Summary]) -> list[Entry]:
    """The median throughput of the runs, 0 where the target typically failed its load: without an
    entry the tool would not notice."""
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
    """Median latency and CPU of the rows that served their load."""
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
    """None where the latency is not identified, or too few samples stand behind it."""
    figure = _figure(row, column)
    named = FIGURE_LIST[column]
    if figure.value is not None and not figure.few_samples:
        yield _entry(row, name, named.unit, figure, named.digits, _load(row, row.group_text))


def _cpu_entries(row: Summary, name: str) -> Iterator[Entry]:
    text = layer_text(row.identity.layer)
    figure = _figure(row, "cpu_us_per_request")
    if figure.value is not None:
        yield _entry(row, f"{name} · {text.cpu}", text.cpu_unit, figure, 2, _load(row))
