"""Writes docs/accuracy.md: what intervals do not contain, as far as the archives of a folder of
results show it. It can measure components of the budget of that first, from those archives or from
outputs of benches, which the decision rule then uses."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from report.analysis.error_budget import BUDGET, Component, budget_text, read_budget
from report.base.contract import CONSTANTS
from report.base.errors import one_line
from report.base.files import write_all
from report.base.paths import ROOT
from report.base.terminal import run_program
from report.readme.accuracy import PAGE, accuracy_markdown, read_layer_figures
from report.readme.measured_budget import OF_ARCHIVES, from_archives, from_bench


def _components(text: str) -> list[str]:
    """The components that archives are to bound.

    Raises argparse.ArgumentTypeError for other names."""
    names = text.split(",")
    if not set(names) <= set(OF_ARCHIVES):
        raise argparse.ArgumentTypeError(f"give some of {','.join(OF_ARCHIVES)}")
    return names


def _run(options: argparse.Namespace) -> int:
    results = Path(options.results).resolve()
    measured: list[Component] = []
    if options.measure:
        measured += from_archives(results, options.measure)
    if options.bench:
        measured += from_bench(Path(options.bench), options.turn)
    budget = read_budget().with_components(measured)
    if measured:
        write_all(BUDGET.parent, {BUDGET.name: budget_text(budget)})
    text = accuracy_markdown(read_layer_figures(results), budget)
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
    parser.add_argument(
        "--measure",
        metavar="LIST",
        type=_components,
        help=f"components that these archives bound, of {','.join(OF_ARCHIVES)}",
    )
    parser.add_argument(
        "--bench",
        metavar="FILE",
        help="what npm run bench:turns -- long --json FILE wrote, or order --json FILE",
    )
    parser.add_argument(
        "--turn",
        metavar="MS,MS",
        default="5,100",
        help="lead-in and slice of the turns of long that campaigns have (5,100)",
    )
    return run_program("accuracy", lambda: _run(parser.parse_args(arguments)))
