"""Files for github-action-benchmark, whose tools `customBiggerIsBetter` and `customSmallerIsBetter` take a
list of `{name, unit, value, range?, extra?}` (https://github.com/benchmark-action/github-action-benchmark)."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from report.analysis.figures import consumer_cpu, percentile, throughput
from report.analysis.summary import Summary
from report.analysis.texts import layer_text, load_text
from report.base.errors import one_line

Entry = dict[str, Any]


def _name(summary: Summary) -> str:
    identity = summary.identity
    parts = [identity.label, identity.store_text, identity.topology or "", load_text(identity)]
    return one_line(" · ".join(part for part in parts if part))


def _distinct(summaries: Sequence[Summary]) -> list[tuple[str, Summary]]:
    """Rows with a median run, and names; rows of one name, e.g. under other limits, carry their hash too."""
    names = [(_name(summary), summary) for summary in summaries if summary.median]
    counts = Counter(name for name, _ in names)
    return [
        (name if counts[name] == 1 else f"{name} · {row.identity.configuration_hash or row.id}", row)
        for name, row in names
    ]


def _entry(name: str, unit: str, value: float, summary: Summary) -> Entry:
    versions = next((run.versions for run in summary.median_first if run.versions), {})
    extra = [
        f"runs that count: {summary.counted_text}",
        *filter(None, [summary.spoiled_text]),
        *(f"{part} {version}" for part, version in sorted(versions.items())),
    ]
    return {"name": name, "unit": unit, "value": value, "extra": one_line(", ".join(extra), 400)}


def bigger_is_better(summaries: Sequence[Summary]) -> list[Entry]:
    """Throughput of the median runs, 0 where the target failed its load in it: without an entry the tool
    would not notice. `range` is the standard deviation of the runs that served it."""
    entries = []
    for name, row in _distinct(summaries):
        value = row.figures.requests_per_second if row.figures else throughput.worst
        unit = layer_text(row.identity.layer).rate_unit
        entry = _entry(f"{name} · throughput", unit, round(value, 2), row)
        if row.figures and row.spread and row.spread.stdev is not None:
            entry["range"] = f"± {row.spread.stdev:.2f}"
        entries.append(entry)
    return entries


def smaller_is_better(summaries: Sequence[Summary]) -> list[Entry]:
    """Latency and CPU of the median runs that served their load."""
    rows = [(name, row, row.figures) for name, row in _distinct(summaries) if row.figures]
    entries = [
        _entry(f"{name} · {each}", "ms", round(value, 3), row)
        for each in ("p50", "p99")
        for name, row, figures in rows
        if each not in figures.unsupported and (value := percentile(each)(figures)) is not None
    ]
    for name, row, figures in rows:
        text, value = layer_text(row.identity.layer), consumer_cpu(figures)
        if value is not None:
            entries.append(_entry(f"{name} · {text.cpu}", text.cpu_unit, round(value, 2), row))
    return entries
