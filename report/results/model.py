"""The model of runs and campaigns in the report. It is typed, reduced to what is printed, and
independent of the shape of the JSON."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from report.base.contract import CONSTANTS, generated
from report.results.generated import records
from report.results.turn_parts import TurnParts
from report.results.validate import Result
from report.statistics.comparison import DEFAULT_MARGIN
from report.statistics.histograms import Bounds, Mergeable
from report.statistics.samples import Place

#: The rule about foreign CPU. By turns it says the same of all runs of a round.
FOREIGN_CPU_RULE = "M25"

#: The file of a campaign that holds its plan, machine and versions.
MANIFEST = "manifest.json"


def _generated(name: str) -> tuple[Any, ...]:
    return tuple(generated(name))


#: The clients that measure the harness, which are the server without a limiter and the one with
#: counters in its process.
CONTROL_CLIENTS: frozenset[str] = frozenset(_generated("controls"))

#: The kinds of roles whose resources are measured, in the order in which a report lists them.
MEASURED_KINDS: tuple[str, ...] = _generated("measured-kinds")

#: The layers in the order of the page, with the words of each.
LAYER_WORDS: tuple[Mapping[str, str], ...] = _generated("layers")
LAYERS = tuple(words["layer"] for words in LAYER_WORDS)

#: The deciders in the order of the page.
DECIDERS: tuple[str, ...] = _generated("deciders")

#: The algorithms in the order of the page.
ALGORITHMS: tuple[str, ...] = _generated("algorithms")
#: The layer of load programs that measure a store. Its rows are in no ranking with others.
STORE_LAYER = "store"

#: The option with which all clients run one script, so that a difference is due to the client.
SAME_SCRIPT: str = CONSTANTS["same_script"]

#: The option of a copy, which changes the label and nothing else (rule M31).
COPY: str = CONSTANTS["copy"]
#: What differs between rankings on several web frameworks.
FRAMEWORK: str = CONSTANTS["framework"]

_ANSWERED_CODES = ("200", "429", "allowed", "limited")


class Dimension(Struct, frozen=True):
    """A number by which configurations differ, e.g. of servers, at layers that have it."""

    key: str
    one: str
    other: str
    layers: tuple[str, ...]

    def count(self, configuration: records.Configuration) -> int:
        """The count of a configuration. It is 1 if the configuration does not name it, and 0 at a
        layer without this dimension."""
        count: int | None = getattr(configuration, self.key)
        return int(configuration.layer in self.layers) if count is None else count


#: The dimensions, which columns, filters, texts and exports follow.
DIMENSIONS = tuple(
    Dimension(**{**members, "layers": tuple(members["layers"])})
    for members in _generated("dimensions")
)


class Separation(Struct, frozen=True, kw_only=True):
    """An option that separates rankings, with its words. It is an entry in
    `src/targets/options.ts`."""

    option: str
    """The option, or the common form of a family of options such as `node-<version>`."""
    pattern: str | None = None
    what: str
    """What differs between the rows, e.g. `encryption`."""
    compares: str
    """`others` if rows with the option are compared with each other, and `itself` if a client with
    it is compared with the same client without it."""
    words: str
    value: str | None = None
    """The text for lists of differences, which replaces `words` there."""
    default_words: str = "without it"
    """The text of such lists for rows without an option of the family."""

    def has(self, option: str) -> bool:
        return bool(re.fullmatch(self.pattern, option)) if self.pattern else option == self.option


#: The options by which plans separate rankings.
SEPARATIONS: tuple[Separation, ...] = tuple(
    Separation(**members) for members in _generated("separations")
)


def separations_of(options: Iterable[str], compares: str) -> list[tuple[str, Separation]]:
    """The separating options among these, in the order of the list."""
    option_ids = tuple(options)
    return [
        (option, separation)
        for separation in SEPARATIONS
        if separation.compares == compares
        for option in option_ids
        if separation.has(option)
    ]


def fault_title(fault: records.Fault) -> str:
    """The title of a fault, such as `store-restart`, or `pause:store-1` if the fault has no
    name."""
    return fault.name or f"{fault.action}:{fault.role}"


def short_label(label: str, topology: str | None) -> str:
    """The label with its options and without its topology, for which tables have a column."""
    client, plus, options = label.partition("+")
    short = client.removesuffix(f":{topology}") if topology else client
    return f"{short}{plus}{options}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A configuration, which is one row. Store, topology and limits of a URL that was given by hand
    are not known, and None."""

    key: str
    configuration_hash: str | None = None
    layer: str
    """One of `LAYERS`. Rows of different layers are never compared."""
    counts: Mapping[str, int]
    """The counts by the key of each dimension, which are 0 at a layer without it."""
    label: str
    client: str
    options: tuple[str, ...] = ()
    """The options of the target, such as `same-script` or `autopipelining`."""
    store: str | None = None
    external_store: bool = False
    """Whether the store is an external store."""
    topology: str | None = None
    limiter: str | None = None
    # The versions in the text of the target, which are None if it names none.
    client_version: str | None = None
    store_version: str | None = None
    limiter_version: str | None = None
    node: str | None = None
    """The version of Node in which its servers run. None for the default version."""
    workload: str
    complexity: int | None = None
    request: str | None = None
    """What an app is asked, such as `GET /items`. None for a target that is no app."""
    payload_bytes: int | None = None
    """The bytes of the value in an operation of the store layer."""
    traffic: str
    connections: int
    """The connections of a closed loop, or the most that an open loop may use."""
    rate_per_second: float | None
    """The offered rate of an open loop. Like `arrivals`, it is None in a closed loop."""
    arrivals: str | None
    load_text: str
    """The load as text, such as `50 connections` or `5,000/s constant, up to 200 connections`."""
    duration_s: float | None
    requests: int | None
    limits: tuple[int, int, int, int] | None = None
    """The quota, limiter window and block, both in seconds, and the points that a request uses."""
    caps: str = "{}"
    """The caps by kind of role as canonical JSON."""
    faults: tuple[records.Fault, ...] = ()
    """The faults of its runs. A row with faults is in no ranking of speed."""
    # The next members follow from the target, so that results with and without them are equal.
    decided_by: str | None = field(default=None, compare=False)
    """One of `DECIDERS`. None for an address whose limiter is not known."""
    algorithm: str | None = field(default=None, compare=False)
    """One of `ALGORITHMS`. None if it is not on record."""
    module: str | None = field(default=None, compare=False)
    service: str | None = field(default=None, compare=False)
    framework: str | None = field(default=None, compare=False)
    """The id of the web framework of the server. None for Fastify, and without a server."""
    same_script: bool = field(default=False, compare=False)
    """Whether it runs the script that all clients share, instead of the one that comes with it."""
    copy_of: str | None = field(default=None, compare=False)
    """The label of the row of which it is a copy. Only the host can make the two differ (rule
    M31)."""
    decides_locally: bool = field(default=False, compare=False)
    """Whether some decisions reach neither store nor service."""
    program: str | None = field(default=None, compare=False)
    """The id of the load program that makes the calls in place of the client. None for a client."""

    @property
    def generators(self) -> int:
        """The number of generators that share the load, which is 0 at the store layer."""
        return self.counts["generators"]

    @property
    def servers(self) -> int:
        """The number of servers on the store. It is 0 at the limiter layer, where the generator
        calls the limiter."""
        return self.counts["servers"]

    @property
    def open_loop(self) -> bool:
        """Whether latency at a rate is measured, and not capacity (rule M4)."""
        return self.rate_per_second is not None

    @property
    def printed(self) -> bool:
        """Whether a load program prints the figures. Such rows are never ranked with others."""
        return self.layer == STORE_LAYER or self.program is not None

    @property
    def ranked(self) -> bool:
        """Whether its speed is ranked with others, because no load program prints it and no fault
        disturbs it."""
        return not self.printed and not self.faults

    @property
    def ceiling(self) -> bool:
        """Whether it has no store, so that it measures what the harness can do."""
        return self.configuration_hash is not None and self.client in CONTROL_CLIENTS

    @property
    def copy(self) -> bool:
        return self.copy_of is not None

    @property
    def control(self) -> bool:
        """Whether it is shown beside the clients and never ranked with them."""
        return self.ceiling or self.copy

    @property
    def short_label(self) -> str:
        return short_label(self.label, self.topology)

    @property
    def variant(self) -> str:
        """The client with its version and options, whichever script it runs, such as
        `iovalkey+autopipelining`."""
        options = [
            option
            for option in self.options
            if option not in (SAME_SCRIPT, self._versioned_limiter)
        ]
        return "+".join([self.libraries, *options])

    @property
    def libraries(self) -> str:
        """The client, and the limiter if the target names its version, such as
        `ioredis+rate-limiter-flexible~7.1.1`."""
        client = f"{self.client}~{self.client_version}" if self.client_version else self.client
        limiter = self._versioned_limiter
        return f"{client}+{limiter}~{self.limiter_version}" if limiter else client

    @property
    def build_of(self) -> tuple[object, ...]:
        """What two builds of one program have in common, such as versions of a client, or a target
        and its copy."""
        ignored = (COPY, self._versioned_limiter)
        options = tuple(option for option in self.options if option not in ignored)
        return self.client, self.store, self.topology, self.limiter, self.decided_by, options

    @property
    def _versioned_limiter(self) -> str | None:
        return self.limiter if self.limiter_version else None

    @property
    def store_text(self) -> str:
        """A text such as `valkey`, `valkey~8.1`, or `valkey (already ran)` for an external
        store."""
        if self.store is None:
            return "not known"
        if self.external_store:
            return f"{self.store_program} (already ran)"
        return str(self.store_program)

    @property
    def store_program(self) -> str | None:
        """The key of its store in a manifest, such as `valkey` or `valkey~8.1`."""
        return f"{self.store}~{self.store_version}" if self.store_version else self.store

    @property
    def app(self) -> bool:
        """Whether it is an HTTP server of somebody else, which discloses nothing of itself."""
        return self.request is not None

    @property
    def workload_text(self) -> str:
        if self.request is not None:
            return self.request
        if self.complexity is None:
            return self.workload
        return f"{self.workload} ({self.complexity} rounds)"

    @property
    def extent_text(self) -> str:
        if self.duration_s is None:
            return f"{self.requests:,} requests"
        return f"{self.duration_s:g} s"


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


