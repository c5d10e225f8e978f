"""Bytes per key: the slope of memory over the number of fresh keys, of rows that differ in it alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from report.analysis.cells import load_key
from report.analysis.figures import MEMORY_KINDS, SOURCES
from report.analysis.summary import Summary
from report.base.format import plural
from report.results.model import Identity, Run
from report.statistics.line import Line, least_squares

#: Traffic in which each decision is on a key of its own.
FRESH_KEYS = "variable"


@dataclass(frozen=True, slots=True)
class Point:
    summary_id: str
    run: int
    keys: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Slope:
    source: str
    points: tuple[Point, ...]
    line: Line

    @property
    def text(self) -> str:
        return SOURCES[self.source].text

    @property
    def kind(self) -> str:
        return SOURCES[self.source].kind


@dataclass(frozen=True, slots=True)
class KeyMemory:
    identity: Identity
    """The identity of its row with the fewest keys."""
    runtime: str
    summary_ids: tuple[str, ...]
    slopes: tuple[Slope, ...]
    items_per_key: float | None
    """Items in the store per key of the limiter, with the copies of replicas; None if it does not count."""
    left_out: tuple[str, ...]
    """Runs that do not count, and why."""
    reason: str


def _group(summary: Summary) -> tuple[object, ...]:
    identity = summary.identity
    return (
        summary.runtime,
        identity.label,
        identity.store_program,
        identity.external_store,
        identity.topology,
        identity.limiter,
        identity.caps,
        *load_key(replace(identity, requests=None)),
    )


def _why_left_out(run: Run) -> str:
    """Empty for a run that counts. Foreign load and overload do not change what a key takes."""
    measured = run.measured
    if measured is None:
        return run.failure or "not measured"
    if run.verdict == "invalid":
        return next(
            (f"invalid ({each.rule})" for each in run.reasons if each.severity == "invalid"), "invalid"
        )
    memory = measured.added_memory
    if memory is None:
        return ""
    if memory.failed:
        return f"{plural(memory.failed, 'decision')} failed"
    if memory.lost_keys:
        return f"{plural(memory.lost_keys, 'item')} expired or evicted"
    return ""


def _points(summaries: Iterable[Summary], source: str) -> tuple[Point, ...]:
    return tuple(
        Point(summary.id, run.run, memory.keys, memory.bytes[source])
        for summary in summaries
        for run in summary.runs
        if run.measured
        and not _why_left_out(run)
        and (memory := run.measured.added_memory)
        and source in memory.bytes
    )


def _slopes(summaries: Sequence[Summary]) -> tuple[Slope, ...]:
    found = []
    for source in SOURCES:
        points = _points(summaries, source)
        if len({point.keys for point in points}) > 1:
            found.append(
                Slope(source, points, least_squares([(point.keys, point.bytes) for point in points]))
            )
    return tuple(found)


def _items_per_key(summaries: Iterable[Summary]) -> float | None:
    found = [
        memory.items / memory.keys
        for summary in summaries
        for run in summary.runs
        if run.measured and not _why_left_out(run)
        if (memory := run.measured.added_memory) and memory.items is not None and memory.keys
    ]
    return median(found) if found else None


def _reason(summaries: Sequence[Summary]) -> str:
    runs = [run for summary in summaries for run in summary.runs if not _why_left_out(run)]
    if not runs:
        return "no run counts"
    if all(run.measured and run.measured.added_memory is None for run in runs):
        return "it keeps no counters"
    if not any(memory.bytes for run in runs if run.measured and (memory := run.measured.added_memory)):
        return "nothing tells how much memory it uses"
    return "runs with one number of keys alone count: a slope needs two"


def _of_target(summaries: Sequence[Summary]) -> KeyMemory:
    ordered = sorted(summaries, key=lambda summary: summary.identity.requests or 0)
    slopes = _slopes(ordered)
    left_out = tuple(
        f"{summary.identity.requests:,} keys, run {run.run}: {why}"
        for summary in ordered
        for run in summary.runs
        if (why := _why_left_out(run))
    )
    return KeyMemory(
        identity=ordered[0].identity,
        runtime=ordered[0].runtime,
        summary_ids=tuple(summary.id for summary in ordered),
        slopes=slopes,
        items_per_key=_items_per_key(ordered),
        left_out=left_out,
        reason="" if slopes else _reason(ordered),
    )


def memory_per_key(summaries: Iterable[Summary]) -> tuple[KeyMemory, ...]:
    """The targets that were measured with several numbers of fresh keys, those whose figures are alike
    together, most bytes per key first; last those without a slope."""
    groups: dict[tuple[object, ...], list[Summary]] = {}
    for summary in summaries:
        if summary.identity.traffic == FRESH_KEYS and summary.identity.requests is not None:
            groups.setdefault(_group(summary), []).append(summary)
    found = [_of_target(rows) for rows in groups.values() if len(rows) > 1]
    kinds = list(MEMORY_KINDS)
    return tuple(
        sorted(
            found,
            key=lambda each: (
                not each.slopes,
                each.slopes and kinds.index(each.slopes[0].kind),
                each.slopes and -each.slopes[0].line.slope,
                each.identity.label,
            ),
        )
    )
