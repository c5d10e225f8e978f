"""A run as the report knows it: typed, reduced to what is printed, independent of the JSON's
shape."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from report.base.contract import CONSTANTS, generated
from report.results.generated import records
from report.results.validate import Result
from report.statistics.histograms import Bounds, Mergeable
from report.statistics.samples import Place

#: The rule about other programs that use the CPU: by turns all runs of a round share what it says.
FOREIGN_CPU_RULE = "M25"

#: The file of a campaign that holds its plan, machine and versions.
MANIFEST = "manifest.json"


def _generated(name: str) -> tuple[Any, ...]:
    return tuple(generated(name))


#: Clients that measure the harness: the server without a limiter, and counters in its own process.
CONTROL_CLIENTS: frozenset[str] = frozenset(_generated("controls"))

#: What roles are measured for, in the order in which a report lists them.
MEASURED_KINDS: tuple[str, ...] = _generated("measured-kinds")

#: Where the load enters, in the order of the page, with the words of each layer.
LAYER_WORDS: tuple[Mapping[str, str], ...] = _generated("layers")
LAYERS = tuple(words["layer"] for words in LAYER_WORDS)

#: What decides, in the order of the page: a library in the server, a module in the store, a service
#: beside it, or the server's own memory.
DECIDERS: tuple[str, ...] = _generated("deciders")

#: The order of the page.
ALGORITHMS: tuple[str, ...] = _generated("algorithms")
#: The layer of foreign benchmark programs. It has rows of its own, and is in no ranking of the
#: others.
STORE_LAYER = "store"

#: The option under which every client runs one script, so that client and script can be separated.
SAME_SCRIPT: str = CONSTANTS["same_script"]

#: The option of a second configuration of the same thing: it changes the label and nothing else
#: (rule M31).
COPY: str = CONSTANTS["copy"]
#: What differs where rankings are on several web frameworks.
FRAMEWORK: str = CONSTANTS["framework"]

_ANSWERED_CODES = ("200", "429", "allowed", "limited")


class Dimension(Struct, frozen=True):
    """A number by which configurations differ, e.g. of servers, at layers that have it."""

    key: str
    one: str
    other: str
    layers: tuple[str, ...]

    def count(self, configuration: records.Configuration) -> int:
        """In a configuration as plan and result hold it: 1 where it is not named, 0 at a layer
        without it."""
        stated: int | None = getattr(configuration, self.key)
        return int(configuration.layer in self.layers) if stated is None else stated


#: Columns, filters, texts and exports follow this list.
DIMENSIONS = tuple(
    Dimension(**{**one, "layers": tuple(one["layers"])}) for one in _generated("dimensions")
)


class Separation(Struct, frozen=True, kw_only=True):
    """An option that separates rankings, and its words: one entry in `src/targets/options.ts`."""

    option: str
    """For a family of options their common form, e.g. `node-<version>`."""
    pattern: str | None = None
    what: str
    """What differs between the rows, e.g. `encryption`."""
    compares: str
    """`others`: rows with the option with each other. `itself`: a client with it and without it."""
    words: str
    value: str | None = None
    """What a list of differences says instead of `words`."""
    usual: str = "without it"
    """What such a list says of rows without an option of the family."""

    def has(self, option: str) -> bool:
        return bool(re.fullmatch(self.pattern, option)) if self.pattern else option == self.option


#: Plans separate rankings by these options, and the report names them by this list alone.
SEPARATIONS: tuple[Separation, ...] = tuple(Separation(**one) for one in _generated("separations"))


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
    """`store-restart`; `pause:store-1` for one that was written as action and role."""
    return fault.name or f"{fault.action}:{fault.role}"


def short_label(label: str, topology: str | None) -> str:
    """The label without its topology, which has a column of its own; options stay."""
    client, plus, options = label.partition("+")
    short = client.removesuffix(f":{topology}") if topology else client
    return f"{short}{plus}{options}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A configuration: one row. What is not known of a foreign URL (store, topology, limits) is
    None."""

    key: str
    configuration_hash: str | None = None
    layer: str
    """One of `LAYERS`. Rows of different layers are never compared."""
    counts: Mapping[str, int]
    """Counts by the key of each dimension; 0 at a layer that does not have it."""
    label: str
    client: str
    options: tuple[str, ...] = ()
    """Variations of the client, e.g. `same-script`, `autopipelining`."""
    store: str | None = None
    external_store: bool = False
    """The store is one that the user already ran."""
    topology: str | None = None
    limiter: str | None = None
    # Versions that were asked for; None where the target names none.
    client_version: str | None = None
    store_version: str | None = None
    limiter_version: str | None = None
    node: str | None = None
    """The version of Node that its servers were to run in; None for the project's own."""
    workload: str
    complexity: int | None = None
    payload_bytes: int | None = None
    """Bytes of the value that an operation of the store layer carries."""
    traffic: str
    connections: int
    """Connections of a closed loop; in an open one the most that it may use."""
    rate_per_second: float | None
    """Offered in an open loop, as `arrivals`; None in a closed one."""
    arrivals: str | None
    load_text: str
    """These in words: `50 connections`, `5,000/s constant, up to 200 connections`."""
    duration_s: float | None
    requests: int | None
    limits: tuple[int, int, int, int] | None = None
    """Points, window and block, both in seconds, and the points that a request uses."""
    caps: str = "{}"
    """Canonical JSON of the caps by kind of role."""
    faults: tuple[records.Fault, ...] = ()
    """Rows with faults are in no ranking of speed."""
    # They follow from the target: results of one configuration are the same with and without them.
    decided_by: str | None = field(default=None, compare=False)
    """One of `DECIDERS`; None for an address whose limiter is not known."""
    algorithm: str | None = field(default=None, compare=False)
    """One of `ALGORITHMS`; None where it is not on record."""
    module: str | None = field(default=None, compare=False)
    service: str | None = field(default=None, compare=False)
    framework: str | None = field(default=None, compare=False)
    """Id of the server's web framework; None for Fastify, and where no server is."""
    same_script: bool = field(default=False, compare=False)
    """It runs the one script for all, and not the client's own."""
    copy_of: str | None = field(default=None, compare=False)
    """The label of the one that it is once more: what differs between the two is the host (rule
    M31)."""
    decides_locally: bool = field(default=False, compare=False)
    """Some decisions reach neither store nor service."""
    program: str | None = field(default=None, compare=False)
    """Id of the load program that makes the calls in the client's place; None for a client."""

    @property
    def generators(self) -> int:
        """Generators of the one load; 0 at the store layer."""
        return self.counts["generators"]

    @property
    def servers(self) -> int:
        """On the one store; 0 at the limiter layer, where the load generator calls the limiter
        itself."""
        return self.counts["servers"]

    @property
    def open_loop(self) -> bool:
        """What is measured is latency at a rate, and not capacity (rule M4)."""
        return self.rate_per_second is not None

    @property
    def printed(self) -> bool:
        """A foreign program loads and prints the figures: such rows are never ranked with
        others."""
        return self.layer == STORE_LAYER or self.program is not None

    @property
    def ranked(self) -> bool:
        """Its speed is ranked with others': no foreign program prints it, and no fault disturbs
        it."""
        return not self.printed and not self.faults

    @property
    def ceiling(self) -> bool:
        """It has no store: it measures what the harness itself can do."""
        return self.configuration_hash is not None and self.client in CONTROL_CLIENTS

    @property
    def copy(self) -> bool:
        return self.copy_of is not None

    @property
    def control(self) -> bool:
        """It is shown beside the clients, and never ranked with them."""
        return self.ceiling or self.copy

    @property
    def short_label(self) -> str:
        return short_label(self.label, self.topology)

    @property
    def variant(self) -> str:
        """The client with its version and options, whichever script it runs:
        `iovalkey+autopipelining`."""
        kept = [
            option
            for option in self.options
            if option not in (SAME_SCRIPT, self._versioned_limiter)
        ]
        return "+".join([self.libraries, *kept])

    @property
    def libraries(self) -> str:
        """The client, and the limiter where a version was asked:
        `ioredis+rate-limiter-flexible~7.1.1`."""
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
        return (
            f"{self.store_program} (already ran)"
            if self.external_store
            else str(self.store_program)
        )

    @property
    def store_program(self) -> str | None:
        """The key of its store in a manifest: `valkey`, `valkey~8.1`."""
        return f"{self.store}~{self.store_version}" if self.store_version else self.store

    @property
    def workload_text(self) -> str:
        return (
            self.workload
            if self.complexity is None
            else f"{self.workload} ({self.complexity} rounds)"
        )

    @property
    def extent_text(self) -> str:
        return (
            f"{self.requests:,} requests" if self.duration_s is None else f"{self.duration_s:g} s"
        )


