"""`ratelimit-bench memory`: shows how many bytes a key takes, from a campaign with several numbers
of fresh keys."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from report.analysis.campaign_analysis import analyse
from report.analysis.memory_per_key_rows import KeyMemory
from report.base.errors import USAGE, ReportError, one_line
from report.base.files import json_text, write_all
from report.base.terminal import run_program
from report.cli.command_line import command_parser
from report.export.memory_tables import memory_csv, memory_document
from report.results.load import load_campaign
from report.sections.memory_per_key import memory_lines


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("report memory", "memory")
    parser.add_argument("campaign", metavar="DIR")
    return parser


def _no_slope_text(folder: Path, memories: Sequence[KeyMemory]) -> str:
    text = f"{one_line(folder.name)} has no target that ran with two numbers of fresh keys"
    if memories:
        reasons = [f"{one_line(memory.identity.label)}: {memory.reason}" for memory in memories]
        text += f" ({'; '.join(reasons)})"
    return f"{text}: measure with `ratelimit-bench memory --clients TARGETS`"


def _run(options: argparse.Namespace) -> int:
    folder = Path(options.campaign).resolve()
    analysis = analyse(load_campaign(folder))
    if not any(row.slopes for row in analysis.memory):
        raise ReportError(_no_slope_text(folder, analysis.memory), USAGE)

    files = {
        "memory.csv": memory_csv(analysis.memory),
        "memory.json": json_text(memory_document(analysis)),
    }
    write_all(folder / "report", files)

    if options.format == "json":
        print(files["memory.json"], end="")
        return 0
    for line in memory_lines(analysis.memory):
        print(one_line(line, 400))
    print(
        f"saved in {one_line(folder / 'report')}: memory.csv and memory.json; charts in index.html"
    )
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    return run_program("memory", lambda: _run(_parser().parse_args(arguments)))
