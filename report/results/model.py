"""A run as the report knows it: typed, reduced to what is printed, independent of the JSON's shape."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from report.base.paths import CONTRACT_GENERATED
from report.results.records import (
    Boundary,
    Configuration,
    LimitedBy,
    Prediction,
    Reason,
    Schedule,
    Turns,
    Warmup,
)
from report.statistics.histograms import Bounds
from report.statistics.samples import Place

#: The file of a campaign that holds its plan, machine and versions.
MANIFEST = "manifest.json"

#: Clients that measure the harness: the server without a limiter, and counters in its own process.
CONTROL_CLIENTS = frozenset(json.loads((CONTRACT_GENERATED / "controls.json").read_text("utf-8")))

#: What roles are measured for, in the order in which a report lists them.
MEASURED_KINDS: tuple[str, ...] = tuple(
    json.loads((CONTRACT_GENERATED / "measured-kinds.json").read_text("utf-8"))
)

#: Where the load enters, in the order of the page, with the words of each layer.
LAYER_WORDS: tuple[Mapping[str, str], ...] = tuple(
    json.loads((CONTRACT_GENERATED / "layers.json").read_text("utf-8"))
)
LAYERS = tuple(words["layer"] for words in LAYER_WORDS)

#: What decides, in the order of the page: a library in the server, a module in the store, a service beside
#: it, or the server's own memory.
DECIDERS: tuple[str, ...] = tuple(json.loads((CONTRACT_GENERATED / "deciders.json").read_text("utf-8")))

#: The order of the page.
ALGORITHMS: tuple[str, ...] = tuple(json.loads((CONTRACT_GENERATED / "algorithms.json").read_text("utf-8")))
#: The layer of foreign benchmark programs. It has rows of its own, and is in no ranking of the others.
STORE_LAYER = "store"

#: The option under which every client runs one script, so that client and script can be separated.
SAME_SCRIPT = "same-script"

#: The option of a second configuration of the same thing: it changes the label and nothing else (rule M31).
COPY = "copy"
#: Options under which a client has other settings than those that all clients share.
OWN_SETTINGS = ("defaults", "tuned")


@dataclass(frozen=True, slots=True)
class Dimension:
    """A number by which configurations differ, e.g. of servers."""

    key: str
    one: str
    """What it counts."""
    other: str
    layers: tuple[str, ...]
    """That have it."""

    def count(self, configuration: Configuration) -> int:
        """In a configuration as plan and result hold it: 1 where it is not named, 0 at a layer without it."""
        stated: int | None = getattr(configuration, self.key)
        return int(configuration.layer in self.layers) if stated is None else stated


#: Columns, filters, texts and exports follow this list.
DIMENSIONS = tuple(
    Dimension(**{**entry, "layers": tuple(entry["layers"])})
    for entry in json.loads((CONTRACT_GENERATED / "dimensions.json").read_text("utf-8"))
)


@dataclass(frozen=True, slots=True)
class Fault:
    """Something done to roles in the window, as it was planned."""

    name: str | None
    """None for one that was written as action and role."""
    action: str
    role: str
    start_s: float
    """From the opening of the window."""
    length_s: float | None
    """None where it happens at a moment, or lasts to the end."""

    @property
    def title(self) -> str:
        """`store-restart`, `pause:store-1`."""
        return self.name or f"{self.action}:{self.role}"

    @property
    def text(self) -> str:
        """`store-restart@10s+1s`."""
        length = "" if self.length_s is None else f"+{self.length_s:g}s"
        return f"{self.title}@{self.start_s:g}s{length}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A configuration: one row. What is not known of a foreign URL (store, topology, limits) is None."""

    key: str
    configuration_hash: str | None
    layer: str
    """One of `LAYERS`. Rows of different layers are never compared."""
    counts: Mapping[str, int]
    """Counts by the key of each dimension; 0 at a layer that does not have it."""
    label: str
    client: str
    client_version: str | None
    """The version that was asked for; None where the target names none."""
    options: tuple[str, ...]
    """Variations of the client, e.g. `same-script`, `autopipelining`."""
    store: str | None
    store_version: str | None = None
    """The version that was asked for; None where the target names none."""
    external_store: bool
    """The store is one that the user already ran."""
    topology: str | None
    limiter: str | None
    limiter_version: str | None
    """The version that was asked for; None where the target names none."""
    workload: str
    complexity: int | None
    payload_bytes: int | None = None
    """Bytes of the value that an operation of the store layer carries."""
    traffic: str
    connections: int
    """Connections of a closed loop; in an open one the most that it may use."""
    rate_per_second: float | None
    """Offered in an open loop, as `arrivals`; None in a closed one."""
    arrivals: str | None
    duration_s: float | None
    requests: int | None
    limits: tuple[int, int, int, int] | None
    """Points, window and block, both in seconds, and the points that a request uses."""
    caps: str
    """Canonical JSON of the caps by kind of role."""
    faults: tuple[Fault, ...] = ()
    """Rows with faults are in no ranking of speed."""
    # They follow from the target: results of one configuration are the same with and without them.
    decided_by: str | None = field(default=None, compare=False)
    """One of `DECIDERS`; None for an address whose limiter is not known."""
    algorithm: str | None = field(default=None, compare=False)
    """One of `ALGORITHMS`; None where it is not on record."""
    module: str | None = field(default=None, compare=False)
    """Id of the module that the store loads."""
    service: str | None = field(default=None, compare=False)
    """Id of the service between server and store."""
    framework: str | None = field(default=None, compare=False)
    """Id of the server's web framework; None for Fastify, and where no server is."""
    decides_locally: bool = field(default=False, compare=False)
    """Some decisions reach neither store nor service."""
    node: str | None = None
    """The version of Node that its servers were to run in; None for the project's own."""
    program: str | None = field(default=None, compare=False)
    """Id of the load program that makes the calls in the client's place; None for a client."""

    @property
    def generators(self) -> int:
        """Generators of the one load; 0 at the store layer."""
        return self.counts["generators"]

    @property
    def servers(self) -> int:
        """On the one store; 0 at the limiter layer, where the load generator calls the limiter itself."""
        return self.counts["servers"]

    @property
    def open_loop(self) -> bool:
        """What is measured is latency at a rate, and not capacity (rule M4)."""
        return self.rate_per_second is not None

    @property
    def printed(self) -> bool:
        """A foreign program loads and prints the figures: such rows are never ranked with others."""
        return self.layer == STORE_LAYER or self.program is not None

    @property
    def ceiling(self) -> bool:
        """It has no store: it measures what the harness itself can do."""
        return self.configuration_hash is not None and self.client in CONTROL_CLIENTS

    @property
    def copy(self) -> bool:
        """It is another one's copy: what differs between the two is the host."""
        return COPY in self.options

    @property
    def copied_label(self) -> str:
        """The label of what it is a copy of."""
        return "+".join(part for part in self.label.split("+") if part != COPY)

    @property
    def control(self) -> bool:
        """It is shown beside the clients, and never ranked with them."""
        return self.ceiling or self.copy

    @property
    def short_label(self) -> str:
        """The label without its topology, which has a column of its own; options stay."""
        client, plus, options = self.label.partition("+")
        short = client.removesuffix(f":{self.topology}") if self.topology else client
        return f"{short}{plus}{options}"

    @property
    def same_script(self) -> bool:
        """It runs the one script for all, and not the client's own."""
        return SAME_SCRIPT in self.options

    @property
    def settings(self) -> str:
        """The one of `OWN_SETTINGS` that it has; empty: the settings that all clients share."""
        return next((option for option in self.options if option in OWN_SETTINGS), "")

    @property
    def variant(self) -> str:
        """The client with its version and options, whichever script it runs: `iovalkey+autopipelining`."""
        kept = [option for option in self.options if option not in (SAME_SCRIPT, self._versioned_limiter)]
        return "+".join([self.libraries, *kept])

    @property
    def is_encrypted(self) -> bool:
        """The store that the campaign started for it talks over TLS."""
        return "tls" in self.options

    @property
    def in_any_condition(self) -> str:
        """`variant` without its version of Node and its encryption."""
        apart = (f"node-{self.node}", "tls")
        return "+".join(part for part in self.variant.split("+") if part not in apart)

    @property
    def libraries(self) -> str:
        """The client, and the limiter where a version was asked: `ioredis+rate-limiter-flexible~7.1.1`."""
        client = f"{self.client}~{self.client_version}" if self.client_version else self.client
        limiter = self._versioned_limiter
        return f"{client}+{limiter}~{self.limiter_version}" if limiter else client

    @property
    def _versioned_limiter(self) -> str | None:
        return self.limiter if self.limiter_version else None

    @property
    def store_text(self) -> str:
        """`valkey`, `valkey~8.1`, or `valkey (already ran)` for a store of the user's."""
        if self.store is None:
            return "not known"
        return f"{self.store_program} (already ran)" if self.external_store else str(self.store_program)

    @property
    def store_program(self) -> str | None:
        """The key of its store in a manifest: `valkey`, `valkey~8.1`."""
        return f"{self.store}~{self.store_version}" if self.store_version else self.store

    @property
    def workload_text(self) -> str:
        return self.workload if self.complexity is None else f"{self.workload} ({self.complexity} rounds)"

    @property
    def extent_text(self) -> str:
        return f"{self.requests:,} requests" if self.duration_s is None else f"{self.duration_s:g} s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """What one role used in the window."""

    kind: str
    """One of `MEASURED_KINDS`."""
    source: str
    cpu_percent: float
    cpu_us_per_request: float | None
    cpu_us: int = 0
    """What its cumulative counter grew by in lead-in and window."""
    resident_bytes: float | None = None
    """Mean over the window."""
    run_delay_us: float | None = None
    """How long its threads were ready to run and had no CPU, added up; None where it is not known."""


@dataclass(frozen=True, slots=True)
class LimiterScript:
    """The script that decides, as the process that calls it named it."""

    kind: str
    """The command that carries it: `eval`, `evalsha` or `fcall`."""
    name: str
    """The sha1 of its text, in 40 hex digits; for `fcall` the function's name."""

    @property
    def sha1(self) -> str | None:
        """None for a function: its name does not identify its text."""
        return None if self.kind == "fcall" else self.name

    @property
    def short_name(self) -> str:
        """The first 8 digits of the sha1, or the function's whole name."""
        return self.name if self.sha1 is None else self.name[:8]

    @property
    def text(self) -> str:
        """`FCALL consume`, `EVALSHA a1de965f`."""
        return f"{self.kind.upper()} {self.short_name}"


