"""Faults in words."""

import math

from report.base.format import ABSENT
from report.results.model import Fault

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


def fault_words(fault: Fault) -> str:
    """`the store restarts`; `store-1 stops for a while`."""
    if fault.name in _WORDS:
        return _WORDS[fault.name]
    verb = _VERBS.get(fault.action, f"meets {fault.action}")
    role = fault.role if "-" in fault.role else f"the {fault.role}"
    return f"{role} {verb}"


def seconds_text(value: float | None) -> str:
    if value is None:
        return ABSENT
    return "never" if value == NEVER else f"{value:,.1f}"
