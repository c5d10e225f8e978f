"""The parts of README.md that come from results: a picture and a table of the example campaign, and
three lines of the original's matrix where README.md has marks for them."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from report.analysis.campaign_analysis import analyse
from report.analysis.texts import name
from report.base.markdown import code, prose, table
from report.base.paths import ROOT
from report.readme.original_matrix import PAGE, README_LOADS, read_matrix
from report.results.archives import unpack_judged
from report.results.load import load_campaign
from report.results.model import Campaign
from report.sections.decision_table import DecisionCell, decision_cells, figure_names
from report.sections.headings import node_texts
from report.sections.recommendation import recommend

EXAMPLE = "results/example"
#: The archive with the runs of the example, which is unpacked into that folder.
RUNS = f"{EXAMPLE}.tar.xz"
BEGIN = "<!-- example: begin (python report readme) -->"
END = "<!-- example: end -->"
MATRIX_BEGIN = "<!-- original-matrix: begin (python report readme) -->"
MATRIX_END = "<!-- original-matrix: end -->"


def _example() -> Campaign:
    with tempfile.TemporaryDirectory() as folder:
        unpack_judged(ROOT / RUNS, Path(folder))
        return load_campaign(Path(folder) / Path(EXAMPLE).name)


def _with_blocks(text: str, begin: str, end: str, blocks: Sequence[str]) -> str:
    """The text with these blocks between its two marks."""
    before, begin_mark, after_begin = text.partition(begin)
    _, end_mark, after = after_begin.partition(end)
    if not begin_mark or not end_mark:
        raise SystemExit(f"README.md lacks {begin} or {end}")
    return "\n\n".join([f"{before}{begin}", *blocks, f"{end}{after}"])


def readme(text: str, results: Path = ROOT / "results") -> str:
    """README.md with new text between its marks: the example from its campaign, and lines of the
    original's matrix from a folder of results, if it has marks for them."""
    if MATRIX_BEGIN in text:
        text = _with_blocks(text, MATRIX_BEGIN, MATRIX_END, _matrix_blocks(results))
    return _with_blocks(text, BEGIN, END, _example_blocks())


def _matrix_blocks(results: Path) -> list[str]:
    matrix = read_matrix(results)
    return [
        "\n".join(matrix.table(README_LOADS)),
        f"The median of requests/s, its ratio to the reference on the same store, and the conclusion. "
        f"[All cells](results/{PAGE}).",
    ]


def _example_blocks() -> list[str]:
    campaign = _example()
    manifest = campaign.manifest
    if not manifest:
        raise SystemExit(f"{RUNS} lacks its manifest.json")
    analysis = analyse(campaign)
    (cell,) = decision_cells([analysis.cells[0]])

    machine = manifest["machine"]
    provenance = (
        f"Measured on {prose(manifest['started_at'][:10])}, runtime {prose(manifest['runtime']['id'])}, "
        f"{prose(machine['cpu_model'])}: store, server and load generator shared {machine['cpus']} CPUs. "
        f"This shows what a report says; it recommends nothing. [The report]({EXAMPLE}/report/summary.md) "
        f"has all tables, [its archive]({RUNS}) every run and the command."
    )
    return [
        f"![{cell.title}]({EXAMPLE}/report/images/answer-1.svg)",
        "\n".join(_decision_table(cell)),
        prose(_warnings(cell)),
        f"**{prose(recommend(analysis).lead)} Measured with {prose(', '.join(node_texts(campaign)))}.**",
        provenance,
    ]


def _warnings(cell: DecisionCell) -> str:
    """What medians hide, with the rows that it is said of: `Runs drift (iovalkey).`"""
    rows_by_beginning: dict[str, list[str]] = {}
    for row in cell.groups[0].rows:
        for beginning, _ in row.warnings:
            rows_by_beginning.setdefault(beginning, []).append(name(row.summary))
    return " ".join(
        f"{beginning} ({', '.join(rows)})." for beginning, rows in rows_by_beginning.items()
    )


def _decision_table(cell: DecisionCell) -> list[str]:
    names = figure_names(cell.cell.text, cell.cell.identity.open_loop)
    columns = [
        "Target",
        *(", ".join(filter(None, name_parts)) for name_parts in names),
        "Limited by",
        "Conclusion",
    ]
    rows = []
    for row in cell.groups[0].rows:
        texts = [figure.plain for figure in (*row.figures, row.limit)]
        rows.append([code(row.summary.identity.short_label), *texts, row.conclusion or "–"])
    return table(columns, rows, 1)
