"""The bytes per key, which are the slope of memory over the number of fresh keys.

It is a slope over rows that differ only in that number."""

import math
import statistics
from collections.abc import Iterable, Sequence
from statistics import median

from msgspec import Struct

from report.analysis.figures import MEMORY_KINDS, SOURCES
from report.analysis.subjects import subject
from report.analysis.summary import Summary
from report.base.format import plural
from report.results.identity import Identity
from report.results.model import AddedMemory, Run
from report.statistics.rank_test import student_quantile
from report.statistics.ratio import ALPHA


class Line(Struct, frozen=True):
    slope: float
    intercept: float
    low: float | None
    """The lower end of the 95 % interval of the slope. Like `high`, it is None below three
    points."""
    high: float | None


def least_squares(points: Sequence[tuple[float, float]]) -> Line:
    """The line with the smallest sum of squared vertical distances, and the t interval of its slope
    (N. Draper and H. Smith, Applied Regression Analysis, 3rd ed., 1998, chapter 1).

    Raises ValueError if all points have the same x."""
    if len({x for x, _ in points}) < 2:
        raise ValueError("a line needs two different x")

    xs, ys = zip(*points, strict=True)
    slope, intercept = statistics.linear_regression(xs, ys)
    degrees_of_freedom = len(points) - 2
    if degrees_of_freedom < 1:
        return Line(slope, intercept, None, None)

    residual_squares = math.fsum((y - intercept - slope * x) ** 2 for x, y in points)
    x_squares = statistics.variance(xs) * (len(points) - 1)
    standard_error = math.sqrt(residual_squares / degrees_of_freedom / x_squares)
    margin = student_quantile(degrees_of_freedom, 1 - ALPHA / 2) * standard_error
    return Line(slope, intercept, slope - margin, slope + margin)


#: The traffic in which each decision is on a fresh key.
FRESH_KEYS = "variable"


class Point(Struct, frozen=True):
    """The memory that a run added."""

    summary_id: str
    run: int
    keys: int
    bytes: int


class Slope(Struct, frozen=True):
    """The memory over the number of keys by one of `SOURCES`."""

    source: str
    kind: str
    """The kind of the source."""
    text: str
    """The text of the source."""
    points: tuple[Point, ...]
    line: Line


class KeyMemory(Struct, frozen=True):
    """The memory per key of a target."""

    identity: Identity
    """The identity of its row with the fewest keys."""
    runtime: str
    summary_ids: tuple[str, ...]
    slopes: tuple[Slope, ...]
    items_per_key: float | None
    """The items in the store per key of the limiter, including copies in replicas. None if the
    store does not count them."""
    left_out: tuple[str, ...]
    """The runs that do not count, each with its reason."""
    reason: str
    """The reason for which there is no slope, else empty."""


def _exclusion_reason(run: Run) -> str:
    """The reason for which a run does not count, else empty. Foreign CPU and overload do not change
    the memory of a key."""
    measured = run.measured
    if measured is None:
        return run.failure or "not measured"

    if run.verdict == "invalid":
        broken_rules = (reason.rule for reason in run.reasons if reason.severity == "invalid")
        first_rule = next(broken_rules, None)
        return "invalid" if first_rule is None else f"invalid ({first_rule})"

    memory = measured.added_memory
    if memory is None:
        return ""
    if memory.failed:
        return f"{plural(memory.failed, 'decision')} failed"
    if memory.lost_keys:
        return f"{plural(memory.lost_keys, 'item')} expired or evicted"
    return ""


def _reason(counted: Sequence[AddedMemory | None]) -> str:
    """The reason for which the runs that count have no slope."""
    known = [memory for memory in counted if memory]
    if not counted:
        return "no run counts"
    if not known:
        return "it keeps no counters"
    if not any(memory.bytes for memory in known):
        return "nothing tells how much memory it uses"
    return "runs with one number of keys alone count: a slope needs two"


def _key_memory(summaries: Sequence[Summary]) -> KeyMemory:
    ordered = sorted(summaries, key=lambda summary: summary.identity.requests or 0)
    runs = [(summary, run, _exclusion_reason(run)) for summary in ordered for run in summary.runs]
    counted = [
        (row, run, run.measured.added_memory)
        for row, run, reason in runs
        if run.measured and not reason
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
    excluded_runs = [
        f"{row.identity.requests:,} keys, run {run.run}: {reason}"
        for row, run, reason in runs
        if reason
    ]
    return KeyMemory(
        identity=ordered[0].identity,
        runtime=ordered[0].runtime,
        summary_ids=tuple(summary.id for summary in ordered),
        slopes=tuple(slopes),
        items_per_key=median(items_per_key) if items_per_key else None,
        left_out=tuple(excluded_runs),
        reason="" if slopes else _reason([memory for *_, memory in counted]),
    )


def memory_per_key(summaries: Iterable[Summary]) -> tuple[KeyMemory, ...]:
    """The targets that were measured with several numbers of fresh keys.

    They are sorted by the kind of their source, then by bytes per key with the most first. Targets
    without a slope are last."""
    groups: dict[tuple[str, str], list[Summary]] = {}
    for summary in summaries:
        if summary.identity.traffic == FRESH_KEYS and summary.identity.requests is not None:
            key = (summary.runtime, subject(summary.identity, requests=None))
            groups.setdefault(key, []).append(summary)

    kinds = list(MEMORY_KINDS)

    def order(key_memory: KeyMemory) -> tuple[bool, int, float, str]:
        first = next(iter(key_memory.slopes), None)
        place = (kinds.index(first.kind), -first.line.slope) if first else (0, 0.0)
        return (not key_memory.slopes, *place, key_memory.identity.label)

    memories = [_key_memory(rows) for rows in groups.values() if len(rows) > 1]
    return tuple(sorted(memories, key=order))
