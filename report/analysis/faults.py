"""What faults did to the requests: one case for each fault of each configuration, over its runs."""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from report.analysis.printed_rows import worst_verdict
from report.analysis.summary import row_order
from report.base.format import ABSENT
from report.results.model import Campaign, Identity, Run, fault_title
from report.results.records import Fault, FaultFiguresFault, MeasuredResultFault, OverAdmission, Timeline

#: What stands for a recovery that did not come, where figures are put in order.
NEVER = math.inf

#: Faults in words, after “What happens to your API when …”.
_WORDS = {
    "store-restart": "the store restarts",
    "store-pause": "the store stops for a while",
    "primary-kill": "a primary of the cluster dies",
    "primary-pause": "a primary of the cluster stops for a while",
    "manual-failover": "a replica takes over from its primary",
    "partition": "the servers are cut off from the store",
    "slow-store": "the store is slow",
    "script-flush": "the store forgets its scripts",
    "memory-full": "the store’s memory is full",
    "server-restart": "the servers restart",
    "one-of-n-servers": "one of several servers restarts",
    "thundering-herd": "all windows start at once",
}

_VERBS = {
    "kill": "dies",
    "restart": "restarts",
    "pause": "stops for a while",
    "disconnect": "is cut off",
    "delay": "is slow",
    "failover": "hands over to its replica",
    "flush-scripts": "forgets its scripts",
    "flush-keys": "forgets its keys",
    "fill-memory": "has no memory left",
}


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


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over the runs: the median, in an even number of runs the higher of the two in the middle."""

    middle: float
    low: float
    high: float
    runs: int
    """That have the figure."""


@dataclass(frozen=True, slots=True)
class FaultedRun:
    run: Run
    record: MeasuredResultFault
    figures: FaultFiguresFault

    @property
    def timeline(self) -> Timeline | None:
        return self.run.measured.record.timeline if self.run.measured else None


Read = Callable[[FaultedRun], float | None]


def faults_of(run: Run) -> Sequence[MeasuredResultFault]:
    """As they took place, in the order of the plan."""
    return (run.measured.record.faults if run.measured else None) or ()


def p99_before(faulted: FaultedRun) -> float | None:
    """In µs, of the ten seconds before the first fault, or of what there was; None where it is not known."""
    stated = faulted.run.measured and faulted.run.measured.record.fault_figures
    return stated.before.p99_us if stated and stated.before else None


def recovery(faulted: FaultedRun) -> float | None:
    figures = faulted.figures
    return NEVER if figures.recovery == "never" else figures.recovery_s


def over_admission(faulted: FaultedRun) -> float | None:
    """Requests more than the quotas admit; None where the quotas cannot be used up, or are not known."""
    over = faulted.figures.over_admission
    return over.admitted - over.counters_kept if isinstance(over, OverAdmission) else None


def predicted_over_admission(faulted: FaultedRun) -> float | None:
    """The same by the model, as if all counters had been lost."""
    over = faulted.figures.over_admission
    if not isinstance(over, OverAdmission) or over.counters_lost is None:
        return None
    return over.counters_lost - over.counters_kept


def answer_share(name: str) -> Read:
    """Share of the requests that ended while the fault was in place: `allowed`, `limited` or `failed`."""

    def read(faulted: FaultedRun) -> float | None:
        answers = faulted.figures.answers
        return float(getattr(answers, name)) if answers else None

    return read


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultCase:
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
        return tuple(
            faulted for run in self.runs if run.verdict != "invalid" and (faulted := self.faulted(run))
        )

    @property
    def verdict(self) -> str:
        return worst_verdict(self.runs, lambda run: run.measured)

    def record_of(self, run: Run) -> MeasuredResultFault | None:
        records = faults_of(run)
        return records[self.place] if self.place < len(records) else None

    def faulted(self, run: Run) -> FaultedRun | None:
        """None where the fault was not injected."""
        record, stated = self.record_of(run), run.measured and run.measured.record.fault_figures
        for figures in stated.faults if stated else ():
            if record and figures.fault == self.place:
                return FaultedRun(run, record, figures)
        return None

    def spread(self, read: Read) -> Spread | None:
        values = sorted(value for each in self.counted if (value := read(each)) is not None)
        if not values:
            return None
        return Spread(statistics.median_high(values), values[0], values[-1], len(values))

    @property
    def typical(self) -> FaultedRun | None:
        """The run that is drawn: of those that count the one in the middle by recovery, outage and number."""
        ordered = sorted(
            (each for each in self.counted if each.timeline),
            key=lambda each: (
                NEVER if (found := recovery(each)) is None else found,
                each.figures.outage_seen_s,
                each.run.run,
            ),
        )
        return ordered[len(ordered) // 2] if ordered else None


@dataclass(frozen=True, slots=True)
class FaultGroup:
    text: str
    """`store-restart`, with its times where the campaign has it at several."""
    fault: Fault
    cases: tuple[FaultCase, ...]


def _cases(campaign: Campaign) -> list[FaultCase]:
    identities = {entry.identity.key: entry.identity for entry in campaign.planned_faults}
    planned = {entry.identity.key: entry.runs for entry in campaign.planned_faults}
    runs: dict[str, list[Run]] = {key: [] for key in identities}
    for run in campaign.fault_runs:
        identities.setdefault(run.identity.key, run.identity)
        runs.setdefault(run.identity.key, []).append(run)
    found: list[FaultCase] = []
    for key, identity in identities.items():
        there = tuple(sorted(runs[key], key=lambda run: run.run))
        missing = tuple(sorted(set(planned.get(key, ())) - {run.run for run in there}))
        found.extend(
            FaultCase(identity=identity, place=place, runs=there, missing=missing)
            for place in range(len(identity.faults))
        )
    return found


def fault_groups(campaign: Campaign) -> tuple[FaultGroup, ...]:
    groups: dict[Fault, list[FaultCase]] = {}
    for case in _cases(campaign):
        groups.setdefault(case.fault, []).append(case)
    titles = [fault_title(fault) for fault in groups]
    return tuple(
        FaultGroup(
            fault_text(fault) if titles.count(fault_title(fault)) > 1 else fault_title(fault),
            fault,
            tuple(sorted(cases, key=lambda case: (row_order(case.identity), case.place))),
        )
        for fault, cases in groups.items()
    )


def fault_runs_of(groups: Sequence[FaultGroup]) -> list[Run]:
    found = {run.file: run for group in groups for case in group.cases for run in case.runs}
    return list(found.values())
