"""What an audit's page and its Markdown have in common: the sentence, the table and the details."""

from msgspec import Struct

from report.base.format import plural
from report.results.load import BROKEN, FAILED, HOLDS, SKIPPED
from report.results.records import Audit, AuditTarget, Check, Finding

#: How a status is shown: a mark, and the words that a screen reader says.
MARKS = {
    HOLDS: ("✓", "holds"),
    BROKEN: ("✗", "broken"),
    SKIPPED: ("–", "skipped"),
    FAILED: ("?", "not checked"),
}


class Cell(Struct, frozen=True):
    target: AuditTarget
    finding: Finding
    anchor: str
    """Of its details."""

    @property
    def title(self) -> str:
        """The details in one line."""
        finding = self.finding
        promised = f"promised {finding.promised}" if finding.promised else ""
        seen = f"seen {finding.seen}" if finding.seen else ""
        return "; ".join(filter(None, (promised, seen, finding.reason, *(finding.notes or ()))))

    @property
    def limits(self) -> str:
        """`20 points in 2 s`."""
        if not (limits := self.finding.limits):
            return ""
        block = f", then a block of {limits.block_s} s" if limits.block_s else ""
        return f"{limits.points} points in {limits.window_s} s{block}"


def findings_of(target: AuditTarget) -> dict[str, Finding]:
    """By the id of the check."""
    return {finding.check: finding for finding in target.findings}


def _cell(target: AuditTarget, check: Check, number: int) -> Cell:
    not_made = Finding(check.id, "skipped", 0, reason="the audit ended before it")
    return Cell(target, findings_of(target).get(check.id, not_made), f"{check.id}-{number}")


def verdict(finding: Finding) -> str:
    """`✓`, `✓ /64`, `✗ 80 over`: the mark, and what says more in a cell."""
    mark = MARKS[finding.status][0]
    seen = finding.seen or ""
    if seen.startswith(("/", "not at all")):
        return f"{mark} {seen}"
    if finding.status != BROKEN:
        return mark
    # The number that was seen stands in the bounds.
    said = seen.partition(": ")[2] if finding.admissions else seen
    return f"{mark} {said}".strip()


def bounds(finding: Finding) -> str:
    """`117 of 96–106`; empty for a check that counts no admissions."""
    if finding.admissions is None:
        return ""
    seen, least, most = finding.admissions.seen, finding.admissions.least, finding.admissions.most
    return f"{seen} of {least}" + (f"–{most}" if most > least else "")


def rows(audit: Audit) -> list[tuple[AuditTarget, tuple[Cell, ...]]]:
    """The table: a row for each target, a cell for each check. The most broken promises come first."""
    found = [
        (target, tuple(_cell(target, check, number) for check in audit.checks))
        for number, target in enumerate(audit.targets, 1)
    ]
    return sorted(found, key=lambda row: -sum(cell.finding.status == BROKEN for cell in row[1]))


def details(audit: Audit, check: Check) -> list[Cell]:
    """What a check showed of each target, broken promises first."""
    order = (BROKEN, FAILED, HOLDS, SKIPPED)
    found = [_cell(target, check, number) for number, target in enumerate(audit.targets, 1)]
    return sorted(found, key=lambda cell: order.index(cell.finding.status))


def sentence(audit: Audit) -> str:
    """The answer: how many targets keep all that they promise."""
    statuses = [{finding.status for finding in target.findings} for target in audit.targets]
    broken = sum(BROKEN in found for found in statuses)
    failed = audit.counts.failed
    answer = (
        f"{broken} of {plural(len(audit.targets), 'target')} break a promise."
        if broken
        else f"All {plural(len(audit.targets), 'target')} keep what was checked."
        if len(audit.targets) > 1
        else "The target keeps all that was checked."
    )
    return answer + (f" {plural(failed, 'check')} could not be made." if failed else "")
