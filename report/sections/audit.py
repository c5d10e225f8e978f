"""What an audit's page and its Markdown have in common: the sentence, the table and the details."""

from dataclasses import dataclass

from report.base.format import plural
from report.results.audit import BROKEN, FAILED, HOLDS, SKIPPED
from report.results.records import Audit, AuditTarget, Check, Finding

#: How a status is shown: a mark, and the words that a screen reader says.
MARKS = {
    HOLDS: ("✓", "holds"),
    BROKEN: ("✗", "broken"),
    SKIPPED: ("–", "skipped"),
    FAILED: ("?", "not checked"),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A check of a target in the table: `title` has the details in one line."""

    status: str
    mark: str
    words: str
    title: str
    anchor: str
    """Of its details; empty where there are none."""


@dataclass(frozen=True, slots=True)
class Row:
    """A target in the table."""

    target: AuditTarget
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Detail:
    """A finding with its target."""

    anchor: str
    label: str
    finding: Finding

    @property
    def limits(self) -> str:
        """`20 points in 2 s`."""
        limits = self.finding.limits
        if limits is None:
            return ""
        block = f", then a block of {limits.block_s} s" if limits.block_s else ""
        return f"{limits.points} points in {limits.window_s} s{block}"


def _one_line(finding: Finding) -> str:
    parts = [
        f"promised {finding.promised}" if finding.promised else "",
        f"seen {finding.seen}" if finding.seen else "",
        finding.reason,
        *(finding.notes or ()),
    ]
    return "; ".join(filter(None, parts))


def _anchor(check: Check, number: int) -> str:
    return f"{check.id}-{number}"


def findings_of(target: AuditTarget) -> dict[str, Finding]:
    """By the id of the check."""
    return {finding.check: finding for finding in target.findings}


def _finding(target: AuditTarget, check: Check) -> Finding:
    not_made = Finding(check.id, "skipped", 0, reason="the audit ended before it")
    return findings_of(target).get(check.id, not_made)


def _cell(target: AuditTarget, check: Check, number: int) -> Cell:
    finding = _finding(target, check)
    mark, words = MARKS[finding.status]
    return Cell(finding.status, mark, words, _one_line(finding), _anchor(check, number))


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


def rows(audit: Audit) -> tuple[Row, ...]:
    """The table: a row for each target, a cell for each check. The most broken promises come first."""
    found = [
        Row(target, tuple(_cell(target, check, number) for check in audit.checks))
        for number, target in enumerate(audit.targets, 1)
    ]
    return tuple(sorted(found, key=lambda row: -sum(cell.status == BROKEN for cell in row.cells)))


def details(audit: Audit, check: Check) -> tuple[Detail, ...]:
    """What a check showed of each target, broken promises first."""
    order = (BROKEN, FAILED, HOLDS, SKIPPED)
    found = [
        Detail(_anchor(check, number), target.target.label, _finding(target, check))
        for number, target in enumerate(audit.targets, 1)
    ]
    return tuple(sorted(found, key=lambda detail: order.index(detail.finding.status)))


def sentence(audit: Audit) -> str:
    """The answer: how many targets keep all that they promise."""
    broken = [each for each in audit.targets if any(one.status == BROKEN for one in each.findings)]
    failed = audit.counts.failed
    answer = (
        f"{len(broken)} of {plural(len(audit.targets), 'target')} break a promise."
        if broken
        else f"All {plural(len(audit.targets), 'target')} keep what was checked."
        if len(audit.targets) > 1
        else "The target keeps all that was checked."
    )
    return answer + (f" {plural(failed, 'check')} could not be made." if failed else "")
