"""Summarizes what faults did to the requests, with a case for each fault of each configuration."""

import math
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from msgspec import UNSET, Struct

from report.analysis.printed_rows import worst_verdict
from report.analysis.row_order import row_order
from report.analysis.summary import configurations
from report.base.contract import generated
from report.base.format import ABSENT
from report.results.generated.records import (
    Fault,
    FaultFiguresFault,
    MeasuredResultFault,
    OverAdmission,
    Timeline,
)
from report.results.identity import Identity, fault_title
from report.results.model import Campaign, Run

#: The value of a moment that did not come, so that figures can be sorted.
NEVER = math.inf

#: The kinds of requests that failed without the status code of an answer.
LOST_CONNECTION = "lost connection"
NO_ANSWER = "no answer"

#: Clauses that follow “What happens to your API when …”. Named faults have a whole clause, and
#: other faults the verb of what the role does.
_FAULTS = generated("faults")
_WORDS: Mapping[str | None, str] = _FAULTS["named"]
_VERBS: Mapping[str, str] = _FAULTS["verbs"]


def fault_text(fault: Fault) -> str:
    """The fault with its times, such as `store-restart@10s+1s`."""
    length = "" if fault.length_s is None else f"+{fault.length_s:g}s"
    return f"{fault_title(fault)}@{fault.start_s:g}s{length}"


def fault_words(fault: Fault) -> str:
    if fault.name in _WORDS:
        return _WORDS[fault.name]
    verb = _VERBS.get(fault.action, f"meets {fault.action}")
    role = fault.role if "-" in fault.role else f"the {fault.role}"
    return f"{role} {verb}"


def seconds_text(value: float | None) -> str:
    if value is None:
        return ABSENT
    return "never" if value == NEVER else f"{value:,.1f}"


class Spread(Struct, frozen=True):
    """A figure over the runs. `middle` is the median, or of an even number of runs the higher of
    the two middle values."""

    middle: float
    low: float
    high: float
    runs: int
    """The number of runs that have the figure."""


class FaultedRun(Struct, frozen=True):
    """A run in which a fault was injected."""

    run: Run
    record: MeasuredResultFault
    figures: FaultFiguresFault

    @property
    def timeline(self) -> Timeline | None:
        return self.run.measured.record.timeline if self.run.measured else None

    @property
    def p99_before_us(self) -> float | None:
        """The p99 of the ten seconds before the first fault, or of the shorter time before it. None
        if it is not known."""
        figures = self.run.measured and self.run.measured.record.fault_figures
        return figures.before.p99_us if figures and figures.before else None

    @property
    def served_again_s(self) -> float | None:
        """The time until requests are served again, at any latency. None if it is not known."""
        seconds = self.figures.served_again_s
        if seconds is UNSET:
            return None
        return NEVER if seconds is None else seconds

    @property
    def served_again_from(self) -> str | None:
        """The source of `served_again_s`, which is the `result` or its `timeline`. None without
        one."""
        is_in_result = self.figures.served_again_s is not UNSET
        return self.figures.served_again_from or ("result" if is_in_result else None)

    @property
    def settled_again_s(self) -> float | None:
        """The time until requests are also answered as fast as before, which is the recovery."""
        return NEVER if self.figures.recovery == "never" else self.figures.recovery_s

    def over_admission(self, predicted: bool = False) -> float | None:
        """How many more requests were admitted than the quotas allow. `predicted` returns what the
        model says about a loss of all counters.

        None if the quotas cannot be used up, or are not known."""
        over_admission = self.figures.over_admission
        if not isinstance(over_admission, OverAdmission):
            return None

        admitted = over_admission.counters_lost if predicted else over_admission.admitted
        return None if admitted is None else admitted - over_admission.counters_kept

    def answer_share(self, name: str) -> float | None:
        """The share of this outcome in the requests that ended while the fault was in place."""
        return float(getattr(self.figures.answers, name)) if self.figures.answers else None


def faults_of(run: Run) -> Sequence[MeasuredResultFault]:
    """The records of the faults of a run in the order of the plan."""
    return (run.measured.record.faults if run.measured else None) or ()


#: The figures by their names in exports, each as a function that reads it and a number of decimals.
FAULTED_RUN_FIGURES: Mapping[str, tuple[Callable[[FaultedRun], float | None], int]] = {
    "outage_injected_s": (lambda faulted: faulted.figures.outage_injected_s, 3),
    "outage_seen_s": (lambda faulted: faulted.figures.outage_seen_s, 1),
    "error_share": (lambda faulted: faulted.figures.error_share, 6),
    "first_error_s": (lambda faulted: faulted.figures.first_error_s, 3),
    "served_again_s": (lambda faulted: faulted.served_again_s, 3),
    "recovery_s": (lambda faulted: faulted.settled_again_s, 3),
    "p99_before_us": (lambda faulted: faulted.p99_before_us, 0),
    "p99_worst_us": (lambda faulted: faulted.figures.p99_worst_us, 0),
    "requests_lost": (lambda faulted: faulted.figures.requests_lost, 0),
    "over_admission": (lambda faulted: faulted.over_admission(), 0),
    "over_admission_predicted": (lambda faulted: faulted.over_admission(predicted=True), 0),
    "allowed_share": (lambda faulted: faulted.answer_share("allowed"), 6),
    "limited_share": (lambda faulted: faulted.answer_share("limited"), 6),
    "failed_share": (lambda faulted: faulted.answer_share("failed"), 6),
    "server_memory_peak_bytes": (lambda faulted: faulted.figures.server_memory_peak_bytes, 0),
    "store_reconnections": (lambda faulted: faulted.record.store_reconnections, 0),
}


