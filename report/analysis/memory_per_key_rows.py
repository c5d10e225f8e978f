"""Bytes per key: the slope of memory over the number of fresh keys, of rows that differ in it
alone."""

import math
import statistics
from collections.abc import Iterable, Sequence
from statistics import median

from msgspec import Struct

from report.analysis.cells import subject
from report.analysis.figures import MEMORY_KINDS, SOURCES
from report.analysis.summary import Summary
from report.base.format import plural
from report.results.model import AddedMemory, Identity, Run
from report.statistics.rank_test import student_quantile
from report.statistics.ratio import ALPHA


class Line(Struct, frozen=True):
    slope: float
    intercept: float
    low: float | None
    """The lower end of the slope's interval, at 95 %; None below three points, like `high`."""
    high: float | None


def least_squares(points: Sequence[tuple[float, float]]) -> Line:
    """The line with the smallest sum of squared vertical distances, and the t interval of its slope
    (N. Draper and H. Smith, Applied Regression Analysis, 3rd ed., 1998, chapter 1)."""
    if len({x for x, _ in points}) < 2:
        raise ValueError("a line needs two different x")
    xs, ys = zip(*points, strict=True)
    slope, intercept = statistics.linear_regression(xs, ys)
    freedom = len(points) - 2
    if freedom < 1:
        return Line(slope, intercept, None, None)
    residual = math.fsum((y - intercept - slope * x) ** 2 for x, y in points)
    square_x = statistics.variance(xs) * (len(points) - 1)
    reach = student_quantile(freedom, 1 - ALPHA / 2) * math.sqrt(residual / freedom / square_x)
    return Line(slope, intercept, slope - reach, slope + reach)


#: Traffic in which each decision is on a key of its own.
FRESH_KEYS = "variable"


class Point(Struct, frozen=True):
    summary_id: str
    run: int
    keys: int
    bytes: int


class Slope(Struct, frozen=True):
    source: str
    kind: str
    text: str
    """Both of the source."""
    points: tuple[Point, ...]
    line: Line


class KeyMemory(Struct, frozen=True):
    identity: Identity
    """The identity of its row with the fewest keys."""
    runtime: str
    summary_ids: tuple[str, ...]
    slopes: tuple[Slope, ...]
    items_per_key: float | None
    """Items in the store per key of the limiter, with the copies of replicas; None if it does not
    count."""
    left_out: tuple[str, ...]
    """Runs that do not count, and why."""
    reason: str


def _why_left_out(run: Run) -> str:
    """Empty for a run that counts. Foreign load and overload do not change what a key takes."""
    measured = run.measured
    if measured is None:
        return run.failure or "not measured"
    if run.verdict == "invalid":
        broken = (
            f"invalid ({reason.rule})" for reason in run.reasons if reason.severity == "invalid"
        )
        return next(broken, "invalid")
    memory = measured.added_memory
    if memory is None:
        return ""
    if memory.failed:
        return f"{plural(memory.failed, 'decision')} failed"
    if memory.lost_keys:
        return f"{plural(memory.lost_keys, 'item')} expired or evicted"
    return ""


def _reason(counted: Sequence[AddedMemory | None]) -> str:
    known = [memory for memory in counted if memory]
    if not counted:
        return "no run counts"
    if not known:
        return "it keeps no counters"
    if not any(memory.bytes for memory in known):
        return "nothing tells how much memory it uses"
    return "runs with one number of keys alone count: a slope needs two"


def _of_target(summaries: Sequence[Summary]) -> KeyMemory:
    ordered = sorted(summaries, key=lambda summary: summary.identity.requests or 0)
    runs = [(summary, run, _why_left_out(run)) for summary in ordered for run in summary.runs]
    counted = [
        (row, run, run.measured.added_memory) for row, run, why in runs if run.measured and not why
    ]
    known = [(row.id, run.run, memory) for row, run, memory in counted if memory]
    slopes = []
    for source, source_text in SOURCES.items():
        points = [
            Point(row, run, memory.keys, memory.bytes[source])
            for row, run, memory in known
            if source in memory.bytes
        ]
        if len({point.keys for point in points}) > 1:
            line = least_squares([(point.keys, point.bytes) for point in points])
            slopes.append(Slope(source, source_text.kind, source_text.text, tuple(points), line))
    items_per_key = [
        memory.items / memory.keys
        for *_, memory in known
        if memory.items is not None and memory.keys
    ]
    left_out = [
        f"{row.identity.requests:,} keys, run {run.run}: {why}" for row, run, why in runs if why
    ]
    return KeyMemory(
        identity=ordered[0].identity,
        runtime=ordered[0].runtime,
        summary_ids=tuple(summary.id for summary in ordered),
        slopes=tuple(slopes),
        items_per_key=median(items_per_key) if items_per_key else None,
        left_out=tuple(left_out),
        reason="" if slopes else _reason([memory for *_, memory in counted]),
    )


def memory_per_key(summaries: Iterable[Summary]) -> tuple[KeyMemory, ...]:
    """The targets that were measured with several numbers of fresh keys, those whose figures are
    alike together, most bytes per key first; last those without a slope."""
    groups: dict[tuple[str, str], list[Summary]] = {}
    for summary in summaries:
        if summary.identity.traffic == FRESH_KEYS and summary.identity.requests is not None:
            groups.setdefault(
                (summary.runtime, subject(summary.identity, requests=None)), []
            ).append(summary)
    kinds = list(MEMORY_KINDS)

    def order(key_memory: KeyMemory) -> tuple[bool, int, float, str]:
        first = next(iter(key_memory.slopes), None)
        place = (kinds.index(first.kind), -first.line.slope) if first else (0, 0.0)
        return (not key_memory.slopes, *place, key_memory.identity.label)

    return tuple(sorted((_of_target(rows) for rows in groups.values() if len(rows) > 1), key=order))
