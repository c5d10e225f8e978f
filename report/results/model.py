"""The model of runs and campaigns in the report. It is typed, reduced to what is printed, and
independent of the shape of the JSON."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from report.results.generated import records
from report.results.identity import Identity
from report.results.turn_parts import TurnParts
from report.results.validate import Result
from report.statistics.comparison import DEFAULT_MARGIN
from report.statistics.histograms import Bounds, Mergeable
from report.statistics.samples import Place

#: The rule about foreign CPU. By turns it says the same of all runs of a round.
FOREIGN_CPU_RULE = "M25"

#: The file of a campaign that holds its plan, machine and versions.
MANIFEST = "manifest.json"


_ANSWERED_CODES = ("200", "429", "allowed", "limited")


class AddedMemory(Struct, frozen=True, kw_only=True):
    """The memory that a run added, from before any load to after the last answer."""

    keys: int
    """The number of decisions. It is the number of keys if each decision is on a fresh key."""
    failed: int
    items: int | None
    """The items in all nodes of the store. Like `lost_keys`, it is None if the store does not count
    them."""
    lost_keys: int | None
    """The keys that expired or were evicted."""
    bytes: Mapping[str, int]
    """The added bytes by source, see `SOURCES` in `report/analysis/figures.py`."""


class Usage(Struct, frozen=True):
    """The usage of all roles of a kind in one stretch of a run, which is about a second long."""

    t_s: float
    """The end of the stretch, in seconds since the first reading."""
    interval_s: float
    cpu_percent: float | None
    """The CPU time in % of one CPU. None if that of the kind is not known."""
    resident_bytes: int
    """The resident memory at the end of the stretch, as the runtime reads it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The figures of a measured run. At the limiter layer a request is a decision."""

    record: records.MeasuredResult
    """The result without the members that `slim` drops."""
    layer: str
    requests_per_second: float
    percentiles_ms: Mapping[str, float]
    """The percentiles of the latency, which begins in an open loop at the intended send (rule M3).
    Those that failed or unanswered requests could move are absent (rule M23)."""
    bounds_ms: Mapping[str, Bounds]
    curve_ms: Sequence[float]
    """The latencies at `histograms.CURVE`, as far as they are identified. Empty without answers."""
    unsupported: tuple[str, ...]
    store_memory_bytes: int | None
    """The memory of all nodes. None if one node does not report it."""
    added_memory: AddedMemory | None
    """The memory that the run added. None without a limiter."""
    store_failures: int | None
    """The decisions that the store failed to make in the window, as servers or client counted them.
    None without a count."""
    decisions: int | None
    """The answers, allowed or limited, to consumes of one descriptor in lead-in and window.

    The processes that call the limiter count them, between the same two readings as the CPU time of
    the roles. None without a limiter, or without the count."""
    mergeable: Mergeable | None = None
    """Its latencies, if some percentile may need those of other runs too (rule M18), else None."""
    seconds: tuple[records.Sample, ...] = ()
    """The seconds of the run, of which the last may be shorter. Empty unless the run is selected,
    and if a page cannot hold more."""
    usage: Mapping[str, tuple[Usage, ...]] = field(default_factory=dict)
    """The usage over time by kind of role, as far as it is known. Empty unless the run is
    selected."""
    answers_each_slice: Sequence[int]
    """The answers in each whole 100 ms of the first minutes of the window. It is small, because all
    runs have it."""
    answers_by_server: tuple[int, ...]
    """The answers of each server in lead-in and window, as it counts them. Empty without a server
    of this project."""
    client_settings: Mapping[str, Any]
    deciding_software: Mapping[str, str]
    """The version and checksum of each module and service, by names such as `Module redis-cell`."""
    limiter_script: records.LimiterScript | None
    """The script that decides. None without one, or if the server named none."""
    parts: TurnParts = TurnParts()  # noqa: RUF009 (never changed)
    """Its figures in an earlier and a later part, as far as the result tells them."""
    script_calls: Mapping[str, int] | None
    """The successful calls of scripts by command in lower case.

    All nodes of the store count them, from before any load to after the last answer. None without
    counters, or if one went back."""

    @property
    def limited_share(self) -> float | None:
        """The share of answered requests that were limited, from 0 to 1. None without answers."""
        total = self.record.requests.total
        return self.record.rate_limit_hits / total if total else None

    @property
    def limiting_resource(self) -> str | None:
        return self.record.limited_by.resource if self.record.limited_by else None

    @property
    def foreign_cpu_percent(self) -> float | None:
        """The foreign CPU in % of one CPU. None if it is not known."""
        return self.record.host_load.foreign_cpu_percent if self.record.host_load else None

    @property
    def failed_by_code(self) -> dict[str, int]:
        """The failed answers by HTTP status, or by the outcome of the limiter."""
        by_code = sorted(self.record.counts.by_code.items())
        return {code: count for code, count in by_code if code not in _ANSWERED_CODES and count}

    @property
    def latency_ms(self) -> Mapping[str, float]:
        """Average, min, max and stddev of the latency. It has nothing but min if requests failed,
        and is empty without answers."""
        names = ("average", "min", "max", "stddev")
        values = {name: getattr(self.record.latency, name, None) for name in names}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One repetition of a configuration. `measured` is None if it failed or was aborted."""

    identity: Identity
    file: str
    run: int
    """The number of the run within its configuration, from 1."""
    record: Result
    """The result without the members that `slim` drops."""
    failure: str | None
    verdict: str
    versions: Mapping[str, str]
    placement: Mapping[str, str]
    """The machine of each role. Empty if all ran on one machine."""
    outcome: str | None
    """What the target did with the load, which is `served`, `overloaded` or `failed` (rule M24).
    None if it is not known."""
    measured: Measured | None
    printed: records.PrintedResult | None
    """The record of a run whose load came from a load program, in place of `measured`."""
    place: Place | None = None
    """Its round and group. None in consecutive order."""
    set_aside: str = ""
    """The reason for which it is listed and used in no figure (rule M20), such as that its round
    was measured again. Empty for other runs."""

    @property
    def reasons(self) -> Sequence[records.Reason]:
        return self.record.verdict.reasons

    @property
    def outcome_text(self) -> str | None:
        """Its outcome with the figures, unless the target served the load."""
        return self.measured.record.outcome_text if self.measured else None

    @property
    def spoiled(self) -> bool:
        """Whether the target failed its load, so that it ranks below all runs that served
        theirs."""
        return self.measured is not None and self.outcome in ("overloaded", "failed")

    @property
    def eligible(self) -> bool:
        """Whether its figures count, because the measurement is not invalid and the target served
        its load."""
        has_figures = self.measured is not None or self.printed is not None
        return has_figures and self.verdict != "invalid" and not self.spoiled

    @property
    def requests_per_second(self) -> float | None:
        if self.printed:
            return self.printed.operations.per_second
        return self.measured.requests_per_second if self.measured else None

    @property
    def selection_rank(self) -> float | None:
        """The figure by which it is selected among the runs of its configuration. Higher is better.

        It is the throughput. In an open loop, in which all runs have the same throughput, it is the
        negative p99, or its negative upper bound if it is not identified (rule M23). A run whose
        p99 is not known at all is last."""
        if self.measured is None or not self.identity.open_loop:
            return self.requests_per_second

        bounds = self.measured.bounds_ms.get("p99")
        p99_ms = self.measured.percentiles_ms.get("p99", bounds.high if bounds else None)
        return -math.inf if p99_ms is None else -p99_ms


