"""Files for github-action-benchmark, whose tools `customBiggerIsBetter` and `customSmallerIsBetter` take a
list of `{name, unit, value, range?, extra?}` (https://github.com/benchmark-action/github-action-benchmark).
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from report.analysis.figures import consumer_cpu, throughput
from report.analysis.layer_text import LayerText, layer_text
from report.analysis.load_text import load_text
from report.analysis.summary import Summary
from report.base.errors import one_line

Entry = dict[str, Any]


def _name(summary: Summary) -> str:
    identity = summary.identity
    parts = [identity.label, identity.store_text, identity.topology or "", load_text(identity)]
    return one_line(" · ".join(part for part in parts if part))


def _distinct(summaries: Sequence[Summary]) -> list[tuple[str, Summary]]:
    """Rows with a median run, and names; rows of one name, e.g. under other limits, carry their hash too."""
    rows = [summary for summary in summaries if summary.median]
    names = [_name(summary) for summary in rows]
    counts = Counter(names)
    return [
        (
            name if counts[name] == 1 else f"{name} · {summary.identity.configuration_hash or summary.id}",
            summary,
        )
        for name, summary in zip(names, rows, strict=True)
    ]


def _extra(summary: Summary) -> str:
    versions = next((run.versions for run in summary.median_first if run.versions), {})
    found = [f"{part} {version}" for part, version in sorted(versions.items())]
    text = f"{summary.valid_runs} of {len(summary.runs) + len(summary.missing)} runs valid"
    text = ", ".join(filter(None, [text, summary.spoiled_text]))
    return one_line(", ".join([text, *found]), 400)


def _entries(
    summaries: Sequence[Summary],
    kind: Callable[[LayerText], str],
    unit: Callable[[LayerText], str],
    digits: int,
    read: Callable[[Summary], float | None],
) -> list[Entry]:
    def of(summary: Summary, part: Callable[[LayerText], str]) -> str:
        return part(layer_text(summary.identity.layer))

    return [
        {
            "name": f"{name} · {of(summary, kind)}",
            "unit": of(summary, unit),
            "value": round(value, digits),
            "extra": _extra(summary),
        }
        for name, summary in _distinct(summaries)
        if (value := read(summary)) is not None
    ]


def _percentile(name: str) -> Callable[[Summary], float | None]:

    def read(summary: Summary) -> float | None:
        figures = summary.figures
        return figures.percentiles_ms.get(name) if figures and name not in figures.unsupported else None

    return read


def _throughput(summary: Summary) -> float | None:
    """0 where the target failed its load: without an entry the tool would not notice."""
    return summary.figures.requests_per_second if summary.figures else throughput.worst


def bigger_is_better(summaries: Sequence[Summary]) -> list[Entry]:
    """Throughput of the median runs, in requests/s, 0 where the target failed its load in it; `range` is the
    standard deviation of the runs that served it."""
    entries = _entries(
        summaries,
        lambda _: "throughput",
        lambda text: text.rate_unit,
        2,
        _throughput,
    )
    rows = [summary for summary in summaries if summary.median]
    for entry, summary in zip(entries, rows, strict=True):
        if summary.figures and summary.spread and summary.spread.stdev is not None:
            entry["range"] = f"± {summary.spread.stdev:.2f}"
    return entries


def smaller_is_better(summaries: Sequence[Summary]) -> list[Entry]:
    return [
        *_entries(summaries, lambda _: "p50", lambda _: "ms", 3, _percentile("p50")),
        *_entries(summaries, lambda _: "p99", lambda _: "ms", 3, _percentile("p99")),
        *_entries(
            summaries,
            lambda text: text.cpu,
            lambda text: text.cpu_unit,
            2,
            lambda summary: consumer_cpu(summary.figures) if summary.figures else None,
        ),
    ]


def as_json(entries: Sequence[Entry]) -> str:
    return json.dumps(entries, ensure_ascii=False, indent=1) + "\n"
