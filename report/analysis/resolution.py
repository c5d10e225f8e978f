"""What a campaign can tell apart: each reference beside its copy (rule M31)."""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass

from report.analysis.figures import Figure, p99, throughput
from report.analysis.summary import Summary, sample_between
from report.statistics.decision import Comparison, Level, compare_samples
from report.statistics.ratio import ALPHA


@dataclass(frozen=True, slots=True)
class Resolution:
    """The reference against its copy: whatever differs between them, no client does."""

    copy: Summary
    reference: Summary
    comparison: Comparison
    """Copy ÷ reference. It is no comparison of the ranking's family."""

    @property
    def told_apart(self) -> bool:
        return self.comparison.shown

    @property
    def share(self) -> float | None:
        """How far its interval extends from 1, as a share; None where it has none, infinite where the copy
        failed its load too often."""
        interval = self.comparison.interval
        if interval is None:
            return None
        return max(interval.high, 1 / interval.low if interval.low > 0 else math.inf) - 1


def resolutions(
    rows: Iterable[Summary], load: Callable[[Summary], Hashable], figure: Figure | None = None
) -> Mapping[str, Resolution]:
    """By the id of the reference; those without a run that counts are left out.

    Args:
        rows: all of a campaign: its copies are one family.
        load: what a copy shares with its reference.
        figure: by default what rankings are by."""
    rows = tuple(rows)
    references = {(load(row), row.identity.label): row for row in rows if row.reference}
    pairs = [
        (row, reference)
        for row in rows
        if row.identity.copy and (reference := references.get((load(row), row.identity.copied_label)))
    ]
    found: dict[str, Resolution] = {}
    for open_loop in (False, True):
        read = figure or (p99 if open_loop else throughput)
        family = [
            pair
            for pair in pairs
            if pair[1].identity.open_loop is open_loop and all(row.sample(read) for row in pair)
        ]
        looks = max((len(each.look_schedule.looks) for _, each in family if each.look_schedule), default=1)
        compared = compare_samples(
            [sample_between(copy, reference, read) for copy, reference in family],
            higher_is_better=read.higher_is_better,
            level=Level(test=ALPHA / looks),
        )
        for (copy, reference), comparison in zip(family, compared, strict=True):
            found[reference.id] = Resolution(copy, reference, comparison)
    return found