class AddedMemory(Struct, frozen=True, kw_only=True):
    """What a run added to memory, from before any load to after the last answer."""

    keys: int
    """Decisions: where each is on a key of its own, as many keys."""
    failed: int
    items: int | None
    """In the store, all nodes together; None where it does not count, like `lost_keys`."""
    lost_keys: int | None
    """Expired or evicted."""
    bytes: Mapping[str, int]
    """Bytes by their source, see `SOURCES` in `report/analysis/figures.py`."""


class Usage(Struct, frozen=True):
    """What all roles of a kind used in one stretch of a run, which is about a second long."""

    t_s: float
    """The end of the stretch, in seconds since the first reading."""
    interval_s: float
    cpu_percent: float | None
    """In % of one CPU; None where the CPU of the kind is not known."""
    resident_bytes: int
    """At the end of the stretch, as the runtime reads it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The figures of a run that was measured; its percentiles are those of the result. At the
    limiter layer a request is a decision."""

    record: records.MeasuredResult
    """Without what the figures below are computed from, and what no page shows: see `slim`."""
    layer: str
    requests_per_second: float
    percentiles_ms: Mapping[str, float]
    """In an open loop from the intended send (rule M3). Without those that failed or unanswered
    requests could move (rule M23)."""
    bounds_ms: Mapping[str, Bounds]
    curve_ms: Sequence[float]
    """Latencies at `histograms.CURVE`, as far as they are identified; empty without answers."""
    unsupported: tuple[str, ...]
    store_memory_bytes: int | None
    """Memory of all nodes; None where one does not report it."""
    added_memory: AddedMemory | None
    """None without a limiter."""
    store_failures: int | None
    """Decisions that the store failed to make in the window, as servers or client counted; None
    without a count."""
    decisions: int | None
    """Answers, allowed or limited, to a consume of one descriptor, as the processes counted them
    that call the limiter, in lead-in and window: from the same two readings as the CPU time of the
    roles. None without a limiter, or without the count."""
    mergeable: Mergeable | None = None
    """Its latencies, where some percentile may need those of the other runs too (rule M18); else
    None."""
    seconds: tuple[records.Sample, ...] = ()
    """Seconds of selected runs alone, of no more than a page can hold; the last may be shorter."""
    usage: Mapping[str, tuple[Usage, ...]] = field(default_factory=dict)
    """Of selected runs alone, by kind of role, e.g. `server`; without kinds whose usage over time
    is not known."""
    answers_each_slice: Sequence[int]
    """Answers in each whole 100 ms of the window's first minutes; of every run, so kept small."""
    answers_by_server: tuple[int, ...]
    """Answers of each server in lead-in and window, by its own count; empty without one of ours."""
    client_settings: Mapping[str, Any]
    deciding_software: Mapping[str, str]
    """Modules and service of the run: `Module redis-cell`, with version and checksum."""
    limiter_script: records.LimiterScript | None
    """None where no script decides, or the server named none."""
    script_calls: Mapping[str, int] | None
    """Scripts that ran, by command in lower case, as the store counted them: all nodes together,
    from before any load to after the last answer, without failed ones. None without counters, or if
    one went back."""

    @property
    def limited_share(self) -> float | None:
        """Limited of all answered requests, 0 to 1; None when nothing was answered."""
        total = self.record.requests.total
        return self.record.rate_limit_hits / total if total else None

    @property
    def limiting_resource(self) -> str | None:
        return self.record.limited_by.resource if self.record.limited_by else None

    @property
    def foreign_cpu_percent(self) -> float | None:
        """CPU that was busy beside all roles and the harness, in % of one CPU; None where it is not
        known."""
        return self.record.host_load.foreign_cpu_percent if self.record.host_load else None

    @property
    def failed_by_code(self) -> dict[str, int]:
        """Answers by HTTP status, or by the limiter's outcome, without allowed and limited ones."""
        by_code = sorted(self.record.counts.by_code.items())
        return {code: count for code, count in by_code if code not in _ANSWERED_CODES and count}

    @property
    def latency_ms(self) -> Mapping[str, float]:
        """Average, min, max, stddev; min alone where requests failed; empty when nothing was
        answered."""
        names = ("average", "min", "max", "stddev")
        percentiles = {name: getattr(self.record.latency, name, None) for name in names}
        return {name: value for name, value in percentiles.items() if value is not None}


