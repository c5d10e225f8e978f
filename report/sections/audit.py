"""What an audit's page and its Markdown have in common: the sentence, the table and the details."""

from msgspec import Struct

from report.base.format import joined, plural
from report.results.generated.records import Audit, AuditTarget, Check, Finding
from report.results.load import BROKEN, FAILED, HOLDS, NOT_PROMISED, SKIPPED

#: A broken check that follows from another one.
CONSEQUENCE = "consequence"

#: How a finding is shown, by its state: a mark, and the words that a screen reader says.
MARKS = {
    HOLDS: ("✓", "kept"),
    BROKEN: ("✗", "broken"),
    CONSEQUENCE: ("↳", "broken by the same defect"),
    NOT_PROMISED: ("○", "not promised"),
    SKIPPED: ("–", "skipped"),
    FAILED: ("?", "not checked"),
}


class Cell(Struct, frozen=True):
    target: AuditTarget
    finding: Finding
    anchor: str
    """Of its details."""

    @property
    def state(self) -> str:
        """The status, or that it follows from another finding."""
        return CONSEQUENCE if self.finding.consequence_of else self.finding.status

    @property
    def is_defect(self) -> bool:
        return self.state == BROKEN

    @property
    def is_told(self) -> bool:
        """Whether the text tells more than its mark."""
        finding = self.finding
        return finding.status in (BROKEN, FAILED) or (
            finding.status == NOT_PROMISED and not finding.holds
        )

    @property
    def title(self) -> str:
        """The details in one line."""
        finding = self.finding
        seen = f"seen {finding.seen}" if finding.seen else ""
        return "; ".join(
            filter(None, (self.expected, seen, finding.reason, *(finding.notes or ())))
        )

    @property
    def expected(self) -> str:
        """`promised 20 of 100`; `expected 20 of 100` where nobody promises it."""
        word = "expected" if self.finding.status == NOT_PROMISED else "promised"
        return f"{word} {self.finding.promised}" if self.finding.promised else ""

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
    if finding.holds:
        return f"{mark} holds"
    if finding.status not in (BROKEN, NOT_PROMISED):
        return mark
    # The number that was seen stands in the bounds.
    said = seen.partition(": ")[2] if finding.admissions else seen
    return f"{mark} {said}".strip()


def bounds(finding: Finding) -> str:
    """`117 of 96–106`; empty for a check that counts no admissions."""
    if finding.admissions is None:
        return ""
    seen = finding.admissions.seen
    least = finding.admissions.least
    most = finding.admissions.most
    return f"{seen} of {least}" + (f"–{most}" if most > least else "")


def rows(audit: Audit) -> list[tuple[AuditTarget, tuple[Cell, ...]]]:
    """The table: a row for each target, a cell for each check. Targets with the most defects come
    first."""
    found = [
        (target, tuple(_cell(target, check, number) for check in audit.checks))
        for number, target in enumerate(audit.targets, 1)
    ]
    return sorted(found, key=lambda row: -sum(cell.is_defect for cell in row[1]))


def details(audit: Audit, check: Check) -> list[Cell]:
    """What a check showed of each target, broken promises first."""
    order = (BROKEN, CONSEQUENCE, FAILED, NOT_PROMISED, HOLDS, SKIPPED)
    found = [_cell(target, check, number) for number, target in enumerate(audit.targets, 1)]
    return sorted(found, key=lambda cell: order.index(cell.state))


def connection(audit: Audit, cell: Cell) -> str:
    """What follows from a defect, or the defect that a finding follows from."""
    titles = {check.id: check.title for check in audit.checks}
    finding = cell.finding
    if finding.consequence_of:
        return f"Follows from {titles.get(finding.consequence_of, finding.consequence_of)}."
    followers = [
        titles.get(each.check, each.check)
        for each in cell.target.findings
        if each.consequence_of == finding.check
    ]
    if not followers:
        return ""
    if finding.excess is None:
        return f"From it follow {joined(followers)}."
    sign = "−" if finding.excess < 0 else "+"
    return f"All of these admit quota {sign} {abs(finding.excess)}: {joined(followers)}."


def is_promised(audit: Audit, check: Check) -> bool:
    """Whether any of its targets promises what a check tries."""
    statuses = {
        findings_of(target)[check.id].status
        for target in audit.targets
        if check.id in findings_of(target)
    }
    return NOT_PROMISED not in statuses or bool(statuses & {HOLDS, BROKEN})


def sentence(audit: Audit) -> str:
    """The answer: how many targets break a promise, and by how many defects."""
    counts = audit.counts
    targets = plural(len(audit.targets), "target")
    breaking = sum(
        any(finding.status == BROKEN and not finding.consequence_of for finding in target.findings)
        for target in audit.targets
    )
    if breaking:
        verb = "breaks" if breaking == 1 else "break"
        seen = counts.broken + counts.consequences
        where = f", seen in {plural(seen, 'check')}" if counts.consequences else ""
        answer = (
            f"{breaking} of {targets} {verb} a promise: {plural(counts.broken, 'defect')}{where}."
        )
    elif counts.holds == 0:
        answer = "No promise was tried."
    elif len(audit.targets) > 1:
        answer = f"All {targets} keep what was checked."
    else:
        answer = "The target keeps all that was checked."
    if counts.not_promised:
        answer += f" {plural(counts.not_promised, 'check')} tried what nobody promises."
    if counts.failed:
        answer += f" {plural(counts.failed, 'check')} could not be made."
    return answer
