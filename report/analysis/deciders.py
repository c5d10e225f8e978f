"""What decides a request, and by which algorithm, in words; which of the two a campaign has to name."""

from collections.abc import Sequence
from dataclasses import dataclass

from report.analysis.summary import Summary
from report.results.model import Identity

_DECIDERS = {
    "library": "a library",
    "module": "a module",
    "service": "a service",
    "in-process": "the process itself",
    "nothing": "nothing",
}

NOT_KNOWN = "not known"


def decider_of(identity: Identity) -> str:
    return identity.decided_by or NOT_KNOWN


def algorithm_of(identity: Identity) -> str:
    return identity.algorithm or NOT_KNOWN


def decided_by_text(identity: Identity) -> str:
    return f"decided by {_DECIDERS.get(identity.decided_by or '', 'what is not known')}"


@dataclass(frozen=True, slots=True)
class NamedFacts:
    """Which facts go without saying, because all clients of a campaign share them."""

    decider: bool
    """False: all have the same."""
    algorithm: bool

    @property
    def any(self) -> bool:
        return self.decider or self.algorithm

    def short_text(self, identity: Identity) -> str:
        """`module (GCRA)`, for headings of charts; empty where nothing has to be named."""
        named = ((self.decider, decider_of), (self.algorithm, algorithm_of))
        facts = [text_of(identity) for differs, text_of in named if differs]
        return f"{facts[0]} ({facts[1]})" if len(facts) > 1 else "".join(facts)

    def text(self, identity: Identity) -> str:
        """`decided by a module (GCRA)`, `GCRA`; empty where nothing has to be named."""
        algorithm = algorithm_of(identity) if self.algorithm else ""
        if not self.decider:
            return algorithm if algorithm != NOT_KNOWN else "algorithm not known" if algorithm else ""
        by = decided_by_text(identity)
        return f"{by} ({algorithm})" if algorithm not in ("", NOT_KNOWN) else by


def named_facts(summaries: Sequence[Summary]) -> NamedFacts:
    clients = [summary.identity for summary in summaries if not summary.identity.control]
    return NamedFacts(
        decider=len({identity.decided_by for identity in clients}) > 1,
        algorithm=len({identity.algorithm for identity in clients}) > 1,
    )
