"""Writes what README.md says of the example campaign: findings, tables and pictures, from its results.

`.venv/bin/python report readme` writes; with `--check` it compares instead, and exits 1 on a
difference.
"""

import re
import sys
from collections.abc import Sequence

from report.analysis.analysis import analyse
from report.analysis.cells import Cell
from report.base.markdown import prose
from report.base.paths import ROOT
from report.export.summary_markdown import cell_blocks
from report.results.load import load_campaign
from report.results.model import Campaign
from report.sections.recommendation import recommend

EXAMPLE = "results/example"
BEGIN, END = "<!-- example: begin (python report readme) -->", "<!-- example: end -->"


def _where(campaign: Campaign) -> list[list[str]]:
    """What was measured on, how, and where all of it is."""
    manifest = campaign.manifest
    if manifest is None:
        raise SystemExit(f"{EXAMPLE} has no manifest.json")
    machine = manifest["machine"]
    return [
        [
            f"Measured on {prose(manifest['started_at'][:10])}: {prose(machine['cpu_model'])}, "
            f"{machine['cpus']} CPUs, runtime {prose(manifest['runtime']['id'])}. Store, server and load "
            "generator shared these CPUs: this shows what a report says, and recommends nothing. Every run "
            f"with its verdict is in [{EXAMPLE}]({EXAMPLE}), the page is "
            f"[{EXAMPLE}/report/index.html]({EXAMPLE}/report/index.html)."
        ],
        ["```bash", manifest["command"], "```"],
    ]


def plain(text: str) -> str:
    """The text without what a formatter changes: the padding of tables, empty lines."""
    return re.sub(r"\s+", " ", re.sub(r"-{3,}", "---", text))


def _blocks(cell: Cell) -> list[list[str]]:
    heading, *rest = cell_blocks(cell)
    title = heading[0].lstrip("# ")
    folder = f"{EXAMPLE}/report/images"
    pictures = [
        f"![{name}: {title}]({folder}/{name.lower()}-{cell.id}.svg)" for name in ("Throughput", "Latency")
    ]
    return [heading, pictures, *rest]


def readme(text: str) -> str:
    """README.md with the part between its two marks written anew from the example campaign.

    Raises:
        SystemExit: a mark is missing, or the campaign has no manifest.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"README.md lacks {BEGIN} or {END}")
    campaign = load_campaign(ROOT / EXAMPLE)
    analysis = analyse(campaign)
    recommended = recommend(analysis)
    blocks = [*_where(campaign), [f"**{prose(recommended.lead)}**"]]
    for cell in analysis.cells:
        blocks += _blocks(cell)
    section = "\n\n".join("\n".join(block) for block in blocks)
    return f"{before}{BEGIN}\n\n{section}\n\n{END}{after}"


def main(arguments: Sequence[str]) -> int:
    """Runs the program. Returns its exit code."""
    path = ROOT / "README.md"
    text = path.read_text(encoding="utf-8")
    wanted = readme(text)
    if "--check" not in arguments:
        path.write_text(wanted, encoding="utf-8")
    elif plain(wanted) != plain(text):
        print(f"README.md differs from {EXAMPLE}: run .venv/bin/python report readme", file=sys.stderr)
        return 1
    return 0
