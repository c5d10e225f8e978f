"""audit.md: an audit for a job summary, a comment or an issue."""

from report.base.markdown import code, prose, table, within
from report.results.audit import BROKEN, FAILED, Audit
from report.sections.audit import MARKS, details, rows, sentence

#: GitHub refuses a comment of 65,536 characters and more.
MAX_BYTES = 60_000


def audit_markdown(audit: Audit) -> str:
    """The whole text. Promises that hold stand in the table alone."""
    marks = {status: f"**{mark}**" if status == BROKEN else mark for status, (mark, _) in MARKS.items()}
    cells = [
        [code(target.label), *(marks[cell.finding.status] for cell in row)] for target, row in rows(audit)
    ]
    head = f"Audit {code(audit.name)}, {prose(audit.started_at[:10])}, runtime {prose(audit.runtime)}."
    blocks = [
        [f"## {sentence(audit)}"],
        [head],
        table(("Target", *(prose(check.title) for check in audit.checks)), cells, len(audit.checks) + 1),
        ["✓ holds · ✗ broken · – skipped, or does not apply · ? could not be checked"],
    ]
    for check in audit.checks:
        lines = []
        for detail in details(audit, check):
            label, finding = code(detail.target.label), detail.finding
            if finding.status not in (BROKEN, FAILED):
                continue
            if finding.reason:
                lines.append(f"- {label}: not checked: {prose(finding.reason)}")
            else:
                promised = f"promised {prose(finding.promised)}; seen {prose(finding.seen)}"
                lines.append(f"- {label}, {prose(finding.limits)}: {promised}")
        if lines:
            blocks.append([f"### {prose(check.title)}", "", prose(check.promise), "", *lines])
    if audit.skips:
        skips = [f"- {code(asked)}: {prose(reason)}" for asked, reason in audit.skips]
        blocks.append(["### Targets that were not audited", "", *skips])
    return within(blocks, MAX_BYTES, "The rest is left out: see audit.json.")
