"""Files for github-action-benchmark, whose tools `customBiggerIsBetter` and `customSmallerIsBetter` take a
list of `{name, unit, value, range?, extra?}` (https://github.com/benchmark-action/github-action-benchmark)."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from report.analysis.figures import FigureSummary, consumer_cpu, percentile, throughput
from report.analysis.summary import Summary
from report.analysis.texts import AT_FULL_LOAD, layer_text, load_text
from report.base.errors import one_line

Entry = dict[str, Any]


def _name(summary: Summary) -> str:
    identity = summary.identity
    parts = [identity.label, identity.store_text, identity.topology or "", load_text(identity)]
    return one_line(" · ".join(part for part in parts if part))


def _distinct(summaries: Sequence[Summary]) -> list[tuple[str, Summary]]:
    """Rows with a run that counts, and names; rows of one name, e.g. under other limits, carry a hash too.
    The copy of a reference is left out: its series would alert about the host alone."""
    named = [summary for summary in summaries if summary.selected and not summary.identity.copy]
    names = [(_name(summary), summary) for summary in named]
    counts = Counter(name for name, _ in names)
    return [
        (name if counts[name] == 1 else f"{name} · {row.identity.configuration_hash or row.id}", row)
        for name, row in names
    ]


def _entry(
    row: Summary, name: str, unit: str, found: FigureSummary, digits: int = 2, load: str = ""
) -> Entry:
    """`range` is that of the runs. `load`: at which one the figure holds, where its name does not say it."""
    versions = next((run.versions for run in row.selected_first if run.versions), {})
    extra = [
        f"runs that count: {row.counted_text}",
        *filter(None, [row.spoiled_text, load]),
        *(f"{part} {version}" for part, version in sorted(versions.items())),
    ]
    entry: Entry = {"name": name, "unit": unit, "value": round(found.value or 0, digits)}
    if span := found.range_text(lambda value: f"{value:.{digits}f}"):
        entry["range"] = span
    return entry | {"extra": one_line(", ".join(extra), 400)}


def _load(row: Summary, *more: str) -> str:
    """`at full load, in groups of 5 targets`; in an open loop the rate is part of the name."""
    return "" if row.identity.open_loop else ", ".join((AT_FULL_LOAD, *more))


def bigger_is_better(summaries: Sequence[Summary]) -> list[Entry]:
    """The median throughput of the runs, 0 where the target typically failed its load: without an entry the
    tool would not notice."""
    return [
        _entry(
            row, f"{name} · throughput", layer_text(row.identity.layer).rate_unit, row.figure_of(throughput)
        )
        for name, row in _distinct(summaries)
    ]


def smaller_is_better(summaries: Sequence[Summary]) -> list[Entry]:
    """Median latency and CPU of the rows that served their load."""
    rows = _distinct(summaries)
    entries = [
        _entry(row, f"{name} · {each}", "ms", found, 3, _load(row, row.group_text))
        for each in ("p50", "p99")
        for name, row in rows
        for found in [row.figure_of(percentile(each))]
        if found.value is not None and not found.few_samples
    ]
    for name, row in rows:
        text, found = layer_text(row.identity.layer), row.figure_of(consumer_cpu)
        if found.value is not None:
            entries.append(_entry(row, f"{name} · {text.cpu}", text.cpu_unit, found, load=_load(row)))
    return entries
