"""`ratelimit-bench audit`: the page and the Markdown of an audit, from its JSON."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from report.base.errors import USAGE, ReportError, one_line
from report.base.files import write_all, write_file
from report.base.terminal import parser_of, run_program
from report.campaigns.conditions import conditions_markdown
from report.export.junit import audit_cases, junit_text
from report.outputs.audit_files import PAGE, audit_files
from report.results.archives import found_campaigns
from report.results.load import AUDIT_FILE, load_audit

_EPILOG = """exit codes: 0 done · 2 wrong usage, or a file that is not what it should be ·
3 the environment is not fit · 4 writing failed"""


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(
        "report audit", "Makes the page and the Markdown of an audit from its audit.json.", _EPILOG
    )
    parser.add_argument(
        "--table",
        action="store_true",
        help="print the table of limiters and conditions of all audits below DIR",
    )
    parser.add_argument("--junit", metavar="FILE", help="also write the result as JUnit's XML")
    parser.add_argument("folder", metavar="DIR")
    return parser


def _table(root: Path) -> str:
    """The table of limiters and conditions of all audits below a folder."""
    with found_campaigns(root, AUDIT_FILE) as audit_places:
        errors = [f"{place}: {problem}" for place, _, problem in audit_places if problem]
        if errors:
            raise ReportError(errors, USAGE)
        audits = [load_audit(folder) for _, folder, _ in audit_places]
    if not audits:
        raise ReportError(f"{one_line(root)} holds no audit", USAGE)
    return conditions_markdown(audits)


def _run(options: argparse.Namespace) -> int:
    folder = Path(options.folder).resolve()
    if options.table:
        print(_table(folder), end="")
        return 0

    audit = load_audit(folder)
    write_all(folder, audit_files(audit))
    if options.junit is not None:
        write_file(Path(options.junit), junit_text("audit", audit_cases(audit)))
    print(one_line(folder / PAGE, 4096))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    return run_program("audit", lambda: _run(_parser().parse_args(arguments)))
