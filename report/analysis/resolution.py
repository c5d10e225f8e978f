"""The smallest difference that a campaign can tell, by a copy of the reference (rule M31)."""

import math
from dataclasses import dataclass

from report.analysis.figures import Figure
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
        """How far its interval reaches from 1, as a share; None where it has none, infinite where the copy
        failed its load too often."""
        interval = self.comparison.interval
        if interval is None:
            return None
        return max(interval.high, 1 / interval.low if interval.low > 0 else math.inf) - 1

    def beyond(self, found: Comparison) -> Comparison:
        """The comparison, without its conclusion where the copy differs as much from its original."""
        share = self.share
        if share is None or not found.shown or found.ratio is None:
            return found
        if max(found.ratio, 1 / found.ratio) - 1 >= share:
            return found
        return found.undecided_by("the difference is smaller than the resolution of this campaign")


def resolution_of(copy: Summary | None, reference: Summary | None, figure: Figure) -> Resolution | None:
    """None without a copy, and where one of the two has no run that counts."""
    if copy is None or reference is None or not (copy.sample(figure) and reference.sample(figure)):
        return None
    looks = reference.look_schedule.looks if reference.look_schedule else (0,)
    (found,) = compare_samples(
        [sample_between(copy, reference, figure)],
        higher_is_better=figure.higher_is_better,
        level=Level(test=ALPHA / len(looks)),
    )
    return Resolution(copy, reference, found)
