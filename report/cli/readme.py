"""Writes README.md's example: one picture and one table, from the results of the example campaign.

`.venv/bin/python report readme` writes; with `--check` it compares instead, and exits 1 on a
difference.
"""

import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from report.analysis.campaign_analysis import Analysis, analyse
from report.base.markdown import code, prose, table
from report.base.paths import ROOT
from report.results.archives import unpack
from report.results.load import load_campaign
from report.results.model import Campaign
from report.sections.first_screen import decision_cells
from report.sections.recommendation import recommend

EXAMPLE = "results/example"
#: Its runs, which belong into that folder.
RUNS = f"{EXAMPLE}.tar.xz"
BEGIN, END = "<!-- example: begin (python report readme) -->", "<!-- example: end -->"


def _example() -> Campaign:
    with tempfile.TemporaryDirectory() as folder:
        unpack(ROOT / RUNS, Path(folder))
        return load_campaign(Path(folder) / Path(EXAMPLE).name)


def _where(campaign: Campaign) -> str:
    manifest = campaign.manifest
    if manifest is None:
        raise SystemExit(f"{RUNS} has no manifest.json")
    machine = manifest["machine"]
    return (
        f"Measured on {prose(manifest['started_at'][:10])}, runtime {prose(manifest['runtime']['id'])}, "
        f"{prose(machine['cpu_model'])}: store, server and load generator shared {machine['cpus']} CPUs. "
        f"This shows what a report says; it recommends nothing. [The report]({EXAMPLE}/report/summary.md) "
        f"has all tables, [the campaign's folder]({EXAMPLE}) the command, [its archive]({RUNS}) every run."
    )


def plain(text: str) -> str:
    """The text without what a formatter changes: the padding of tables, empty lines."""
    return re.sub(r"\s+", " ", re.sub(r"-{3,}", "---", text))


def _result(analysis: Analysis) -> list[list[str]]:
    (first,) = decision_cells([analysis.cells[0]])
    rows = [
        [
            code(row.summary.identity.short_label),
            row.throughput.plain,
            row.p99.plain,
            row.cpu.plain,
            row.store_cpu.plain,
            row.status or "–",
        ]
        for row in first.groups[0].rows
    ]
    headers = ("Target", "Requests/s", "p99, ms", "Server CPU, µs", "Store CPU, µs", "Conclusion")
    picture = f"![{first.title}]({EXAMPLE}/report/images/answer-1.svg)"
    return [[picture], table(headers, rows, 1)]


def readme(text: str) -> str:
    """README.md with the part between its two marks made again from the example campaign."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"README.md lacks {BEGIN} or {END}")
    campaign = _example()
    analysis = analyse(campaign)
    recommended = recommend(analysis)
    blocks = [*_result(analysis), [f"**{prose(recommended.lead)}**"], [_where(campaign)]]
    section = "\n\n".join("\n".join(block) for block in blocks)
    return f"{before}{BEGIN}\n\n{section}\n\n{END}{after}"


def main(arguments: Sequence[str]) -> int:
    path = ROOT / "README.md"
    text = path.read_text(encoding="utf-8")
    wanted = readme(text)
    if "--check" not in arguments:
        path.write_text(wanted, encoding="utf-8")
    elif plain(wanted) != plain(text):
        print(f"README.md differs from {EXAMPLE}: run .venv/bin/python report readme", file=sys.stderr)
        return 1
    return 0