@dataclass(frozen=True, slots=True)
class Second:
    """One second of the window; the last may be shorter."""

    t_s: float
    interval_s: float
    allowed: int
    limited: int
    failed: int
    p99_ms: float | None

    @property
    def requests_per_second(self) -> float:
        return (self.allowed + self.limited) / self.interval_s


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedMemory:
    """What a run added to memory, from before any load to after the last answer."""

    keys: int
    """Decisions: where each is on a key of its own, as many keys."""
    failed: int
    """Decisions that failed."""
    items: int | None
    """In the store, all nodes together; None where it does not count, like `lost_keys`."""
    lost_keys: int | None
    """Expired or evicted."""
    bytes: Mapping[str, int]
    """Bytes by their source, see `SOURCES` in `report/analysis/figures.py`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The figures of a run that was measured. Percentiles come from the generators' merged histograms. At the
    limiter layer a request is a decision."""

    layer: str
    duration_s: float
    requests_per_second: float
    requests_sent: int
    requests_total: int
    """Answered requests."""
    requests_followed: int
    """In flight when the window closed, and followed to their end: in latency, but not in throughput."""
    percentiles_ms: Mapping[str, float]
    """In an open loop from the intended send (rule M3). Without those that failed or unanswered requests
    could move (rule M23)."""
    bounds_ms: Mapping[str, Bounds]
    """Bounds of those percentiles."""
    service_ms: Mapping[str, float]
    """Open loop alone: the same answers from the send, as the result states them; else empty."""
    service_bounds_ms: Mapping[str, Bounds]
    warm_up: Warmup
    schedule: Schedule | None
    latency_ms: Mapping[str, float]
    """average, min, max, stddev; min alone where requests failed; empty when nothing was answered."""
    curve_ms: tuple[float, ...]
    """At the percentiles of `histograms.CURVE`, as far as they are identified; empty without answers."""
    unsupported: tuple[str, ...]
    rate_limit_hits: int
    cpu_percent: float | None
    heap_bytes: float | None
    resident_bytes: float | None
    store_memory_bytes: int | None
    """Memory of all nodes; None where one does not report it."""
    added_memory: AddedMemory | None
    """None without a limiter."""
    connection_errors: int
    timeouts: int
    errors_total: int
    failed_answers: int
    failed_by_code: Mapping[str, int]
    """Answers by HTTP status, or by the limiter's outcome, without allowed and limited ones."""
    store_failures: int | None
    """Decisions that the store failed to make in the window, as servers or client counted; None without a
    count."""
    calls_per_request: float | None
    """Calls of the limiter per request; None without a limiter, like `descriptors_per_call`."""
    descriptors_per_call: float | None
    decisions: int | None
    """Answers, allowed or limited, to a consume of one descriptor, as the processes counted them that call
    the limiter, in lead-in and window: from the same two readings as the CPU time of the roles. None without
    a limiter, or without the count."""
    prediction: Prediction | None
    boundary: Boundary | None
    """None with other traffic."""
    roles: Mapping[str, Role]
    foreign_cpu_percent: float | None
    """CPU that was busy beside all roles and the harness, in % of one CPU; None where it is not known."""
    seconds: tuple[Second, ...]
    """Seconds of median runs alone, and of no more of them than a page can hold."""
    answers_each_slice: Sequence[int]
    """Answers in each whole 100 ms of the window's first minutes; of every run, so kept small."""
    answers_by_server: tuple[int, ...]
    """Answers of each server in lead-in and window, by its own count; empty without one of ours."""
    servers_ready_s: tuple[float, ...]
    """Seconds from the start of each server until it was ready; empty where it is not known."""
    client_settings: Mapping[str, Any]
    deciding_software: Mapping[str, str]
    """Modules and service of the run: `Module redis-cell`, with version and checksum."""
    limited_by: LimitedBy | None
    """None in results of versions that did not record it."""
    limiter_script: LimiterScript | None
    """None where no script decides, or the server named none."""
    script_calls: Mapping[str, int] | None
    """Scripts that ran, by command in lower case, as the store counted them: all nodes together, from before
    any load to after the last answer, without calls that failed. None without counters, or if one went back.
    """

    @property
    def limited_share(self) -> float | None:
        """Limited of all answered requests, 0 to 1; None when nothing was answered."""
        return self.rate_limit_hits / self.requests_total if self.requests_total else None

    @property
    def limiting_resource(self) -> str | None:
        """The name of the resource that limited the run; None if the result has none."""
        return self.limited_by.resource if self.limited_by else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """The figures of a run that a foreign program loaded: printed by it, or measured beside it."""

    operations_per_second: float
    operations: int
    duration_s: float
    latency_ms: Mapping[str, float]
    """average, min, p50, p95, p99, max."""
    store_cpu_us_per_operation: float | None
    service_cpu_us_per_operation: float | None
    """None without a service."""
    bytes_per_key: float | None
    program: str
    program_version: str
    store_version: str | None
    foreign_cpu_percent: float | None
    limited_by: LimitedBy | None


