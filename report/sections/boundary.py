"""What limiters promise, and what their keys were admitted (rule M27)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from report.analysis.deciders import algorithm_of
from report.analysis.load_text import load_text, varying_fields
from report.analysis.summary import Summary
from report.base.format import count, plural
from report.results.model import Boundary, LimiterPromise
from report.sections.tables import TableCell, sort_key

#: By id: the promise, the form of its figures, and whether it is an upper bound.
_TEXTS = {
    "burst": ("admitted in any window, one key", "{} quotas", True),
    "rate": ("admitted a second, one key", "{}/s", True),
    "over-admission": ("requests admitted too many", "{}", True),
    "under-admission": ("requests denied with points left", "{}", True),
    "retry-after-admits": ("admitted after the announced wait", "{} %", False),
    "retry-after-not-before": ("requests admitted before the announced wait was over", "{}", True),
}

HOLDS = "holds"

CAPTION = (
    "Traffic boundary: bursts of 200 users at 3 times their quota, and 800 users below theirs. What is "
    "promised follows from the algorithm. A request was decided on at some moment between its send and its "
    "answer, so what is counted as too many or too few is so at least. Seen: the worst of the runs."
)


@dataclass(frozen=True, slots=True)
class PromiseRow:
    """One promise of one configuration, over its runs."""

    summary_id: str
    configuration: str
    algorithm: str
    load: str
    """The part of its load that differs from other rows; empty if all have the same."""
    promise: str
    promised: TableCell
    seen: TableCell
    holds: TableCell


def _figure(promise: LimiterPromise, value: float) -> str:
    form = _TEXTS[promise.id][1]
    if promise.unit == "share":
        return form.format(f"{100 * value:.2f}".rstrip("0").rstrip("."))
    text = count(value) if promise.unit == "requests" else f"{value:.2f}"
    return form.format(text)


def _promised(promise: LimiterPromise) -> str:
    bound = "at most " if _TEXTS[promise.id][2] and promise.promised else ""
    return bound + _figure(promise, promise.promised)


def boundaries_of(summary: Summary) -> list[Boundary]:
    """Of its measured runs. A rate that was not kept (M5) says nothing against what was counted; any other
    broken measurement does."""
    return [
        run.measured.boundary
        for run in summary.runs
        if run.measured
        and run.measured.boundary
        and all(reason.rule == "M5" for reason in run.reasons if reason.severity == "invalid")
    ]


def promises_of(summary: Summary) -> list[tuple[LimiterPromise, int, int]]:
    """Each promise as the worst run saw it, in how many runs it was judged, and in how many it held."""
    by_id: dict[str, list[LimiterPromise]] = {}
    for boundary in boundaries_of(summary):
        for promise in boundary.promises:
            by_id.setdefault(promise.id, []).append(promise)
    return [
        (
            max(seen, key=lambda each: (not each.holds, each.seen if _TEXTS[name][2] else -each.seen)),
            len(seen),
            sum(each.holds for each in seen),
        )
        for name, seen in by_id.items()
    ]


def _holds_text(runs: int, held: int) -> str:
    if held == runs:
        return HOLDS
    return "does not hold" if held == 0 else f"does not hold in {runs - held} of {plural(runs, 'run')}"


def promise_rows(summaries: Sequence[Summary]) -> tuple[PromiseRow, ...]:
    """Those that did not hold first, else in page order; none without traffic `boundary`."""
    judged = [summary for summary in summaries if boundaries_of(summary)]
    fields = varying_fields(judged) if judged else ()
    rows = []
    for summary in judged:
        for promise, runs, held in promises_of(summary):
            holds = _holds_text(runs, held)
            rows.append(
                PromiseRow(
                    summary.id,
                    summary.identity.label,
                    algorithm_of(summary.identity),
                    load_text(summary.identity, fields) if fields else "",
                    _TEXTS[promise.id][0],
                    TableCell(_promised(promise), kind="number", sort=sort_key(promise.promised)),
                    TableCell(_figure(promise, promise.seen), kind="number", sort=sort_key(promise.seen)),
                    TableCell(holds, kind="" if held == runs else "verdict invalid", sort=holds),
                )
            )
    return tuple(sorted(rows, key=lambda row: row.holds.text == HOLDS))


def promise_documents(summary: Summary) -> list[dict[str, Any]]:
    """The same as plain data."""
    return [
        {
            "id": promise.id,
            "promised": promise.promised,
            "seen": promise.seen,
            "unit": promise.unit,
            "runs": runs,
            "held_runs": held,
        }
        for promise, runs, held in promises_of(summary)
    ]