def turns_of(run: Run) -> records.Turns | None:
    """The turns of a run. None for a run that had the load for itself."""
    return run.measured.record.turns if run.measured else None


class Planned(Struct, frozen=True, kw_only=True):
    """A configuration of the plan, with the numbers of its planned runs."""

    identity: Identity
    runs: tuple[int, ...]
    places: Mapping[int, Place] = {}
    """The places by run. Empty in consecutive order."""
    by_turns: bool = False
    """Whether its runs take place at the same time as those with which they are compared (rule
    M16)."""


class PlannedRanking(Struct, frozen=True, kw_only=True):
    """A ranking of the plan. Each row is in exactly one."""

    id: str
    members: tuple[str, ...]
    """The keys of its rows, including the reference and its copies."""
    reference: str | None = None
    copy: str | None = None
    """The row that is the copy of the reference (rule M31)."""
    family: int
    """The number of comparisons with the reference that Holm's correction counts (rule M17)."""
    conditions: tuple[str, ...] = ()
    """The options of `SEPARATIONS` that all its rows have, and that separate them from rows without
    them."""
    client: str = ""
    """The client of a ranking that compares a client with itself. Empty for every other ranking."""
    varies: tuple[str, ...] = ()
    """What varies in such a ranking, which is `store version` or a `Separation.what`."""


class Excluded(Struct, frozen=True):
    """A file that breaks the contract, so that none of its figures is on the page."""

    file: str
    text: str
    """The field, as a JSON path, and what is wrong with it."""

    def __str__(self) -> str:
        return f"{self.file}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """A folder of results. `manifest` is the validated document, and None for runs made by hand."""

    name: str
    manifest: Mapping[str, Any] | None = None
    planned: tuple[Planned, ...] = ()
    rankings: tuple[PlannedRanking, ...] = ()
    counted: tuple[Run, ...] = ()
    """The runs that enter figures, by the name of the file."""
    beside: tuple[Run, ...] = ()
    """The runs that enter no figure, because they were set aside, see `Run.set_aside`, or made with
    instruments."""
    ignored: tuple[str, ...] = ()
    """The names of files that a crash left behind."""
    excluded: tuple[Excluded, ...] = ()
    """The files that break the contract, by name. Empty unless the caller accepts such files."""
    series_left_out: int = 0
    """The number of selected runs without their series, because there were too many."""
    judged_again: bool = False
    """Whether newer rules than those of the measurement have judged the runs."""

    @property
    def margin(self) -> float:
        """The largest difference that does not matter to the reader, as a share. The plan fixed it
        before the first run."""
        plan = self.manifest["plan"] if self.manifest else {}
        percent = plan.get("margin_percent")
        return DEFAULT_MARGIN if percent is None else percent / 100

    @property
    def load_curve(self) -> Mapping[str, Any] | None:
        """The loads of a load curve, as the plan names them. None in other campaigns."""
        plan = self.manifest["plan"] if self.manifest else {}
        loads: Mapping[str, Any] | None = plan.get("load_curve")
        return loads

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs of `counted` whose speed is ranked."""
        return tuple(run for run in self.counted if run.identity.ranked)
