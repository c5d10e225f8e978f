"""What limiters promise, and what their keys were admitted (rule M27)."""

from collections.abc import Sequence
from typing import Any

from report.analysis.summary import Summary
from report.analysis.texts import algorithm_of, load_text, varying_fields
from report.base.format import count, plural
from report.results.generated.records import Promise
from report.sections.section import (
    Section,
    TableCell,
    TableRow,
    named,
    number,
    numbers,
    table_of,
    words,
)

#: Maps the id of a promise to its name, the form of its figures, and whether it is an upper bound.
_TEXTS = {
    "burst": ("admitted in any window, one key", "{} quotas", True),
    "rate": ("admitted a second, one key", "{}/s", True),
    "over-admission": ("requests admitted too many", "{}", True),
    "under-admission": ("requests denied with points left", "{}", True),
    "retry-after-admits": ("admitted after the announced wait", "{} %", False),
    "retry-after-not-before": ("requests admitted before the announced wait was over", "{}", True),
}

HOLDS = "✓ holds"
_SEEN = (("Promised", ""), ("Seen", ""))

CAPTION = (
    "Traffic boundary: bursts of 200 users at 3 times their quota, and 800 users below theirs. What is "
    "promised follows from the algorithm. A request was decided on at some moment between its send and its "
    "answer, so what is counted as too many or too few is so at least. Seen: the worst of the runs."
)


def _figure(promise: Promise, value: float) -> str:
    form = _TEXTS[promise.id][1]
    if promise.unit == "share":
        return form.format(f"{100 * value:.2f}".rstrip("0").rstrip("."))
    return form.format(count(value) if promise.unit == "requests" else f"{value:.2f}")


def _promised(promise: Promise) -> str:
    bound = "at most " if _TEXTS[promise.id][2] and promise.promised else ""
    return bound + _figure(promise, promise.promised)


def promises_of(summary: Summary) -> list[tuple[Promise, int, int]]:
    """Each promise as the worst run saw it, with the number of runs that judged it and the number
    in which it held."""
    by_id: dict[str, list[Promise]] = {}
    for boundary in summary.boundaries:
        for promise in boundary.promises:
            by_id.setdefault(promise.id, []).append(promise)
    return [
        (
            max(
                promises_of_id,
                key=lambda promise: (
                    not promise.holds,
                    promise.seen if _TEXTS[name][2] else -promise.seen,
                ),
            ),
            len(promises_of_id),
            sum(promise.holds for promise in promises_of_id),
        )
        for name, promises_of_id in by_id.items()
    ]


def _holds_text(runs: int, held: int) -> str:
    if held == runs:
        return HOLDS
    return (
        "✗ does not hold"
        if held == 0
        else f"✗ does not hold in {runs - held} of {plural(runs, 'run')}"
    )


def promises(summaries: Sequence[Summary]) -> Section | None:
    judged = [summary for summary in summaries if summary.boundaries]
    if not judged:
        return None
    fields = varying_fields(judged)
    rows = []
    for summary in judged:
        identity = summary.identity
        load = load_text(identity, fields) if fields else ""
        for promise, runs, held in promises_of(summary):
            cells = (
                *named(identity.label, algorithm_of(identity), load, _TEXTS[promise.id][0]),
                number(_promised(promise), promise.promised),
                number(_figure(promise, promise.seen), promise.seen),
                TableCell(_holds_text(runs, held), kind="" if held == runs else "verdict invalid"),
            )
            rows.append((held == runs, TableRow(summary.id, cells, colour=summary.id)))
    rows.sort(key=lambda held_row: held_row[0])
    broken = sum(not holds for holds, _ in rows)
    answer = f"{broken} of {plural(len(rows), 'promise')} did not hold."
    columns = (
        *words("Configuration", "Algorithm", "Load", "Promise"),
        *numbers(_SEEN, "number"),
        *words("Holds"),
    )
    return Section(
        "promises",
        "What limiters promise, and what was seen",
        answer if broken else f"All {len(rows)} promises held.",
        tables=(table_of("promise-rows", columns, [row for _, row in rows], caption=CAPTION),),
        open=bool(broken),
    )


def promise_documents(summary: Summary) -> list[dict[str, Any]]:
    return [
        {name: getattr(promise, name) for name in ("id", "promised", "seen", "unit")}
        | {"runs": runs, "held_runs": held}
        for promise, runs, held in promises_of(summary)
    ]
