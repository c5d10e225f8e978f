"""Tells which resource limited the runs of a row, by `limited_by` of their results, and whether it
belongs to the target."""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from report.base.format import plural
from report.results.generated.records import LimitedBy
from report.results.model import Run

#: The resource that a result names if nothing was used up.
NONE = "none"

#: The resource of a machine whose CPUs were all busy.
HOST_CPU = "host CPU"

#: Resources that do not belong to the target. If one of them was the limit, all roles shared it, so
#: the throughput is the cost of all of them together. A network or a CPU quota that is used up is
#: no cost of a role.
NOT_THE_TARGETS_OWN = {
    HOST_CPU: "the host's CPU",
    "generator": "the load generator",
    "client": "the harness's own client",
}


class Limit(Struct, frozen=True):
    """The resource that limited most of the runs."""

    resource: str
    """The name of the resource, or `NONE` if most runs name nothing that was used up."""
    text: str
    """The figures of one of these runs, as text."""
    runs: int
    """The number of runs that name this resource."""
    of_runs: int
    """The number of runs that count and say what limited them."""

    @property
    def is_named(self) -> bool:
        return self.resource != NONE

    @property
    def words(self) -> str:
        """A text such as `host CPU`, `host CPU (14 of 16 runs)` or `none named`."""
        name = self.resource if self.is_named else "none named"
        if self.runs == self.of_runs:
            return name
        return f"{name} ({self.runs} of {plural(self.of_runs, 'run')})"


def limit_over(limits: Sequence[LimitedBy | None]) -> Limit | None:
    """The limit of a row. None if no run says what limited it.

    The resource is `NONE` if more runs say so than name any single resource. `limits` begins with
    that of the selected run, whose text is preferred."""
    known = [limit for limit in limits if limit]
    if not known:
        return None

    counts = Counter(limit.resource for limit in known)
    resource, runs = max(counts.items(), key=lambda entry: (entry[1], entry[0] != NONE))
    text = next(limit.text for limit in known if limit.resource == resource)
    return Limit(resource, text, runs, len(known))


def not_the_targets_own(run: Run) -> str:
    """The resource that limited the run if it does not belong to the target, else an empty text.

    The client is a part of the target if a library decides, and of the harness if a service
    does."""
    resource = run.measured.limiting_resource if run.measured else None
    if resource == "client" and run.identity.decided_by != "service":
        return ""
    return resource if resource in NOT_THE_TARGETS_OWN else ""
