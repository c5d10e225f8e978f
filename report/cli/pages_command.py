"""What is published: the report of each campaign, a table of all, and at the root that which stands
for them: the standing campaign that a folder of results names, else the newest benchmark.

Results may come from anybody. Only documents that were checked are published as they are, and logs
as text: every page, table and picture is built here."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from report.base.errors import one_line
from report.base.terminal import run_program
from report.outputs.campaign_files import PAGE
from report.pages.publish import publish


def _run(options: argparse.Namespace) -> int:
    folder = Path(options.site).resolve()
    roots = [Path(root).resolve() for root in options.roots]
    skipped = publish(folder, roots, Path(options.claims))
    for line in skipped:
        print(f"pages: left out: {one_line(line)}", file=sys.stderr)
    print(one_line(folder / PAGE, 4096))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="report pages", description=__doc__, allow_abbrev=False)
    parser.add_argument("site", metavar="SITE", help="the folder to make")
    parser.add_argument(
        "roots", metavar="ROOT", nargs="+", help="a folder of results, e.g. ./results"
    )
    parser.add_argument(
        "--claims", metavar="DIR", default="claims", help="folder of the claims (./claims)"
    )
    return run_program("pages", lambda: _run(parser.parse_args(arguments)))