@dataclass(frozen=True, slots=True)
class Pauses:
    """Of the garbage collection, of one kind."""

    count: int
    total_us: float
    longest_us: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What the instruments of a run showed, of all servers together and of all store nodes together. None, or
    nothing in a mapping: not known."""

    requests: int
    """That the servers finished under the instruments: the divisor of what is theirs; 0 without a server."""
    pauses: Mapping[str, Pauses]
    """Pauses by kind, e.g. `minor`, `major`."""
    loop_delay_us: Mapping[str, float]
    """How late the event loop came to a timer, of the server where it was the latest: `mean`, `p50`, `p90`,
    `p99`, `max`."""
    allocated_bytes: int | None
    context_switches: Mapping[str, int]
    """`voluntary`, `involuntary`."""
    system_calls: Mapping[str, int]
    """`reads`, `writes`."""
    decisions: int
    """Commands with a decision that the store ran, from before any load to after the last answer: the divisor
    of what is the store's; 0 where it does not tell."""
    script_us: float | None
    """The time that these commands took."""
    script_p99_us: float | None
    """The p99 of the node where it was the longest."""
    store_received_bytes: int | None
    """From clients, in the same time."""
    store_sent_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """What each slice of a window saw, all columns of one length."""

    width_s: float
    allowed: Sequence[int]
    limited: Sequence[int]
    failed: Sequence[int]
    timed_out: Sequence[int]
    """In the slice in which they were given up."""
    p50_us: Sequence[float | None]
    p99_us: Sequence[float | None]
    """None where nothing was answered."""
    backlog: Sequence[int] | None
    """Due requests that waited, in an open loop."""


