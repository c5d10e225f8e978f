"""Other programs that used the CPUs beside one row and not beside another (rule M25)."""

from typing import Protocol

from report.base.format import percent
from report.results.model import Identity
from report.statistics.decision import Comparison

#: Rows are not compared where other programs used so many more % of one CPU beside the one than beside the
#: other (rule M25).
MAX_FOREIGN_CPU_POINTS = 5.0


class ComparedRow(Protocol):
    """A row of our own load generator or of a foreign program."""

    @property
    def identity(self) -> Identity: ...

    @property
    def foreign_cpu_percent(self) -> float | None: ...

    @property
    def by_turns(self) -> bool: ...


def attributable(comparison: Comparison, base: ComparedRow, new: ComparedRow) -> Comparison:
    """The comparison, without a conclusion where other programs may explain the difference; by turns they met
    both sides. Where their CPU is not known it explains nothing."""
    ours, theirs = base.foreign_cpu_percent, new.foreign_cpu_percent
    met_both = base.by_turns and new.by_turns
    if met_both or ours is None or theirs is None or abs(ours - theirs) <= MAX_FOREIGN_CPU_POINTS:
        return comparison
    return comparison.undecided_by(
        f"other programs used {percent(ours, 0)} of one CPU beside {base.identity.short_label} and "
        f"{percent(theirs, 0)} beside {new.identity.short_label}"
    )
