"""What limited the runs of a row, by `limited_by` of their results, and whether that is the
target's own."""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from report.base.format import plural
from report.results.generated.records import LimitedBy
from report.results.model import Run

#: What a result names where nothing was used up.
NONE = "none"

#: Resources that are not the target's own. Where one of them was the limit, all roles shared it, so
#: that the throughput is the cost of all of them together. A network or a quota that is used up is
#: no cost of a role.
NOT_THE_TARGETS_OWN = {
    "host CPU": "the host's CPU",
    "generator": "the load generator",
    "client": "the harness's own client",
}


class Limit(Struct, frozen=True):
    """What limited most of the runs."""

    resource: str
    """`NONE` where most runs name nothing that was used up."""
    text: str
    """The figures of one of these runs."""
    runs: int
    """That say the same."""
    of_runs: int
    """That count and say what limited them."""

    @property
    def is_named(self) -> bool:
        return self.resource != NONE

    @property
    def words(self) -> str:
        """`host CPU`, `host CPU (14 of 16 runs)`, `none named`."""
        what = self.resource if self.is_named else "none named"
        if self.runs == self.of_runs:
            return what
        return f"{what} ({self.runs} of {plural(self.of_runs, 'run')})"


def limit_over(limits: Sequence[LimitedBy | None]) -> Limit | None:
    """Over the runs of a row, the one that stands for it first; None where no run says what limited
    it.

    A row is limited by nothing where more runs say so than name any one resource."""
    known = [limit for limit in limits if limit]
    if not known:
        return None
    counts = Counter(limit.resource for limit in known)
    resource, runs = max(counts.items(), key=lambda entry: (entry[1], entry[0] != NONE))
    text = next(limit.text for limit in known if limit.resource == resource)
    return Limit(resource, text, runs, len(known))


def not_the_targets_own(run: Run) -> str:
    """The resource that limited the run if it is none of the target's own, else nothing. Where a
    library decides, the client is a part of the target; where a service does, it is ours."""
    resource = run.measured.limiting_resource if run.measured else None
    if resource == "client" and run.identity.decided_by != "service":
        return ""
    return resource if resource in NOT_THE_TARGETS_OWN else ""
