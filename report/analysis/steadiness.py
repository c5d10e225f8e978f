"""Whether this machine was steady enough to rank anything, judged by the controls and by other programs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Protocol

from report.analysis.figures import throughput
from report.analysis.summary import Summary
from report.base.format import joined, percent
from report.results.model import Identity
from report.statistics.decision import Comparison
from report.statistics.instability import range_of_five
from report.statistics.samples import MIN_ROUNDS_TO_PAIR

#: If the runs of a control spread by more than this, in % of their median, they are not steady.
MAX_CONTROL_SPREAD_PERCENT = 10.0

#: Rows are not compared where other programs used so many more % of one CPU beside the one than beside the
#: other (rule M25).
MAX_FOREIGN_CPU_POINTS = 5.0

#: Why nothing is concluded where the controls spread too much.
UNSTEADY = "this machine was too unsteady to tell"


@dataclass(frozen=True, slots=True)
class UnsteadyControl:
    """A control whose runs differ although nothing of a client is in them."""

    summary: Summary
    spread_percent: float


def control_spread_percent(summary: Summary) -> float | None:
    """How far five runs that served their load lie apart, highest less lowest, in % of the median; None below
    two runs."""
    values = summary.values(throughput)
    middle = median(values) if len(values) > 1 else 0
    return 100 * range_of_five(values) / middle if middle > 0 else None


def unsteady_controls(summaries: Iterable[Summary]) -> tuple[UnsteadyControl, ...]:
    """The controls that forbid every conclusion of a campaign: those of `spread_controls`.

    None do where runs are compared in pairs beside a copy (rules M22 and M31). A host that changes over the
    campaign changes both runs of a pair, and what it makes of equal runs is what the copy shows.
    """
    rows = tuple(summaries)
    # By turns the host's speed cancels (rules M21 and M31).
    if all(row.by_turns for row in rows):
        return ()
    return () if _in_pairs_with_copy(rows) else spread_controls(rows)


def _in_pairs_with_copy(rows: Sequence[Summary]) -> bool:
    copies = [row for row in rows if row.identity.copy]
    return bool(copies) and all(row.median and row.planned_rounds >= MIN_ROUNDS_TO_PAIR for row in copies)


def spread_controls(summaries: Iterable[Summary]) -> tuple[UnsteadyControl, ...]:
    """The controls of a campaign that spread by more than `MAX_CONTROL_SPREAD_PERCENT`, the worst first.

    A control of an open loop answers what it is offered, and shows nothing.
    """
    found = [
        UnsteadyControl(summary, spread)
        for summary in summaries
        if summary.identity.ceiling
        and not summary.identity.open_loop
        and (spread := control_spread_percent(summary)) is not None
        and spread > MAX_CONTROL_SPREAD_PERCENT
    ]
    return tuple(sorted(found, key=lambda control: -control.spread_percent))


def unsteady_text(controls: Iterable[UnsteadyControl]) -> str:
    """`runs of the controls differ by 26 % (none) and 24 % (memory)`; empty where all are steady."""
    worst: dict[str, float] = {}
    for control in controls:
        worst.setdefault(control.summary.identity.short_label, control.spread_percent)
    texts = [f"{percent(spread, 0)} ({label})" for label, spread in worst.items()]
    return f"runs of the controls differ by {joined(texts)}" if texts else ""


class ComparedRow(Protocol):
    """A row of our own load generator or of a foreign program."""

    @property
    def identity(self) -> Identity: ...

    @property
    def foreign_cpu_percent(self) -> float | None: ...

    @property
    def by_turns(self) -> bool: ...


def foreign_text(base: ComparedRow, new: ComparedRow) -> str:
    """Why the CPU that other programs used forbids a comparison; empty where it does not, or is not known."""
    ours, theirs = base.foreign_cpu_percent, new.foreign_cpu_percent
    if ours is None or theirs is None or abs(ours - theirs) <= MAX_FOREIGN_CPU_POINTS:
        return ""
    return (
        f"other programs used {percent(ours, 0)} of one CPU beside {base.identity.short_label} and "
        f"{percent(theirs, 0)} beside {new.identity.short_label}"
    )


def attributable(comparison: Comparison, base: ComparedRow, new: ComparedRow, unsteady: str) -> Comparison:
    """The comparison, without a conclusion where the machine may explain the difference.

    Args:
        unsteady: `unsteady_text` of the campaign.
    """
    if base.by_turns and new.by_turns:
        return comparison
    foreign = foreign_text(base, new)
    if foreign:
        return comparison.undecided_by(foreign)
    return comparison.undecided_by(UNSTEADY) if unsteady else comparison