@dataclass(frozen=True, slots=True)
class OverAdmission:
    """Requests admitted from the injection on, beside the model of the limiter's algorithm."""

    admitted: int
    counters_kept: int
    """What the model admits if no counter was lost."""
    counters_lost: int | None
    """What it admits if all were lost; None where the fault takes none."""

    @property
    def seen(self) -> int:
        """More than the quotas admit; below 0 where the model admits more."""
        return self.admitted - self.counters_kept

    @property
    def predicted(self) -> int | None:
        return None if self.counters_lost is None else self.counters_lost - self.counters_kept


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultFigures:
    """What one fault did to the requests of a run; docs/faults.md defines each figure."""

    observed_s: float
    outage_injected_s: float
    outage_seen_s: float
    first_error_s: float | None
    """None where no request failed or was given up."""
    error_share: float | None
    """0 to 1; None where nothing ended."""
    recovery: str
    """`recovered`, `never`, `not known`."""
    recovery_s: float | None
    recovery_text: str
    requests_lost: int
    p99_worst_us: int | None
    """The highest of a second that begins while the fault is in place; None where nothing was answered."""
    over_admission: OverAdmission | None
    quotas_bind: bool | None
    """False: they cannot be used up; None: not known."""
    answers: Mapping[str, float] | None
    """Shares of `allowed`, `limited`, `failed` while the fault was in place; None where nothing ended."""
    behaviour: str
    """`open`, `closed`, `errors`, `waits`, `unchanged`."""
    server_memory_peak_bytes: int | None
    server_memory_before_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRecord:
    """A planned fault as it took place."""

    name: str | None
    action: str
    roles: tuple[str, ...]
    from_s: float | None
    """None where it was not injected, as `to_s`."""
    to_s: float | None
    undone: bool
    note: str
    store_reconnections: int | None
    figures: FaultFigures | None
    """None where it was not injected."""


