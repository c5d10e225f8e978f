"""Writes docs/transfer.md: which conclusions also hold on one CPU, at a rate, or in another
Node.js, as far as the campaigns about it in a folder of results show."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from report.base.contract import CONSTANTS
from report.base.errors import one_line
from report.base.files import write_all
from report.base.paths import ROOT
from report.base.terminal import run_program
from report.readme.transfer import PAGE, read_places, transfer_markdown


def _run(options: argparse.Namespace) -> int:
    folder = Path(options.docs).resolve()
    write_all(folder, {PAGE: transfer_markdown(read_places(Path(options.results).resolve()))})
    print(one_line(folder / PAGE, 4096))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="report transfer", description=__doc__, allow_abbrev=False
    )
    parser.add_argument(
        "--results",
        metavar="DIR",
        default=CONSTANTS["results_root"],
        help="folder of results (./results)",
    )
    parser.add_argument(
        "--docs",
        metavar="DIR",
        default=str(ROOT / "docs"),
        help="folder of the page (docs of this checkout)",
    )
    return run_program("transfer", lambda: _run(parser.parse_args(arguments)))
