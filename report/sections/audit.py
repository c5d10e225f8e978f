"""The parts that the page and the Markdown of an audit share: sentence, table and details."""

from msgspec import Struct

from report.base.format import joined, plural
from report.results.generated.records import Audit, AuditTarget, Check, Finding
from report.results.load import BROKEN, FAILED, HOLDS, NOT_PROMISED, SKIPPED

#: The state of a broken check that follows from another one.
CONSEQUENCE = "consequence"

#: Maps the state of a finding to its mark and to the words that a screen reader says.
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
    """The anchor of its details in the page."""

    @property
    def state(self) -> str:
        """The status of the finding, or `CONSEQUENCE` where it follows from another one."""
        return CONSEQUENCE if self.finding.consequence_of else self.finding.status

    @property
    def is_defect(self) -> bool:
        return self.state == BROKEN

    @property
    def is_told(self) -> bool:
        """Whether the finding needs a text besides its mark."""
        finding = self.finding
        return finding.status in (BROKEN, FAILED) or (
            finding.status == NOT_PROMISED and not finding.holds
        )

    @property
    def title(self) -> str:
        """The details in one line."""
        finding = self.finding
        seen_text = f"seen {finding.seen}" if finding.seen else ""
        return "; ".join(
            filter(None, (self.expected, seen_text, finding.reason, *(finding.notes or ())))
        )

    @property
    def expected(self) -> str:
        """`promised 20 of 100`, or `expected 20 of 100` where nobody promises it."""
        word = "expected" if self.finding.status == NOT_PROMISED else "promised"
        return f"{word} {self.finding.promised}" if self.finding.promised else ""

    @property
    def limits(self) -> str:
        """The limits that the check set: `20 points in 2 s`."""
        if not (limits := self.finding.limits):
            return ""
        block = f", then a block of {limits.block_s} s" if limits.block_s else ""
        return f"{limits.points} points in {limits.window_s} s{block}"


def findings_of(target: AuditTarget) -> dict[str, Finding]:
    """The findings of a target by the id of their check."""
    return {finding.check: finding for finding in target.findings}


def _cell(target: AuditTarget, check: Check, number: int) -> Cell:
    not_made = Finding(check.id, "skipped", 0, reason="the audit ended before it")
    return Cell(target, findings_of(target).get(check.id, not_made), f"{check.id}-{number}")


def verdict(finding: Finding) -> str:
    """The text of a cell, a mark with a short detail: `✓`, `✓ /64`, `✗ 80 over`."""
    mark = MARKS[finding.status][0]
    seen = finding.seen or ""
    if seen.startswith(("/", "not at all")):
        return f"{mark} {seen}"
    if finding.holds:
        return f"{mark} holds"
    if finding.status not in (BROKEN, NOT_PROMISED):
        return mark
    # The bounds name the number that was seen, so only the text after it is shown here.
    admitted_text = seen.partition(": ")[2] if finding.admissions else seen
    return f"{mark} {admitted_text}".strip()


def bounds(finding: Finding) -> str:
    """The admissions that were seen and permitted, such as `117 of 96–106`; empty for a check that
    counts none."""
    if finding.admissions is None:
        return ""
    admitted = finding.admissions.seen
    fewest = finding.admissions.least
    highest = finding.admissions.most
    return f"{admitted} of {fewest}" + (f"–{highest}" if highest > fewest else "")


def rows(audit: Audit) -> list[tuple[AuditTarget, tuple[Cell, ...]]]:
    """The rows of the table, with a cell for each check. Targets with the most defects come
    first."""
    target_rows = [
        (target, tuple(_cell(target, check, number) for check in audit.checks))
        for number, target in enumerate(audit.targets, 1)
    ]
    return sorted(target_rows, key=lambda row: -sum(cell.is_defect for cell in row[1]))


def details(audit: Audit, check: Check) -> list[Cell]:
    """The cells of a check for all targets, broken promises first."""
    order = (BROKEN, CONSEQUENCE, FAILED, NOT_PROMISED, HOLDS, SKIPPED)
    cells = [_cell(target, check, number) for number, target in enumerate(audit.targets, 1)]
    return sorted(cells, key=lambda cell: order.index(cell.state))


def connection(audit: Audit, cell: Cell) -> str:
    """Names the findings that follow from a defect, or the defect that a finding follows from."""
    titles = {check.id: check.title for check in audit.checks}
    finding = cell.finding
    if finding.consequence_of:
        return f"Follows from {titles.get(finding.consequence_of, finding.consequence_of)}."
    followers = [
        titles.get(follower.check, follower.check)
        for follower in cell.target.findings
        if follower.consequence_of == finding.check
    ]
    if not followers:
        return ""
    if finding.excess is None:
        return f"From it follow {joined(followers)}."
    sign = "−" if finding.excess < 0 else "+"
    return f"All of these admit quota {sign} {abs(finding.excess)}: {joined(followers)}."


def is_promised(audit: Audit, check: Check) -> bool:
    """Whether any target of the audit promises what a check tries."""
    statuses = {
        findings_of(target)[check.id].status
        for target in audit.targets
        if check.id in findings_of(target)
    }
    return NOT_PROMISED not in statuses or bool(statuses & {HOLDS, BROKEN})


def sentence(audit: Audit) -> str:
    """Says how many targets break a promise, and by how many defects."""
    counts = audit.counts
    targets = plural(len(audit.targets), "target")
    breaking = sum(
        any(finding.status == BROKEN and not finding.consequence_of for finding in target.findings)
        for target in audit.targets
    )
    if breaking:
        verb = "breaks" if breaking == 1 else "break"
        broken_checks = counts.broken + counts.consequences
        seen_in = f", seen in {plural(broken_checks, 'check')}" if counts.consequences else ""
        answer = (
            f"{breaking} of {targets} {verb} a promise: {plural(counts.broken, 'defect')}{seen_in}."
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
