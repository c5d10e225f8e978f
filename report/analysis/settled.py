"""Tells whether the ratios of a campaign are settled, which means that they are the same at the
start of turns and later, and in both halves of the window (rule M33)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from msgspec import Struct

from report.analysis.figures import Figure, consumer_cpu, throughput
from report.analysis.row_pairs import sample_between
from report.analysis.summary import Summary
from report.base.format import joined, percent
from report.results.model import Measured
from report.results.turn_parts import Parts
from report.statistics.change import Change, Settled, change_of, judged
from report.statistics.comparison import Comparison, Level
from report.statistics.decision import compare_samples, standing


def _change(part_name: str, figures: Measured) -> float | None:
    parts = _parts(part_name, figures)
    return parts[0] / parts[1] if parts else None


def _part(part_name: str, index: int, figures: Measured) -> float | None:
    parts = _parts(part_name, figures)
    return parts[index] if parts else None


def _parts(part_name: str, figures: Measured) -> Parts | None:
    parts: Parts | None = getattr(figures.parts, part_name)
    return parts


class Check(Struct, frozen=True):
    """A figure in two parts of the same runs, whose ratios are compared."""

    figure: Figure
    name: str
    """What it is about, such as `at the start of turns`."""
    earlier_text: str
    """Where the earlier part is, such as `in the first` of both halves."""
    later_text: str
    change: Figure
    """The figure in the earlier part divided by that in the later one."""
    earlier: Figure
    later: Figure


def _check(figure: Figure, part_name: str, name: str, earlier_text: str, later_text: str) -> Check:
    def read_part(index: int) -> Figure:
        return Figure(
            partial(_part, part_name, index),
            higher_is_better=figure.higher_is_better,
            in_budget=figure.in_budget,
        )

    return Check(
        figure,
        name,
        earlier_text,
        later_text,
        change=Figure(partial(_change, part_name), higher_is_better=figure.higher_is_better),
        earlier=read_part(0),
        later=read_part(1),
    )


#: The name of the checks that compare the start of turns with the rest.
START = "at the start of turns"
#: The name of the checks that compare both halves of the window.
HALVES = "in the halves of the window"
_HALVES = (HALVES, "in the first", "in the second")

#: The checks of a campaign. A new one is an entry here and a member of `TurnParts`.
CHECKS = (
    _check(throughput, "rate_at_start", START, "at first", "later"),
    _check(throughput, "rate_in_halves", *_HALVES),
    _check(consumer_cpu, "cpu_at_start", START, "in short turns", "in long ones"),
    _check(consumer_cpu, "cpu_in_halves", *_HALVES),
)


#: The figures that are checked, by the names of their columns in the summary.
SETTLED_FIGURES: Mapping[str, Figure] = {
    "requests_per_second": throughput,
    "cpu_us_per_request": consumer_cpu,
}


class CheckResult(Struct, frozen=True):
    """What a check says of two rows."""

    check: Check
    status: Settled
    change: Change | None
    """None if these rounds have too few pairs of runs with both parts."""
    parts: tuple[Comparison, Comparison]
    """The comparisons of the rows by the earlier part and by the later one."""

    @property
    def _parts_text(self) -> str:
        """A text such as `0.86× at first, 0.95× later`."""
        earlier, later = (
            "no ratio" if part.ratio is None else f"{part.ratio:.2f}×" for part in self.parts
        )
        return f"{earlier} {self.check.earlier_text}, {later} {self.check.later_text}"

    @property
    def text(self) -> str:
        """A text such as `not settled at the start of turns (0.86× at first, 0.95× later)`, or `not
        checked in the halves of the window (±7.4 %)`."""
        detail = ""
        if self.status == "not settled":
            detail = self._parts_text
        elif self.status == "not checked" and self.change and math.isfinite(self.change.at_most):
            detail = f"±{percent(100 * self.change.at_most)}"
        return f"{self.status} {self.check.name}{f' ({detail})' if detail else ''}"


#: The states of checks, with the worst first.
_WORST_FIRST: tuple[Settled, ...] = ("not settled", "not checked", "settled")


class Settling(Struct, frozen=True):
    """Whether the ratio of two rows by one figure is settled."""

    results: tuple[CheckResult, ...]

    @property
    def status(self) -> Settled:
        """The worst of its checks."""
        return min((result.status for result in self.results), key=_WORST_FIRST.index)

    @property
    def text(self) -> str:
        """A text such as `settled`, or that of each check that is not."""
        open_checks = [result.text for result in self.results if result.status != "settled"]
        return joined(open_checks) if open_checks else "settled"

    @property
    def unsettled(self) -> tuple[CheckResult, ...]:
        return tuple(result for result in self.results if result.status == "not settled")

    def standing(self, comparison: Comparison) -> Comparison:
        """The comparison with what both parts of each check that is not settled conclude, too."""
        for result in self.unsettled:
            comparison = standing(comparison, result.parts, f"it is {result.text}")
        return comparison


Settlings = Mapping[tuple[str, str, Figure], Settling]
"""By the ids of base and new row, and the figure."""


def settlings(rows: Sequence[Summary]) -> Settlings:
    """Checks each row by turns against the reference of its ranking, and each copy.

    The checks of a campaign are one family of Holm's correction, so `rows` must be all rows of the
    campaign."""
    pairs = list(_pairs_with_reference(rows))
    checked = [(base, new, check) for base, new in pairs for check in CHECKS]
    changes = [_change_between(new, base, check) for base, new, check in checked]

    results: dict[tuple[str, str, Figure], list[CheckResult]] = {}
    statuses = judged(changes)
    for (base, new, check), change, status in zip(checked, changes, statuses, strict=True):
        parts = _compared_parts(new, base, check)
        results.setdefault((base.id, new.id, check.figure), []).append(
            CheckResult(check, status, change, parts)
        )
    return {key: Settling(tuple(members)) for key, members in results.items()}


def _pairs_with_reference(rows: Sequence[Summary]) -> Iterable[tuple[Summary, Summary]]:
    by_key = {row.identity.key: row for row in rows}
    for row in rows:
        reference = by_key.get(row.ranking.reference or "")
        # The one turn of a load curve is too long to differ from a longer one, and has no bins.
        by_short_turns = row.by_turns and not row.identity.open_loop and not row.in_curve
        if reference and reference is not row and by_short_turns:
            yield reference, row


def _change_between(new: Summary, base: Summary, check: Check) -> Change | None:
    return change_of(sample_between(new, base, check.change).pairs)


def _compared_parts(new: Summary, base: Summary, check: Check) -> tuple[Comparison, Comparison]:
    earlier, later = (
        compare_samples(
            [sample_between(new, base, part)],
            higher_is_better=check.figure.higher_is_better,
            level=Level(family=new.ranking.family),
        )[0]
        for part in (check.earlier, check.later)
    )
    return earlier, later
