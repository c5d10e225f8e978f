"""summary.md: the answer for a job summary or a comment, below the size that GitHub takes."""

from collections.abc import Sequence

from .answer import cell_title
from .compare import Cell, Ranking
from .format import milliseconds, plural, rate, ratio
from .markdown import code, prose, table, within
from .model import Campaign
from .notices import campaign_notices
from .parts import PagePart, page_parts
from .script_text import mode_text
from .summarize import Summary
from .thresholds import HELD, judgements
from .verdict_text import sentence

#: GitHub refuses a comment of 65,536 characters and more.
MAX_BYTES = 60_000

_HEADERS = ("", "Client", "Throughput, requests/s", "To best", "p50, ms", "p99, ms", "Valid runs", "Verdict")


def _cells(summary: Summary, rank: str, to_best: float | None) -> list[str]:
    figures = summary.figures
    percentiles = figures.percentiles_ms if figures else {}
    few = " (few samples)" if figures and "p99" in figures.unsupported else ""
    return [
        rank,
        code(summary.identity.short_label),
        rate(figures.requests_per_second if figures else None),
        ratio(to_best),
        milliseconds(percentiles.get("p50")),
        milliseconds(percentiles.get("p99")) + few,
        f"{summary.valid_runs} of {len(summary.runs) + len(summary.missing)}",
        summary.verdict or "none",
    ]


def _ranking(ranking: Ranking) -> list[str]:
    store = "on a store that is not known" if ranking.store is None else f"on {code(ranking.store)}"
    already = " that already ran" if ranking.group.external else ""
    rows = [
        _cells(entry.summary, "" if entry.rank is None else str(entry.rank), entry.ratio)
        for entry in ranking.standings
    ]
    heading = f"Medians {store}{already}, {prose(mode_text(ranking))}. {prose(sentence(ranking))}"
    return [heading, "", *table(_HEADERS, rows, 2)]


def cell_blocks(cell: Cell) -> list[list[str]]:
    """Heading, what each ranking says with its table, and the controls, as blocks of lines."""
    blocks = [[f"### {prose(cell_title(cell))}"], *(_ranking(ranking) for ranking in cell.rankings)]
    if cell.controls:
        rows = [_cells(control, "", None) for control in cell.controls]
        blocks.append(["Controls, not ranked:", "", *table(_HEADERS, rows, 2)])
    return blocks


def _blocks_of_part(part: PagePart) -> list[list[str]]:
    """What one runtime measured; figures of two never share a table."""
    heading = [[f"## Runtime {code(part.name)}"]] if part.name else []
    if not part.cells:
        return [*heading, table(_HEADERS, [_cells(row, "", None) for row in part.controls], 2)]
    return [*heading, *(block for cell in part.cells for block in cell_blocks(cell))]


def _troubles(summaries: Sequence[Summary]) -> list[str]:
    """Why rows have no figures, and why runs are not valid; the same text once."""
    holes = [f"- {code(row.identity.label)}: {prose(row.hole)}" for row in summaries if row.hole]
    reasons = [
        f"- {code(row.identity.label)}: {prose(f'{reason.rule}: {reason.text}')}"
        for row in summaries
        if not row.hole
        for run in row.runs
        for reason in run.reasons
    ]
    lines = list(dict.fromkeys([*holes, *reasons]))
    return ["### Runs that are not plainly valid", "", *lines] if lines else []


def _thresholds(campaign: Campaign, summaries: Sequence[Summary]) -> list[str]:
    """Every threshold on every client's configuration, those that did not hold first."""
    judged = sorted(judgements(campaign, summaries), key=lambda each: each.status == HELD)
    rows = [
        [code(each.summary.identity.short_label), code(each.threshold), prose(each.value_text), each.status]
        for each in judged
    ]
    return (
        ["### Thresholds", "", *table(("Client", "Threshold", "Value", "Outcome"), rows, 4)] if rows else []
    )


def summary_md(campaign: Campaign, summaries: Sequence[Summary]) -> str:
    """The whole text, at most 60 kB: what is too much is left out from the end, and said."""
    manifest = campaign.manifest
    where = ""
    if manifest:
        machine = manifest["machine"]
        where = (
            f", {prose(manifest['started_at'][:10])}, {prose(machine['cpu_model'])}, "
            f"{plural(machine['cpus'], 'core')}, runtime {prose(manifest['runtime']['id'])}"
        )
    head = (
        f"Campaign {code(campaign.name)}{where}. {plural(len(summaries), 'configuration')}, "
        f"{plural(len(campaign.runs), 'run')}. Figures of the median runs."
    )
    notices = [*campaign_notices(campaign), *(manifest["conditions"] if manifest else [])]
    parts = page_parts(summaries)
    blocks = [
        ["## Rate limiters: what they cost"],
        [head],
        *([[f"- {prose(text)}" for text in notices]] if notices else []),
        *([thresholds] if (thresholds := _thresholds(campaign, summaries)) else []),
        *(block for part in parts for block in _blocks_of_part(part)),
        *([trouble] if (trouble := _troubles(summaries)) else []),
    ]
    return within(blocks, MAX_BYTES, "More was left out here: summary.csv and runs.csv hold every row.")
