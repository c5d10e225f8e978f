"""`ratelimit-bench audit`: the page and the Markdown of an audit, from its JSON."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from report.base.errors import one_line
from report.base.files import write_all
from report.base.terminal import parser_of, run_program
from report.export.audit_markdown import audit_markdown
from report.html.audit_page import audit_page
from report.results.audit import Audit, load_audit

PAGE = "index.html"

_EPILOG = """exit codes: 0 done · 2 wrong usage, or a file that is not what it should be ·
3 the environment is not fit · 4 writing failed"""


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(
        "report audit", "Makes the page and the Markdown of an audit from its audit.json.", _EPILOG
    )
    parser.add_argument("folder", metavar="DIR")
    return parser


def audit_files(audit: Audit) -> dict[str, str]:
    return {PAGE: audit_page(audit), "audit.md": audit_markdown(audit)}


def _run(options: argparse.Namespace) -> int:
    folder = Path(options.folder).resolve()
    write_all(folder, audit_files(load_audit(folder)))
    print(one_line(folder / PAGE, 4096))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    return run_program("audit", lambda: _run(_parser().parse_args(arguments)))