def total_of(values: Sequence[int | None]) -> int | None:
    """The sum of the values. None without values, or if one is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def stated_bounds(latency: records.Latency | None) -> dict[str, Bounds]:
    """The bounds of latencies that a result contains, by name."""
    bounds_by_name = (latency.bounds if latency else None) or {}
    return {name: Bounds(bounds.low, bounds.high) for name, bounds in bounds_by_name.items()}


def sum_over_kind(roles: Mapping[str, records.Resource], member: str, kind: str) -> float | None:
    """The sum of a member over the roles of a kind. None without such roles, and if the member is
    not known of one of them."""
    values = [getattr(role, member) for role in roles.values() if role.kind == kind]
    return sum(values) if values and None not in values else None


def sums_by_kind(roles: Mapping[str, records.Resource], member: str) -> dict[str, float]:
    """The sums of a member over the roles of each kind. A kind is absent if its sum is not
    known."""
    sums = {kind: sum_over_kind(roles, member, kind) for kind in MEASURED_KINDS}
    return {kind: total for kind, total in sums.items() if total is not None}


def cpu_us_per_request(roles: Mapping[str, records.Resource]) -> dict[str, float]:
    return sums_by_kind(roles, "cpu_us_per_request")


def script_sha1(script: records.LimiterScript) -> str | None:
    """The sha1 of the text of a script. None for a function, whose name does not identify its
    text."""
    return None if script.kind == "fcall" else script.name_or_sha1


def short_script_name(script: records.LimiterScript) -> str:
    """The first 8 digits of the sha1, or the whole name of a function."""
    return script.name_or_sha1[: 8 if script_sha1(script) else None]


def script_text(script: records.LimiterScript) -> str:
    """A text such as `FCALL consume` or `EVALSHA a1de965f`."""
    return f"{script.kind.upper()} {short_script_name(script)}"


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
