"""An audit as the page above all campaigns needs it."""

from collections.abc import Mapping
from dataclasses import dataclass

from report.base.format import joined
from report.results.audit import BROKEN, FAILED, HOLDS, SKIPPED, Audit, Target
from report.sections.audit import sentence
from report.site.entry import ANY, Values

#: The check in which a replica takes over from a primary.
FAILOVER = "failover"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedTarget:
    label: str
    algorithm: str
    broken: tuple[str, ...]
    """Titles of the checks whose promise it breaks."""
    held: int
    failed: int
    """Checks that could not be made."""
    skipped: int
    failover: str
    """Status of that check; empty where it was not made."""
    seen: str
    """What that check saw."""
    values: Values

    @property
    def broken_text(self) -> str:
        """In quotation marks: titles have commas."""
        return joined([f"“{title}”" for title in self.broken])


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    name: str
    address: str
    """Of its folder on the site, with a slash at its end."""
    started_at: str
    sentence: str
    command: str
    runtime: str
    checks: int
    targets: tuple[AuditedTarget, ...]
    statuses: Mapping[tuple[str, str], str]
    """By target and title of the check."""

    @property
    def page(self) -> str:
        return f"{self.address}index.html"

    @property
    def day(self) -> str:
        return self.started_at[:10]

    @property
    def values(self) -> Values:
        return {**ANY, "machine": self.runtime, "campaign": self.name}


def audit_entry(audit: Audit, address: str) -> AuditEntry:
    titles = {check.id: check.title for check in audit.checks}

    def audited(target: Target) -> AuditedTarget:
        found = target.findings
        of_failover = found.get(FAILOVER)
        return AuditedTarget(
            label=target.label,
            algorithm=target.algorithm or "not known",
            broken=tuple(titles.get(check, check) for check, each in found.items() if each.status == BROKEN),
            held=sum(each.status == HOLDS for each in found.values()),
            failed=sum(each.status == FAILED for each in found.values()),
            skipped=sum(each.status == SKIPPED for each in found.values()),
            failover=of_failover.status if of_failover else "",
            seen=(of_failover.seen or of_failover.reason) if of_failover else "",
            values={
                "layer": "",
                "client": target.client,
                "limiter": target.limiter,
                "decided by": target.decided_by,
                "algorithm": target.algorithm,
                "store": target.store,
                "topology": target.topology,
                "traffic": "",
                "machine": audit.runtime,
                "campaign": audit.name,
            },
        )

    return AuditEntry(
        name=audit.name,
        address=address,
        started_at=audit.started_at,
        sentence=sentence(audit),
        command=audit.command,
        runtime=audit.runtime,
        checks=len(audit.checks),
        targets=tuple(audited(target) for target in audit.targets),
        statuses={
            (target.label, titles.get(check, check)): finding.status
            for target in audit.targets
            for check, finding in target.findings.items()
        },
    )
