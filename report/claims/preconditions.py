"""The preconditions of a verdict, a rule each. A claim cannot be told here unless all of them hold.

A rule is a pure function of the evidence of one attempt. It returns the reason for which no verdict
stands, in at most five words, and an empty text where it holds."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from report.claims.criterion import Bounds
from report.claims.settled import SETTLED

#: From this share of suspect runs on there is no verdict.
MAX_SUSPECT_SHARE = 1 / 3

LATENCIES = ("p50", "p99")
PROCESSOR_TIMES = ("cpu", "store_cpu", "service_cpu")

#: Resources that are no cost of the compared programs, by the word that a claim has for them in
#: `about`, with what the reason calls them.
_NOT_COMPARED = {
    "host CPU": ("host", "the host"),
    "generator": ("generator", "the generator"),
    "client": ("client", "our own client"),
}

PAIRINGS = ("turns", "rounds")
UNPAIRED = "unpaired"
ONE_SIDE = "one side"


class Evidence(Struct, frozen=True, kw_only=True):
    """What an attempt shows about itself, apart from its ratio."""

    metric: str
    settled: str
    """The state of rule M33."""
    suspect_share: float
    """The share of suspect runs among those of both sides."""
    limits: tuple[str, ...]
    """The resources that limited the two sides."""
    met: str
    """How the sides met: `turns`, `rounds`, `unpaired`, or `one side` where the other one is a
    published figure."""
    versions: Mapping[str, str]
    """The version of each program that took part."""
    transports: tuple[str, ...]
    """How the requests reached the limiter, for each side."""
    has_rate: bool
    """Whether both sides were offered a rate, as open loops are."""
    late_runs: int = 0
    """The number of runs whose schedule was late at this percentile."""
    unsupported_runs: int = 0
    """The number of runs with too few samples for this percentile."""
    copy_differs: bool = False
    """Whether a copy of a reference was told apart from its original (rule M31)."""
    disturbed: bool = False
    """Whether other programs may explain the difference (rule M25)."""
    has_interval: bool = True


class Claimed(Struct, frozen=True, kw_only=True):
    """What the statement is about."""

    about: tuple[str, ...] = ()
    """Limits that the statement is about: `host`, `generator` or `client`."""
    states: str = ""
    """`latency` where the statement is about latency."""
    versions: Mapping[str, str] = {}
    """The version of each program that the publication names, such as `0.4` for all of 0.4.x."""
    transport: str = ""
    """`resp`, `http` or `grpc`, where the statement is about one."""
    figure: float | None = None
    """The published ratio."""
    confirms: Bounds | None = None
    attainable: Bounds | None = None


Precondition = Callable[[Evidence, Claimed], str]


def is_settled(evidence: Evidence, _: Claimed) -> str:
    return "" if evidence.settled == SETTLED else evidence.settled


def has_few_suspect_runs(evidence: Evidence, _: Claimed) -> str:
    return "a third of runs suspect" if evidence.suspect_share >= MAX_SUSPECT_SHARE else ""


def is_limited_by_what_is_compared(evidence: Evidence, claimed: Claimed) -> str:
    for limit in evidence.limits:
        word, name = _NOT_COMPARED.get(limit, ("", ""))
        if word and word not in claimed.about:
            return f"{name} limited it"
    return ""


def has_sides_that_met(evidence: Evidence, _: Claimed) -> str:
    return "" if evidence.met in (*PAIRINGS, ONE_SIDE) else "the sides ran unpaired"


def has_the_claimed_versions(evidence: Evidence, claimed: Claimed) -> str:
    for program, version in claimed.versions.items():
        measured = evidence.versions.get(program)
        if measured is not None and not _is_part_of(measured, version):
            return f"{program}: another version than claimed"
    return ""


def _is_part_of(measured: str, version: str) -> bool:
    """Whether a measured version such as `7.1.1` belongs to a claimed one such as `7`."""
    return measured == version or measured.startswith((f"{version}.", f"{version}-"))


def has_the_claimed_transport(evidence: Evidence, claimed: Claimed) -> str:
    if not claimed.transport or set(evidence.transports) == {claimed.transport}:
        return ""
    return "another transport than claimed"


def is_attainable(_: Evidence, claimed: Claimed) -> str:
    """A comparison that cannot reach the claimed ratio, whatever is true, tells nothing."""
    if claimed.attainable is None:
        return ""
    lowest, highest = claimed.attainable
    if claimed.figure is not None:
        reached = lowest <= claimed.figure <= highest
    else:
        low, high = claimed.confirms or claimed.attainable
        reached = low <= highest and lowest <= high
    return "" if reached else "claimed figure not attainable here"


def judges_latency_by_latency(evidence: Evidence, claimed: Claimed) -> str:
    if claimed.states == "latency" and evidence.metric not in LATENCIES:
        return "latency claim, another figure measured"
    return ""


def has_a_rate_for_latency(evidence: Evidence, _: Claimed) -> str:
    """In a closed loop latency follows from the throughput."""
    return (
        "latency without a rate" if evidence.metric in LATENCIES and not evidence.has_rate else ""
    )


def is_not_late(evidence: Evidence, _: Claimed) -> str:
    return f"{evidence.metric} of late requests" if evidence.late_runs else ""


def has_enough_samples(evidence: Evidence, _: Claimed) -> str:
    return f"too few samples for {evidence.metric}" if evidence.unsupported_runs else ""


def has_a_rate_for_processor_time(evidence: Evidence, _: Claimed) -> str:
    """In a closed loop the server's CPU per request follows from the throughput."""
    return (
        "CPU follows from the throughput"
        if evidence.metric == "cpu" and not evidence.has_rate
        else ""
    )


def has_equal_copies(evidence: Evidence, _: Claimed) -> str:
    return "a copy differs as well" if evidence.copy_differs else ""


def is_undisturbed(evidence: Evidence, _: Claimed) -> str:
    return "other programs disturbed one side" if evidence.disturbed else ""


def has_an_interval(evidence: Evidence, _: Claimed) -> str:
    return "" if evidence.has_interval else "too few runs"


#: Every rule that must hold, in the order of their reasons.
PRECONDITIONS: tuple[Precondition, ...] = (
    is_settled,
    has_few_suspect_runs,
    is_limited_by_what_is_compared,
    has_sides_that_met,
    has_the_claimed_versions,
    has_the_claimed_transport,
    is_attainable,
    judges_latency_by_latency,
    has_a_rate_for_latency,
    is_not_late,
    has_enough_samples,
    has_a_rate_for_processor_time,
    has_equal_copies,
    is_undisturbed,
    has_an_interval,
)


def unmet(evidence: Evidence, claimed: Claimed) -> tuple[str, ...]:
    """The reasons of the rules that do not hold, in the order of the list."""
    reasons = (rule(evidence, claimed) for rule in PRECONDITIONS)
    return tuple(reason for reason in reasons if reason)
