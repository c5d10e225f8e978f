"""`ratelimit-bench memory`: the bytes that a key takes, of a campaign with several numbers of fresh keys."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from report.analysis.campaign_analysis import analyse
from report.base.errors import USAGE, ReportError, one_line
from report.base.files import json_text, write_all
from report.base.terminal import parser_of, run_program
from report.export.topics import memory_csv, memory_document
from report.results.load import load_campaign
from report.sections.memory_per_key import memory_lines

_EPILOG = """exit codes: 0 done · 2 wrong usage, no slope, or a file that is not what it should be ·
3 the environment is not fit · 4 writing failed"""


def _parser() -> argparse.ArgumentParser:
    about = "Fits a line through memory and number of keys, for each target of a campaign."
    parser = parser_of("report memory", about, _EPILOG)
    parser.add_argument("campaign", metavar="DIR")
    parser.add_argument("--format", choices=["table", "json"], default="table")
    return parser


def _run(options: argparse.Namespace) -> int:
    folder = Path(options.campaign).resolve()
    analysis = analyse(load_campaign(folder))
    if not any(row.slopes for row in analysis.memory):
        reasons = "; ".join(f"{one_line(row.identity.label)}: {row.reason}" for row in analysis.memory)
        why = f"has no target that ran with two numbers of fresh keys{f' ({reasons})' if reasons else ''}"
        remedy = "measure with `ratelimit-bench memory --clients TARGETS`"
        raise ReportError(f"{one_line(folder.name)} {why}: {remedy}", USAGE)
    files = {"memory.csv": memory_csv(analysis.memory), "memory.json": json_text(memory_document(analysis))}
    write_all(folder / "report", files)
    if options.format == "json":
        print(files["memory.json"], end="")
        return 0
    for line in memory_lines(analysis.memory):
        print(one_line(line, 400))
    print(f"saved in {one_line(folder / 'report')}: memory.csv and memory.json; charts in index.html")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    return run_program("memory", lambda: _run(_parser().parse_args(arguments)))
