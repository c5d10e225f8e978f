"""The questions of the matrix, each of which is a column and has a command that answers it."""

from collections.abc import Mapping
from typing import NamedTuple

from report.analysis.fault_figures import seconds_text
from report.analysis.texts import AT_FULL_LOAD
from report.base.format import Show, count, microseconds, milliseconds, rate, ratio

#: In requests per second. The matrix shows latencies at this rate beside figures at full load.
STATED_RATE = 1000


class Question(NamedTuple):
    name: str
    unit: str
    fill: str
    """The arguments of ratelimit-bench that answer the question. `{}` stands for the target."""
    show: Show = count


_AUDIT = "audit --clients {}"
#: The questions that audits answer, by the id of the check.
CHECKS: Mapping[str, Question] = {
    "exact-burst-4-servers": Question("Exact", "at once", _AUDIT),
    "window-edge": Question("Exact", "at the edge", _AUDIT),
    "failover": Question("Survives", "a failover", _AUDIT),
    "clocks-500-ms": Question("Clocks", "0.5 s apart", _AUDIT),
    "clocks-2-s": Question("Clocks", "2 s apart", _AUDIT),
    "clocks-30-s": Question("Clocks", "30 s apart", _AUDIT),
    "eviction": Question("Eviction", "used-up keys", _AUDIT),
    "ipv6-prefix": Question("IPv6", "clients by prefix", _AUDIT),
}
BURST = "exact-burst-4-servers"
#: The rows are sorted by this question.
COST = "node"
#: The cost of a request of a warm target at the stated rate.
COST_AT_RATE = "cost-at-rate"
RUN = "run --clients {}"
#: The matrix has CPU times of closed loops alone.
_COST = f"µs/decision {AT_FULL_LOAD}"
#: The fault that questions about a restart of the store inject.
RESTART = "store-restart"
_RUN_WITH_RESTART = f"{RUN} --fault {RESTART}"
#: The first ones stand beside the target's name: cost, speed and exactness.
FIRST_QUESTIONS = 3
QUESTIONS: Mapping[str, Question] = {
    "node": Question("Node CPU", _COST, RUN, microseconds),
    "ratio": Question("Throughput", "to the reference", RUN, ratio),
    BURST: CHECKS[BURST],
    "store": Question("Store CPU", _COST, RUN, microseconds),
    "service": Question("Service CPU", _COST, RUN, microseconds),
    COST_AT_RATE: Question(
        f"CPU at {count(STATED_RATE)}/s",
        "Node, µs/request",
        f"{RUN} --rates {STATED_RATE}",
        microseconds,
    ),
    "p99": Question("p99 at a rate", "ms", f"{RUN} --rate {STATED_RATE}", milliseconds),
    "highest": Question(
        "Highest rate", "kept", f"{RUN} --find-max-rate", lambda value: f"{rate(value)}/s"
    ),
    "memory": Question("Memory", "bytes/key", "memory --clients {}"),
    "served": Question("Served again", "s after a restart", _RUN_WITH_RESTART, seconds_text),
    "settled": Question("Settled again", "s after a restart", _RUN_WITH_RESTART, seconds_text),
    "lost": Question("Lost", "requests in it", _RUN_WITH_RESTART),
    "over": Question(
        "Over quota",
        "admitted in it",
        f"{_RUN_WITH_RESTART} --rate 500 --traffic fixed --points 1000 --window 60",
    ),
    **CHECKS,
}

#: Questions that make sense only for a target that limits.
OF_LIMITERS = ("ratio", "memory", *CHECKS)
#: Questions about a restart of the store, and the figures of faults that answer them.
FAULT_FIGURES = {
    "served": "served_again_s",
    "settled": "recovery_s",
    "lost": "requests_lost",
    "over": "over_admission",
}
