"""The original project's matrix of results, as measured here: a row a topology, a workload and a
number of connections, a column a target. It is made from the campaigns of
claims/original-matrix.yaml."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from report.base.contract import CONSTANTS
from report.base.errors import one_line
from report.base.files import write_all
from report.base.terminal import run_program
from report.readme.original_matrix import PAGE, matrix_markdown, read_matrix


def _run(options: argparse.Namespace) -> int:
    results = Path(options.results).resolve()
    write_all(results, {PAGE: matrix_markdown(read_matrix(results))})
    print(one_line(results / PAGE, 4096))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="report original-matrix", description=__doc__, allow_abbrev=False
    )
    parser.add_argument(
        "--results",
        metavar="DIR",
        default=CONSTANTS["results_root"],
        help="folder of results (./results)",
    )
    return run_program("original-matrix", lambda: _run(parser.parse_args(arguments)))
