"""Writes README.md's example: one picture and one table, from the results of the example campaign."""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from report.analysis.campaign_analysis import analyse
from report.base.errors import USAGE
from report.base.markdown import code, prose, table
from report.base.paths import ROOT
from report.results.archives import unpack_judged
from report.results.load import load_campaign
from report.results.model import Campaign
from report.sections.first_screen import decision_cells, figure_names
from report.sections.recommendation import recommend

EXAMPLE = "results/example"
#: Its runs, which belong into that folder.
RUNS = f"{EXAMPLE}.tar.xz"
BEGIN, END = "<!-- example: begin (python report readme) -->", "<!-- example: end -->"


def _example() -> Campaign:
    with tempfile.TemporaryDirectory() as folder:
        unpack_judged(ROOT / RUNS, Path(folder))
        return load_campaign(Path(folder) / Path(EXAMPLE).name)


def readme(text: str) -> str:
    """README.md with the part between its two marks made again from the example campaign."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    campaign = _example()
    if not (begin and end and campaign.manifest):
        raise SystemExit(f"README.md lacks {BEGIN} or {END}, or {RUNS} its manifest.json")
    analysis, manifest = analyse(campaign), campaign.manifest
    (cell,) = decision_cells([analysis.cells[0]])
    rows = []
    for row in cell.groups[0].rows:
        texts = [figure.plain for figure in (*row.figures, row.limit)]
        rows.append([code(row.summary.identity.short_label), *texts, row.conclusion or "–"])
    names = figure_names(cell.cell.text, cell.cell.identity.open_loop)
    columns = ("Target", *(", ".join(filter(None, each)) for each in names), "Limited by", "Conclusion")
    machine = manifest["machine"]
    where = (
        f"Measured on {prose(manifest['started_at'][:10])}, runtime {prose(manifest['runtime']['id'])}, "
        f"{prose(machine['cpu_model'])}: store, server and load generator shared {machine['cpus']} CPUs. "
        f"This shows what a report says; it recommends nothing. [The report]({EXAMPLE}/report/summary.md) "
        f"has all tables, [the campaign's folder]({EXAMPLE}) the command, [its archive]({RUNS}) every run."
    )
    blocks = [
        f"![{cell.title}]({EXAMPLE}/report/images/answer-1.svg)",
        "\n".join(table(columns, rows, 1)),
        f"**{prose(recommend(analysis).lead)}**",
        where,
    ]
    return "\n\n".join([f"{before}{BEGIN}", *blocks, f"{END}{after}"])


def main(arguments: Sequence[str]) -> int:
    if arguments:
        print("usage: report readme", file=sys.stderr)
        return USAGE
    path = ROOT / "README.md"
    path.write_text(readme(path.read_text(encoding="utf-8")), encoding="utf-8")
    return 0
