"""Writes docs/accuracy.md: what intervals do not contain, as far as the archives of a folder of
results show it."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from report.base.contract import CONSTANTS
from report.base.errors import one_line
from report.base.files import write_all
from report.base.paths import ROOT
from report.base.terminal import run_program
from report.readme.accuracy import PAGE, accuracy_markdown, read_layer_figures


def _run(options: argparse.Namespace) -> int:
    text = accuracy_markdown(read_layer_figures(Path(options.results).resolve()))
    write_all(ROOT / "docs", {PAGE: text})
    print(one_line(ROOT / "docs" / PAGE, 4096))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="report accuracy", description=__doc__, allow_abbrev=False
    )
    parser.add_argument(
        "--results",
        metavar="DIR",
        default=CONSTANTS["results_root"],
        help="folder of results (./results)",
    )
    return run_program("accuracy", lambda: _run(parser.parse_args(arguments)))