@dataclass(frozen=True, slots=True)
class FaultRun:
    """The faults of a run, in the order of the plan."""

    records: tuple[FaultRecord, ...]
    p99_before_us: int | None
    """The p99 of the ten seconds before the first one, or of what there was; None where it is not known."""
    timeline: Timeline | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One repetition; `measured` is None when it failed or was aborted."""

    identity: Identity
    file: str
    run: int
    """Number of the configuration's run, from 1."""
    campaign: str | None
    started_at: str
    status: str
    failure: str | None
    verdict: str
    reasons: tuple[Reason, ...]
    not_applicable: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    runtime: Mapping[str, Any] | None
    versions: Mapping[str, str]
    outcome: str | None
    """What the target did with the load: `served`, `overloaded` or `failed` (rule M24); None: not known."""
    outcome_text: str | None
    """It with the figures, unless it served the load."""
    measured: Measured | None
    printed: Printed | None = None
    """Figures of a run that a foreign program loaded, in place of `measured`."""
    place: Place | None = None
    """Its round and group; None in consecutive order."""
    set_aside: str = ""
    """Why it is listed and in no figure (rule M20), e.g. that its round was measured again; else empty."""
    diagnosis: Diagnosis | None = None
    """What a run with instruments found, which never counts."""
    faults: FaultRun | None = None
    """What a measured run with faults found, which is in no ranking of speed."""
    finished_at: str = ""
    placement: Mapping[str, str] = field(default_factory=dict)
    """The machine of each role; empty where they all ran on one."""
    turns: Turns | None = None
    """None of a run that had the load alone."""

    @property
    def spoiled(self) -> bool:
        """The target failed its load: it ranks below all runs that served theirs."""
        return self.measured is not None and self.outcome in ("overloaded", "failed")

    @property
    def eligible(self) -> bool:
        """Its figures count: it was measured soundly, and the target served its load."""
        has_figures = self.measured is not None or self.printed is not None
        return has_figures and self.verdict != "invalid" and not self.spoiled

    @property
    def requests_per_second(self) -> float | None:
        if self.printed:
            return self.printed.operations_per_second
        return self.measured.requests_per_second if self.measured else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A configuration that the plan holds, with the run numbers it should have."""

    identity: Identity
    runs: tuple[int, ...]
    places: Mapping[int, Place] = field(default_factory=dict)
    """Places by run; empty in consecutive order."""
    reference: bool = False
    """The others of its ranking are compared with it."""
    by_turns: bool = False
    """Its runs were made at the same time as those that they are compared with (rule M16)."""


@dataclass(frozen=True, slots=True)
class Excluded:
    """A file that is not what it should be, and why: none of its figures is on the page."""

    file: str
    text: str
    """The field, as a JSON path, and what is wrong with it."""

    def __str__(self) -> str:
        return f"{self.file}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """A folder of results. `manifest` is the validated document, absent for runs made by hand."""

    name: str
    manifest: Mapping[str, Any] | None
    planned: tuple[Planned, ...]
    runs: tuple[Run, ...]
    ignored: tuple[str, ...]
    """Names of files that a crash left behind."""
    excluded: tuple[Excluded, ...] = ()
    """Files that are left out, by name; only where the caller wants the rest all the same."""
    planned_operations: tuple[Planned, ...] = ()
    """Rows that a foreign program loads, which are in neither `planned` nor `runs`."""
    operations: tuple[Run, ...] = ()
    set_aside: tuple[Run, ...] = ()
    """Runs in no figure, which are in neither `runs` nor `operations`, see `Run.set_aside`."""
    diagnoses: tuple[Run, ...] = ()
    """Runs with instruments, which are in neither `planned` nor `runs`."""
    planned_faults: tuple[Planned, ...] = ()
    """Rows with faults, which are in neither `planned` nor `runs`."""
    fault_runs: tuple[Run, ...] = ()
    series_left_out: int = 0
    """Median runs whose per-second series were too many to keep."""
