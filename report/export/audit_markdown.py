"""The Markdown of an audit."""

from report.base.markdown import code, prose, table, within
from report.export.summary_markdown import MAX_BYTES
from report.results.generated.records import Audit, Check, Finding
from report.results.load import BROKEN
from report.sections.audit import MARKS, Cell, connection, details, is_promised, rows, sentence


def audit_markdown(audit: Audit) -> str:
    """The whole text. Only the table contains the promises that are kept."""
    head = f"Audit {code(audit.audit)}, {prose(audit.started_at[:10])}, runtime {prose(audit.runtime)}."
    blocks = [
        [f"## {sentence(audit)}"],
        [head],
        _table(audit),
        [" · ".join(f"{mark} {words}" for mark, words in MARKS.values())],
    ]

    for check in audit.checks:
        block = _check_block(audit, check)
        if block:
            blocks.append(block)

    if audit.skips:
        skips = [f"- {code(skip.asked)}: {prose(skip.reason)}" for skip in audit.skips]
        blocks.append(["### Targets that were not audited", "", *skips])
    return within(blocks, MAX_BYTES, "The rest is left out: see audit.json.")


def _table(audit: Audit) -> list[str]:
    marks = {state: mark for state, (mark, _) in MARKS.items()}
    marks[BROKEN] = f"**{marks[BROKEN]}**"
    table_rows = [
        [code(target.target.label), *(marks[cell.state] for cell in cells)]
        for target, cells in rows(audit)
    ]
    columns = ("Target", *(prose(check.title) for check in audit.checks))
    return table(columns, table_rows, len(audit.checks) + 1)


def _check_block(audit: Audit, check: Check) -> list[str]:
    """The details of a check. The block is empty if the marks in the table say everything."""
    lines = [_detail_line(audit, cell) for cell in details(audit, check) if cell.is_told]
    if not lines:
        return []
    promise = check.promise if is_promised(audit, check) else f"Not promised: {check.promise}"
    return [f"### {prose(check.title)}", "", prose(promise), "", *lines]


def _detail_line(audit: Audit, cell: Cell) -> str:
    label = code(cell.target.target.label)
    finding = cell.finding
    if finding.reason:
        return f"- {label}: not checked: {prose(finding.reason)}"

    line = (
        f"- {label}, {prose(cell.limits)}: {prose(cell.expected)}; seen {prose(finding.seen or '')}"
    )
    connection_text = connection(audit, cell)
    sentence_text = f"{line}. {prose(connection_text)}" if connection_text else line
    return "\n".join((sentence_text, *_step_lines(finding), *_remedy_lines(finding)))


def _step_lines(finding: Finding) -> list[str]:
    """The smallest sequence of requests that shows a defect of an API."""
    return [
        f"  {number}. sent {prose(step.sent)}; came back: {prose(step.answered)}"
        + (f"; promised: {prose(step.promised)}" if step.promised else "")
        for number, step in enumerate(finding.steps or (), 1)
    ]


def _remedy_lines(finding: Finding) -> list[str]:
    """What mends a defect of an API, and by which setting of which library."""
    if finding.remedy is None:
        return []
    settings = [
        f"  - {code(library)}: {prose(setting)}"
        for library, setting in finding.remedy.settings.items()
    ]
    return [f"  To mend it: {prose(finding.remedy.advice)}", *settings]