def total_of(values: Sequence[int | None]) -> int | None:
    """None without values, and where one is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def stated_bounds(latency: records.Latency | None) -> dict[str, Bounds]:
    stated = (latency.bounds if latency else None) or {}
    return {name: Bounds(bounds.low, bounds.high) for name, bounds in stated.items()}


def sums_by_kind(roles: Mapping[str, records.Resource], member: str) -> dict[str, float]:
    """A member of the roles by kind: the nodes of a cluster are one store, several servers are one
    server. A kind that lacks it for a role is absent."""
    values: dict[str, list[float | None]] = {}
    for role in roles.values():
        values.setdefault(role.kind, []).append(getattr(role, member))

    sums: dict[str, float] = {}
    for kind in MEASURED_KINDS:
        known = [value for value in values.get(kind, []) if value is not None]
        if known and len(known) == len(values[kind]):
            sums[kind] = sum(known)
    return sums


def cpu_us_per_request(roles: Mapping[str, records.Resource]) -> dict[str, float]:
    return sums_by_kind(roles, "cpu_us_per_request")


def script_sha1(script: records.LimiterScript) -> str | None:
    """The sha1 of its text; None for a function: its name does not identify its text."""
    return None if script.kind == "fcall" else script.name_or_sha1


def short_script_name(script: records.LimiterScript) -> str:
    """The first 8 digits of the sha1, or the function's whole name."""
    return script.name_or_sha1[: 8 if script_sha1(script) else None]


