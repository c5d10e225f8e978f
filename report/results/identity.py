"""What identifies a configuration."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from report.results.catalog import CONTROL_CLIENTS, COPY, SAME_SCRIPT, STORE_LAYER
from report.results.generated import records


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
