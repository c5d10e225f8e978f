"""The original project's matrix of results, measured again by the campaigns of
claims/original-matrix.yaml.

Its rows are topology, workload and number of connections, and its columns are targets."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from report.analysis.campaign_analysis import Analysis, analyse
from report.base.errors import USAGE, ReportError, one_line
from report.base.format import ABSENT
from report.base.markdown import code, prose, table
from report.results.archives import found_campaigns
from report.results.load import load_campaign
from report.results.model import MANIFEST
from report.sections.decision_table import DecisionRow, decision_cells

#: The folder with the campaigns of the matrix, below a folder of results.
CAMPAIGNS = "claims/original-matrix"
PAGE = "original-matrix.md"

Load = tuple[str, str, int]
"""A topology, a workload and a number of connections."""

#: The loads that README.md shows. The original published each of them, and they were chosen before
#: the data.
README_LOADS: tuple[Load, ...] = (
    ("standalone", "heavy", 500),
    ("cluster", "heavy", 50),
    ("cluster", "heavy", 1000),
)

_ABOUT = """Each cell has the median of requests/s over its runs, its ratio to the reference on the same store
with the interval of 95 %, and the conclusion. Clients without `@` run on the store of their own; those with
`@valkey` are there so that all are also compared on one. [claims.md](claims.md) judges how valkey-glide
stands to clients on Redis."""
_HEAD = """<!-- Written by `python3 report original-matrix` from results/claims/original-matrix. -->

# The original's matrix of results, measured again"""


class OriginalMatrix(Struct, frozen=True):
    targets: tuple[str, ...]
    rows: dict[Load, dict[str, DecisionRow]]
    """The rows by load and target."""
    sources: tuple[str, ...]
    """A line of Markdown for each campaign."""

    def table(self, loads: Sequence[Load]) -> list[str]:
        """The table of these loads, as lines of Markdown."""
        columns = ("Topology", "Workload", "Connections", *map(code, self.targets))
        rows = []
        for load in loads:
            cells = self.rows.get(load, {})
            texts = [_cell(cells[target]) if target in cells else ABSENT for target in self.targets]
            rows.append([*map(str, load), *texts])
        return table(columns, rows, 2)


def _cell(row: DecisionRow) -> str:
    """The text of a cell: `15,469; 0.69×, 0.68–0.71×; slower`."""
    ratio = row.ratio if row.ratio != ABSENT else ""
    return "; ".join(filter(None, (row.throughput.text, ratio, row.conclusion)))


def _order(load: Load) -> tuple[bool, bool, int]:
    """Sorts standalone and light loads first."""
    topology, workload, connections = load
    return topology != "standalone", workload != "light", connections


def _source(place: str, analysis: Analysis) -> str:
    manifest = analysis.campaign.manifest
    if manifest is None:
        raise ReportError(f"{place} has no manifest", USAGE)
    machine = manifest["machine"]
    machine_text = (
        f"{machine['cpu_model']}, {machine['cpus']} CPUs, runtime {manifest['runtime']['id']}"
    )
    status = "" if manifest["status"] == "finished" else f", {manifest['status']}"
    return f"- {code(place)}: {prose(manifest['started_at'][:10])}, {prose(machine_text + status)}"


def matrix_of(campaigns: Sequence[tuple[str, Analysis]]) -> OriginalMatrix:
    """The matrix of campaigns, each with its place. Where two measured a load, it shows the later
    one."""
    by_start = sorted(campaigns, key=_start)
    rows: dict[Load, dict[str, DecisionRow]] = {}
    for _, analysis in by_start:
        rows |= _rows_by_load(analysis)

    loads = sorted(rows, key=_order)
    targets = dict.fromkeys(target for load in loads for target in rows[load])
    sources = tuple(_source(place, analysis) for place, analysis in by_start)
    return OriginalMatrix(tuple(targets), {load: rows[load] for load in loads}, sources)


def _start(campaign: tuple[str, Analysis]) -> str:
    _, analysis = campaign
    start: str = (analysis.campaign.manifest or {}).get("started_at", "")
    return start


def _rows_by_load(analysis: Analysis) -> dict[Load, dict[str, DecisionRow]]:
    """The rows of a campaign by load and target, without copies."""
    rows = {}
    for cell in decision_cells(analysis.cells):
        identity = cell.cell.identity
        load = (identity.topology or "", identity.workload, identity.connections)
        rows[load] = {
            row.summary.identity.short_label: row
            for group in cell.groups
            for row in group.rows
            if not row.is_copy
        }
    return rows


def read_matrix(results: Path) -> OriginalMatrix:
    """The matrix of all campaigns of the original's matrix in a folder of results.

    Raises ReportError where there is no campaign, or where one cannot be read."""
    campaigns = []
    with found_campaigns(results / CAMPAIGNS, MANIFEST) as places:
        for place, folder, problem in places:
            if problem:
                raise ReportError(f"{place}: {problem}", USAGE)
            campaigns.append((str(place), analyse(load_campaign(folder, series=False))))
    if not campaigns:
        raise ReportError(
            f"{one_line(results / CAMPAIGNS)} holds no campaign: "
            "measure with ratelimit-bench run --config claims/original-matrix.yaml",
            USAGE,
        )
    return matrix_of(campaigns)


def matrix_markdown(matrix: OriginalMatrix) -> str:
    """The page about the matrix."""
    lines = [_HEAD, "", _ABOUT, "", *matrix.table(tuple(matrix.rows)), "", *matrix.sources, ""]
    return "\n".join(lines)
