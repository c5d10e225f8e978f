"""What an audit's page and its Markdown have in common: the sentence, the table and the details."""

from dataclasses import dataclass

from report.base.format import plural
from report.results.audit import BROKEN, FAILED, HOLDS, SKIPPED, Audit, Finding, Target
from report.results.records import Check

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

    target: Target
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Detail:
    """A finding with its target."""

    anchor: str
    label: str
    finding: Finding


def _one_line(finding: Finding) -> str:
    parts = [
        f"promised {finding.promised}" if finding.promised else "",
        f"seen {finding.seen}" if finding.seen else "",
        finding.reason,
        *finding.notes,
    ]
    return "; ".join(filter(None, parts))


def _anchor(check: Check, number: int) -> str:
    return f"{check.id}-{number}"


_NOT_MADE = Finding(SKIPPED, "", "", "the audit ended before it", (), "")


def _finding(target: Target, check: Check) -> Finding:
    return target.findings.get(check.id, _NOT_MADE)


def _cell(target: Target, check: Check, number: int) -> Cell:
    finding = _finding(target, check)
    mark, words = MARKS[finding.status]
    return Cell(finding.status, mark, words, _one_line(finding), _anchor(check, number))


def verdict(finding: Finding) -> str:
    """`✓`, `✓ /64`, `✗ 80 over`: the mark, and what says more in a cell."""
    mark = MARKS[finding.status][0]
    if finding.seen.startswith(("/", "not at all")):
        return f"{mark} {finding.seen}"
    if finding.status != BROKEN:
        return mark
    # The number that was seen stands in the bounds.
    said = finding.seen.partition(": ")[2] if finding.admissions else finding.seen
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
        Detail(_anchor(check, number), target.label, _finding(target, check))
        for number, target in enumerate(audit.targets, 1)
    ]
    return tuple(sorted(found, key=lambda detail: order.index(detail.finding.status)))


def sentence(audit: Audit) -> str:
    """The answer: how many targets keep all that they promise."""
    broken = [
        target
        for target in audit.targets
        if any(finding.status == BROKEN for finding in target.findings.values())
    ]
    failed = audit.counts[FAILED]
    answer = (
        f"{len(broken)} of {plural(len(audit.targets), 'target')} break a promise."
        if broken
        else f"All {plural(len(audit.targets), 'target')} keep what was checked."
        if len(audit.targets) > 1
        else "The target keeps all that was checked."
    )
    return answer + (f" {plural(failed, 'check')} could not be made." if failed else "")
