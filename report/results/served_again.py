"""Reads from the timeline of a run when requests were served again after a fault.

Results contain it since version 4, and `older_documents.py` adds it to older ones. The definition
is that of `src/judge/figures-of-faults.ts`."""

import math
from collections.abc import Callable, Iterator, Sequence

from report.base.contract import CONSTANTS
from report.results.generated.records import FaultFiguresFault, MeasuredResultFault, Timeline

#: Requests are served again if this many seconds in a row have this share of their requests served.
_DEFINITION = CONSTANTS["served_again"]
_SECONDS: int = _DEFINITION["seconds"]
_SERVED_SHARE: float = _DEFINITION["share"]
#: Requests that waited are answered in a burst. So a second that is served must begin with a slice
#: that serves this share of its requests.
_BEGINNING_SHARE: float = _DEFINITION["beginning_share"]
#: A moment that is less than this before a slice belongs to the slice.
_SAME_S: float = _DEFINITION["same_s"]


class _Service:
    """Tells which slices of a timeline were served, compared with the number of requests that
    waited before the first fault."""

    def __init__(self, timeline: Timeline, first_fault_s: float) -> None:
        self._timeline = timeline
        self.slices = len(timeline.allowed)
        self.per_second = 1000 // timeline.width_ms
        self._backlog: Sequence[int] | None = timeline.backlog or None
        before = min(self.slices, self.slice_at(first_fault_s))
        start = max(0, before - _DEFINITION["before_s"] * self.per_second)
        backlog_before = (self._backlog or [])[start:before]
        self._highest_backlog_before = max(backlog_before, default=0)

    def slice_at(self, second: float) -> int:
        return max(0, int((second + _SAME_S) * self.per_second))

    def _waiting(self, start: int, end: int) -> int | None:
        """The requests that were added to those that wait. None if the timeline does not say it."""
        if self._backlog is None:
            return None

        backlog_at_start = self._backlog[start - 1] if start > 0 else 0
        backlog_at_end = self._backlog[end - 1] if end > 0 else 0
        return max(0, backlog_at_end - max(self._highest_backlog_before, backlog_at_start))

    def _ended(self, start: int, end: int) -> tuple[int, int]:
        """The number of requests that were served, and of those that failed or timed out."""
        timeline = self._timeline
        served = sum(timeline.allowed[start:end]) + sum(timeline.limited[start:end])
        unserved = sum(timeline.failed[start:end]) + sum(timeline.timed_out[start:end])
        return served, unserved

    def _served_share(self, start: int, end: int) -> float:
        """The share of requests that were served, which is 1 if no request ended or waited."""
        served, unserved = self._ended(start, end)
        waiting = self._waiting(start, end)
        if waiting is None:
            # A closed loop always has requests in flight, so that all of them wait if none ends.
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
        return (index for index in range(start, end) if holds(index, index + 1))

    def _is_served_second(self, start: int) -> bool:
        begins_served = self._served_share(start, start + 1) >= _BEGINNING_SHARE
        return begins_served and not self.is_disturbed(start, start + self.per_second)

    def served_again(self, start: int, end: int) -> int | None:
        """The first slice after which all seconds of the definition are served. None without
        one."""
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
    """The seconds from the injection of the fault of these figures until requests were served
    again.

    Infinite if they were not, and None if too little of the run remains to tell."""
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

    def nearest_slice(second: float) -> int:
        return min(observed_to, int(second * service.per_second + 0.5))

    fault_from = min(nearest_slice(from_s), observed_to - 1)
    fault_to = max(fault_from + 1, nearest_slice(to_s))
    failing = list(service.slices_where(service.is_failing, fault_from, fault_to))
    disturbed = service.slices_where(service.is_disturbed, fault_from, fault_to)
    search_from = failing[-1] if failing else next(disturbed, observed_from)
    served_from = service.served_again(search_from, observed_to)
    if served_from is None:
        return math.inf
    return round(max(0.0, served_from / service.per_second - from_s), 3)
