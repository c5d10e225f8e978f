"""`ratelimit-bench audit`: the page and the Markdown of an audit, from its JSON."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from report.base.errors import USAGE, ReportError, one_line
from report.base.files import write_all
from report.base.markdown import code, prose, table, within
from report.base.terminal import parser_of, run_program
from report.campaigns.conditions import conditions_markdown
from report.export.summary_markdown import MAX_BYTES
from report.html.page import audit_page
from report.results.archives import found_campaigns
from report.results.generated.records import Audit
from report.results.load import AUDIT_FILE, BROKEN, load_audit
from report.sections.audit import MARKS, connection, details, is_promised, rows, sentence

PAGE = "index.html"

_EPILOG = """exit codes: 0 done · 2 wrong usage, or a file that is not what it should be ·
3 the environment is not fit · 4 writing failed"""


def _parser() -> argparse.ArgumentParser:
    about = "Makes the page and the Markdown of an audit from its audit.json."
    parser = parser_of("report audit", about, _EPILOG)
    of_all = "print the table of limiters and conditions of all audits below DIR"
    parser.add_argument("--table", action="store_true", help=of_all)
    parser.add_argument("folder", metavar="DIR")
    return parser


def _markdown(audit: Audit) -> str:
    """The whole text. Promises that are kept stand in the table alone."""
    marks = {
        state: f"**{mark}**" if state == BROKEN else mark for state, (mark, _) in MARKS.items()
    }
    cells = [
        [code(target.target.label), *(marks[cell.state] for cell in row)]
        for target, row in rows(audit)
    ]
    head = f"Audit {code(audit.audit)}, {prose(audit.started_at[:10])}, runtime {prose(audit.runtime)}."
    blocks = [
        [f"## {sentence(audit)}"],
        [head],
        table(
            ("Target", *(prose(check.title) for check in audit.checks)),
            cells,
            len(audit.checks) + 1,
        ),
        [" · ".join(f"{mark} {words}" for mark, words in MARKS.values())],
    ]
    for check in audit.checks:
        lines = []
        for detail in details(audit, check):
            label, finding = code(detail.target.target.label), detail.finding
            if not detail.is_told:
                continue
            if finding.reason:
                lines.append(f"- {label}: not checked: {prose(finding.reason)}")
            else:
                told = f"{prose(detail.expected)}; seen {prose(finding.seen or '')}"
                more = f". {prose(connected)}" if (connected := connection(audit, detail)) else ""
                lines.append(f"- {label}, {prose(detail.limits)}: {told}{more}")
        if lines:
            promise = (
                check.promise if is_promised(audit, check) else f"Not promised: {check.promise}"
            )
            blocks.append([f"### {prose(check.title)}", "", prose(promise), "", *lines])
    if audit.skips:
        skips = [f"- {code(skip.asked)}: {prose(skip.reason)}" for skip in audit.skips]
        blocks.append(["### Targets that were not audited", "", *skips])
    return within(blocks, MAX_BYTES, "The rest is left out: see audit.json.")


def audit_files(audit: Audit) -> dict[str, str]:
    return {PAGE: audit_page(audit), "audit.md": _markdown(audit)}


def _table(root: Path) -> str:
    with found_campaigns(root, AUDIT_FILE) as found:
        if wrong := [f"{place}: {why}" for place, _, why in found if why]:
            raise ReportError(wrong, USAGE)
        audits = [load_audit(folder) for _, folder, _ in found]
    if not audits:
        raise ReportError(f"{one_line(root)} holds no audit", USAGE)
    return conditions_markdown(audits)


def _run(options: argparse.Namespace) -> int:
    folder = Path(options.folder).resolve()
    if options.table:
        print(_table(folder), end="")
        return 0
    write_all(folder, audit_files(load_audit(folder)))
    print(one_line(folder / PAGE, 4096))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    return run_program("audit", lambda: _run(_parser().parse_args(arguments)))