class FaultCase(Struct, frozen=True):
    """One fault of one configuration over its runs."""

    identity: Identity
    place: int
    """The index of the fault among those of the configuration."""
    runs: tuple[Run, ...]
    """All runs, sorted by number."""
    missing: tuple[int, ...]
    """The numbers of planned runs without a file."""

    @property
    def fault(self) -> Fault:
        return self.identity.faults[self.place]

    @property
    def counted(self) -> tuple[FaultedRun, ...]:
        faulted_runs = (self.faulted(run) for run in self.runs if run.verdict != "invalid")
        return tuple(faulted_run for faulted_run in faulted_runs if faulted_run)

    @property
    def verdict(self) -> str:
        return worst_verdict(self.runs, lambda run: run.measured)

    @property
    def behaviour(self) -> str:
        """The most common behaviour of its runs. Empty if none of them counts."""
        counter = Counter(faulted_run.figures.behaviour for faulted_run in self.counted)
        return counter.most_common(1)[0][0] if counter else ""

    @property
    def failures(self) -> dict[str, int]:
        """The number of failed requests in the runs that count, by kind and the most common first.
        The kind is the status code of the answer, `LOST_CONNECTION` or `NO_ANSWER`."""
        failures: Counter[str] = Counter()
        for faulted_run in self.counted:
            if measured := faulted_run.run.measured:
                failures.update(measured.failed_by_code)
                failures.update(
                    {LOST_CONNECTION: measured.record.errors, NO_ANSWER: measured.record.timeouts}
                )
        return {kind: number for kind, number in failures.most_common() if number}

    def record_of(self, run: Run) -> MeasuredResultFault | None:
        records = faults_of(run)
        return records[self.place] if self.place < len(records) else None

    def faulted(self, run: Run) -> FaultedRun | None:
        """The run with the figures of the fault. None if the fault was not injected."""
        record = self.record_of(run)
        fault_figures = run.measured and run.measured.record.fault_figures
        for figures in fault_figures.faults if fault_figures else ():
            if record and figures.fault == self.place:
                return FaultedRun(run, record, figures)
        return None

    def spread(self, name: str) -> Spread | None:
        """The spread over the runs of one of `FAULTED_RUN_FIGURES`. None if no run has it."""
        read, _ = FAULTED_RUN_FIGURES[name]
        values = sorted(
            value for faulted_run in self.counted if (value := read(faulted_run)) is not None
        )
        if not values:
            return None
        return Spread(statistics.median_high(values), values[0], values[-1], len(values))

    @property
    def typical(self) -> FaultedRun | None:
        """The run that is drawn. It is the middle one of those that count, sorted by the time until
        they settled again, outage and number."""

        def sort_key(faulted_run: FaultedRun) -> tuple[float, float, int]:
            settled_s = (
                NEVER if faulted_run.settled_again_s is None else faulted_run.settled_again_s
            )
            return settled_s, faulted_run.figures.outage_seen_s, faulted_run.run.run

        ordered = sorted(
            (faulted_run for faulted_run in self.counted if faulted_run.timeline), key=sort_key
        )
        return ordered[len(ordered) // 2] if ordered else None


class FaultGroup(Struct, frozen=True):
    text: str
    """The title such as `store-restart`, with its times if the campaign has it at different
    ones."""
    fault: Fault
    cases: tuple[FaultCase, ...]


def fault_groups(campaign: Campaign) -> tuple[FaultGroup, ...]:
    groups: dict[Fault, list[FaultCase]] = {}
    planned = (entry for entry in campaign.planned if entry.identity.faults)
    runs = (run for run in campaign.counted if run.identity.faults)
    for identity, _, runs_of_case, missing in configurations(planned, runs):
        for place, fault in enumerate(identity.faults):
            groups.setdefault(fault, []).append(FaultCase(identity, place, runs_of_case, missing))

    titles = [fault_title(fault) for fault in groups]
    return tuple(
        FaultGroup(
            fault_text(fault) if titles.count(fault_title(fault)) > 1 else fault_title(fault),
            fault,
            tuple(sorted(cases, key=lambda case: (row_order(case.identity), case.place))),
        )
        for fault, cases in groups.items()
    )