def script_text(script: records.LimiterScript) -> str:
    """`FCALL consume`, `EVALSHA a1de965f`."""
    return f"{script.kind.upper()} {short_script_name(script)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One repetition; `measured` is None when it failed or was aborted."""

    identity: Identity
    file: str
    run: int
    """Number of the configuration's run, from 1."""
    record: Result
    """Without what no page shows: see `slim`."""
    failure: str | None
    verdict: str
    versions: Mapping[str, str]
    placement: Mapping[str, str]
    """The machine of each role; empty where they all ran on one."""
    outcome: str | None
    """What the target did with the load: `served`, `overloaded` or `failed` (rule M24); None: not
    known."""
    measured: Measured | None
    printed: records.PrintedResult | None
    """The record of a run that a foreign program loaded, in place of `measured`."""
    place: Place | None = None
    """Its round and group; None in consecutive order."""
    set_aside: str = ""
    """Why it is listed and in no figure (rule M20), e.g. that its round was measured again; else
    empty."""

    @property
    def reasons(self) -> Sequence[records.Reason]:
        return self.record.verdict.reasons

    @property
    def outcome_text(self) -> str | None:
        """Its outcome with the figures, unless it served the load."""
        return self.measured.record.outcome_text if self.measured else None

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
            return self.printed.operations.per_second
        return self.measured.requests_per_second if self.measured else None

    @property
    def selection_rank(self) -> float | None:
        """What it is selected by among the runs of its configuration, more is better: its
        throughput. In an open loop, where all runs have the same, it is its p99 below zero: by the
        upper bound where the p99 is not identified (rule M23), and last of all where nothing is
        known of it."""
        if self.measured is None or not self.identity.open_loop:
            return self.requests_per_second
        bounds = self.measured.bounds_ms.get("p99")
        known = self.measured.percentiles_ms.get("p99", bounds.high if bounds else None)
        return -math.inf if known is None else -known


def turns_of(run: Run) -> records.Turns | None:
    """None of a run that had the load alone."""
    return run.measured.record.turns if run.measured else None


class Planned(Struct, frozen=True, kw_only=True):
    """A configuration that the plan holds, with the run numbers it should have."""

    identity: Identity
    runs: tuple[int, ...]
    places: Mapping[int, Place] = {}
    """Places by run; empty in consecutive order."""
    by_turns: bool = False
    """Its runs were made at the same time as those that they are compared with (rule M16)."""


class PlannedRanking(Struct, frozen=True, kw_only=True):
    """What is ranked with what, as the plan says it: each row is in exactly one."""

    id: str
    members: tuple[str, ...]
    """Keys of rows, with the reference and its copies."""
    reference: str | None = None
    copy: str | None = None
    """The row that is the reference once more (rule M31)."""
    family: int
    """How many comparisons with the reference correct each other (rule M17)."""
    conditions: tuple[str, ...] = ()
    """Options that all its rows have, and that keep them apart from rows without, see
    `SEPARATIONS`."""
    client: str = ""
    """The one client of a ranking that compares a client with itself; empty for every other
    ranking."""
    varies: tuple[str, ...] = ()
    """What such a ranking compares it in: `store version`, or `Separation.what`."""


class Excluded(Struct, frozen=True):
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
    manifest: Mapping[str, Any] | None = None
    planned: tuple[Planned, ...] = ()
    rankings: tuple[PlannedRanking, ...] = ()
    counted: tuple[Run, ...] = ()
    """Runs that figures are made of, by name of the file."""
    beside: tuple[Run, ...] = ()
    """Runs in no figure: set aside, see `Run.set_aside`, or made with instruments."""
    ignored: tuple[str, ...] = ()
    """Names of files that a crash left behind."""
    excluded: tuple[Excluded, ...] = ()
    """Files that are left out, by name; only where the caller wants the rest all the same."""
    series_left_out: int = 0
    """Selected runs whose per-second series were too many to keep."""
    judged_again: bool = False
    """Newer rules than those of the time of measuring have judged."""

    @property
    def runs(self) -> tuple[Run, ...]:
        """Of `counted` those whose speed is ranked."""
        return tuple(run for run in self.counted if run.identity.ranked)
