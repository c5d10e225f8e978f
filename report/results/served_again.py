"""When requests were served again after a fault, read from the timeline of a run.

Results state it since version 4; `older_documents.py` reads it from the timeline of those before.
The definition is that of `src/judge/figures-of-faults.ts`."""

import math
from collections.abc import Callable, Iterator, Sequence

from report.base.contract import CONSTANTS
from report.results.generated.records import FaultFiguresFault, MeasuredResultFault, Timeline

#: So many seconds in a row, each with this share of its requests served.
_DEFINITION = CONSTANTS["served_again"]
_SECONDS: int = _DEFINITION["seconds"]
_SERVED_SHARE: float = _DEFINITION["share"]
#: What waited is answered in a burst: a second begins with a slice that serves so much, not before
#: it.
_BEGINNING_SHARE: float = _DEFINITION["beginning_share"]
#: A moment this close before a slice belongs to it.
_SAME_S: float = _DEFINITION["same_s"]


class _Service:
    """What the slices of a timeline show, against the wait that was usual before the first
    fault."""

    def __init__(self, timeline: Timeline, first_fault_s: float) -> None:
        self._timeline = timeline
        self.slices = len(timeline.allowed)
        self.per_second = 1000 // timeline.width_ms
        self._backlog: Sequence[int] | None = timeline.backlog or None
        before = min(self.slices, self.slice_at(first_fault_s))
        usual = (self._backlog or [])[
            max(0, before - _DEFINITION["before_s"] * self.per_second) : before
        ]
        self._usual_backlog = max(usual, default=0)

    def slice_at(self, second: float) -> int:
        return max(0, int((second + _SAME_S) * self.per_second))

    def _waiting(self, start: int, end: int) -> int | None:
        if self._backlog is None:
            return None
        usual = max(self._usual_backlog, self._backlog[start - 1] if start > 0 else 0)
        return max(0, (self._backlog[end - 1] if end > 0 else 0) - usual)

    def _ended(self, start: int, end: int) -> tuple[int, int]:
        """Requests that were served, and that failed or were given up."""
        line = self._timeline
        served = sum(line.allowed[start:end]) + sum(line.limited[start:end])
        return served, sum(line.failed[start:end]) + sum(line.timed_out[start:end])

    def _served_share(self, start: int, end: int) -> float:
        """1 where no request ended or waited."""
        served, unserved = self._ended(start, end)
        waiting = self._waiting(start, end)
        if waiting is None:
            # A closed loop always has requests in flight: where none ends, all wait.
            waiting = 1 if served + unserved == 0 else 0
        total = served + unserved + waiting
        return served / total if total else 1.0

    def is_disturbed(self, start: int, end: int) -> bool:
        return self._served_share(start, end) < _SERVED_SHARE

    def is_failing(self, start: int, end: int) -> bool:
        served, unserved = self._ended(start, end)
        return sum(self._timeline.failed[start:end]) > (1 - _SERVED_SHARE) * (served + unserved)

    def slices_where(
        self, holds: Callable[[int, int], bool], start: int, end: int
    ) -> Iterator[int]:
        return (second for second in range(start, end) if holds(second, second + 1))

    def _is_served_second(self, start: int) -> bool:
        begins_served = self._served_share(start, start + 1) >= _BEGINNING_SHARE
        return begins_served and not self.is_disturbed(start, start + self.per_second)

    def served_again(self, start: int, end: int) -> int | None:
        """The first slice from which on each of three seconds is served; None where there is
        none."""
        needed = _SECONDS * self.per_second
        for first in range(start, end - needed + 1):
            seconds = range(first, first + needed, self.per_second)
            if all(map(self._is_served_second, seconds)):
                return first
        return None


def _injected_s(fault: MeasuredResultFault) -> tuple[float, float] | None:
    return (fault.injected.from_s, fault.injected.to_s) if fault.injected else None


def served_again_s(
    timeline: Timeline, faults: Sequence[MeasuredResultFault], figures: FaultFiguresFault
) -> float | None:
    """Seconds from the injection of the fault that these figures are of; infinite where requests
    were not served again, None where too little of the run is left to tell."""
    times = sorted(time_s for fault in faults if (time_s := _injected_s(fault)))
    injected = _injected_s(faults[figures.fault])
    if injected is None:
        return None
    service = _Service(timeline, times[0][0])
    from_s, to_s = injected
    later = [start for start, _ in times if start > from_s]
    observed_to = min(service.slices, service.slice_at(later[0])) if later else service.slices
    observed_from = min(service.slices, service.slice_at(from_s))
    if observed_to - observed_from < _SECONDS * service.per_second:
        return None

    def nearest(second: float) -> int:
        return min(observed_to, int(second * service.per_second + 0.5))

    away_from = min(nearest(from_s), observed_to - 1)
    away_to = max(away_from + 1, nearest(to_s))
    failing = list(service.slices_where(service.is_failing, away_from, away_to))
    disturbed = service.slices_where(service.is_disturbed, away_from, away_to)
    search_from = failing[-1] if failing else next(disturbed, observed_from)
    served_from = service.served_again(search_from, observed_to)
    if served_from is None:
        return math.inf
    return round(max(0.0, served_from / service.per_second - from_s), 3)
