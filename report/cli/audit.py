"""`ratelimit-bench audit`: the page and the Markdown of an audit, from its JSON."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from report.base.errors import USAGE, ReportError, one_line
from report.base.files import write_all
from report.base.terminal import parser_of, run_program
from report.campaigns.matrix import conditions_markdown
from report.export.audit_markdown import audit_markdown
from report.html.page import audit_page
from report.results.archives import found_campaigns
from report.results.audit import AUDIT_FILE, load_audit
from report.results.records import Audit

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


def audit_files(audit: Audit) -> dict[str, str]:
    return {PAGE: audit_page(audit), "audit.md": audit_markdown(audit)}


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
