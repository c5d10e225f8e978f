"""What faults did to the requests: one case for each fault of each configuration, over its runs."""

import math
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from msgspec import UNSET, Struct

from report.analysis.printed_rows import worst_verdict
from report.analysis.summary import configurations, row_order
from report.base.contract import generated
from report.base.format import ABSENT
from report.results.generated.records import (
    Fault,
    FaultFiguresFault,
    MeasuredResultFault,
    OverAdmission,
    Timeline,
)
from report.results.model import Campaign, Identity, Run, fault_title

#: What stands for a moment that did not come, where figures are put in order.
NEVER = math.inf

#: Requests that failed without the code of an answer.
LOST_CONNECTION = "lost connection"
NO_ANSWER = "no answer"

#: After “What happens to your API when …”: named faults, and what a role does in any other.
_FAULTS = generated("faults")
_WORDS: Mapping[str | None, str] = _FAULTS["named"]
_VERBS: Mapping[str, str] = _FAULTS["verbs"]


def fault_text(fault: Fault) -> str:
    """`store-restart@10s+1s`."""
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
    """A figure over the runs: the median, in an even number of runs the higher of the two in the
    middle."""

    middle: float
    low: float
    high: float
    runs: int
    """That have the figure."""


class FaultedRun(Struct, frozen=True):
    run: Run
    record: MeasuredResultFault
    figures: FaultFiguresFault

    @property
    def timeline(self) -> Timeline | None:
        return self.run.measured.record.timeline if self.run.measured else None

    @property
    def p99_before_us(self) -> float | None:
        """Of the ten seconds before the first fault, or of what there was; None where it is not
        known."""
        stated = self.run.measured and self.run.measured.record.fault_figures
        return stated.before.p99_us if stated and stated.before else None

    @property
    def served_again_s(self) -> float | None:
        """Until requests are served again, at any latency; None where it is not known."""
        stated = self.figures.served_again_s
        if stated is UNSET:
            return None
        return NEVER if stated is None else stated

    @property
    def served_again_from(self) -> str | None:
        """What tells that figure: the `result`, or its `timeline`; None where nothing does."""
        stated = self.figures.served_again_s is not UNSET
        return self.figures.served_again_from or ("result" if stated else None)

    @property
    def settled_again_s(self) -> float | None:
        """Until they are also answered as fast as before: the recovery."""
        return NEVER if self.figures.recovery == "never" else self.figures.recovery_s

    def over_admission(self, predicted: bool = False) -> float | None:
        """Requests more than the quotas admit, seen or by the model as if all counters had been
        lost; None where the quotas cannot be used up, or are not known."""
        over = self.figures.over_admission
        if not isinstance(over, OverAdmission):
            return None
        admitted = over.counters_lost if predicted else over.admitted
        return None if admitted is None else admitted - over.counters_kept

    def answer_share(self, name: str) -> float | None:
        """Share of the requests that ended while the fault was in place."""
        return float(getattr(self.figures.answers, name)) if self.figures.answers else None


def faults_of(run: Run) -> Sequence[MeasuredResultFault]:
    """As they took place, in the order of the plan."""
    return (run.measured.record.faults if run.measured else None) or ()


#: By the names of the exports: what is read of a run, and with how many decimals it is written.
FIGURES: Mapping[str, tuple[Callable[[FaultedRun], float | None], int]] = {
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
    identity: Identity
    place: int
    """The place of the fault among those of the configuration."""
    runs: tuple[Run, ...]
    """All, by number."""
    missing: tuple[int, ...]
    """Planned run numbers without a file."""

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
        """The commonest of its runs; empty where none counts."""
        counter = Counter(faulted_run.figures.behaviour for faulted_run in self.counted)
        return counter.most_common(1)[0][0] if counter else ""

    @property
    def failures(self) -> dict[str, int]:
        """How many requests of the runs that count failed in which way, the commonest first: the
        code of the answer, `LOST_CONNECTION` or `NO_ANSWER`."""
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
        """None where the fault was not injected."""
        record = self.record_of(run)
        stated = run.measured and run.measured.record.fault_figures
        for figures in stated.faults if stated else ():
            if record and figures.fault == self.place:
                return FaultedRun(run, record, figures)
        return None

    def spread(self, name: str) -> Spread | None:
        """Of one of `FIGURES`."""
        read, _ = FIGURES[name]
        values = sorted(
            value for faulted_run in self.counted if (value := read(faulted_run)) is not None
        )
        if not values:
            return None
        return Spread(statistics.median_high(values), values[0], values[-1], len(values))

    @property
    def typical(self) -> FaultedRun | None:
        """The run that is drawn: of those that count the one in the middle by when it settled,
        outage and number."""

        def place(faulted_run: FaultedRun) -> tuple[float, float, int]:
            settled_s = (
                NEVER if faulted_run.settled_again_s is None else faulted_run.settled_again_s
            )
            return settled_s, faulted_run.figures.outage_seen_s, faulted_run.run.run

        ordered = sorted(
            (faulted_run for faulted_run in self.counted if faulted_run.timeline), key=place
        )
        return ordered[len(ordered) // 2] if ordered else None


class FaultGroup(Struct, frozen=True):
    text: str
    """`store-restart`, with its times where the campaign has it at several."""
    fault: Fault
    cases: tuple[FaultCase, ...]


def fault_groups(campaign: Campaign) -> tuple[FaultGroup, ...]:
    groups: dict[Fault, list[FaultCase]] = {}
    planned = (
        planned_configuration
        for planned_configuration in campaign.planned
        if planned_configuration.identity.faults
    )
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
