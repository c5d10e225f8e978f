"""Markdown for a job summary, a comment or an issue, below the size that GitHub takes."""

from collections.abc import Iterable, Iterator, Sequence

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.layer_text import LayerText
from report.analysis.runtimes import RuntimeResults
from report.analysis.summary import Summary
from report.base.errors import one_line
from report.base.format import plural
from report.base.markdown import code, prose, table, within
from report.results.audit import BROKEN, FAILED, Audit
from report.results.records import Check
from report.sections import audit as audits
from report.sections.boundary import promises
from report.sections.cost import DEFAULT_RATE, cost_of
from report.sections.faults import faults
from report.sections.first_screen import (
    FIRST_ROW,
    DecisionRow,
    base_text,
    control_row,
    decision_cells,
    page_heading,
)
from report.sections.forest import forest_lines, forests
from report.sections.notices import campaign_notices
from report.sections.printed_programs import load_program_sentences, store_sentences
from report.sections.recommendation import Recommendation, recommend
from report.sections.script_text import mode_text
from report.sections.section import Section, Table, TableRow
from report.sections.spread_text import marks_note
from report.sections.thresholds import thresholds

#: GitHub refuses a comment of 65,536 characters and more.
MAX_BYTES = 60_000

Block = list[str]


def _bullets(lines: Iterable[str], *above: str) -> Block:
    """Lines that are Markdown already, as a list; nothing without any."""
    listed = [f"- {line}" for line in lines]
    return [*above, "", *listed] if above and listed else listed


def _written(blocks: Iterable[Block], more: str) -> str:
    return within([block for block in blocks if block], MAX_BYTES, more)


def _section_row(row: TableRow, shown: Table) -> list[str]:
    kept = [cell for cell, column in zip(row.cells, shown.columns, strict=False) if not column.raw]
    name, *others = kept
    texts = [code(name.text), *(prose(cell.plain) for cell in others)]
    if row.reason:
        texts = [*texts[: row.kept], prose(row.reason)]
    wanted = sum(not column.raw for column in shown.columns)
    return [*texts, *[""] * (wanted - len(texts))]


def section_blocks(section: Section) -> Iterator[Block]:
    """Any section of the report."""
    yield [f"### {prose(section.title)}"]
    if section.answer:
        yield [prose(section.answer)]
    for shown in section.tables:
        if shown.title:
            yield [f"#### {prose(shown.title)}"]
        columns = [column for column in shown.columns if not column.raw]
        headers = [prose(", ".join(filter(None, (column.name, column.unit)))) for column in columns]
        first = next((index for index, each in enumerate(columns) if "number" in each.kind), len(columns))
        for group in shown.groups:
            heading = prose(": ".join(filter(None, (group.heading, group.hint))))
            lines = table(headers, [_section_row(row, shown) for row in group.rows], first)
            yield [heading, "", *lines] if heading else lines
    for note in section.notes:
        yield [prose(note)]


def _decision_row(row: DecisionRow, summary: Summary) -> list[str]:
    label = code(row.label)
    verdict = "" if summary.verdict == "valid" else summary.verdict
    return [
        f"**{label}**" if row.best else label,
        *(each.plain for each in (row.throughput, row.p99, row.cpu, row.store_cpu)),
        row.ratio,
        row.cpu_ratio,
        f"{summary.valid_runs} of {len(summary.runs) + len(summary.missing)}",
        ", ".join(filter(None, (row.status, row.outcome, verdict))) or "–",
    ]


def _decision_table(
    rows: Sequence[DecisionRow], summaries: Sequence[Summary], text: LayerText, base: str = FIRST_ROW
) -> Block:
    by_id = {summary.id: summary for summary in summaries}
    at_a_rate = any(summary.identity.open_loop for summary in summaries)
    headers = (
        "Target",
        text.rate_unit.capitalize(),
        f"p99, {text.latency_unit}",
        f"{text.cpu_title}, {text.cpu_unit}",
        f"Store CPU, {text.cpu_unit}",
        f"{'p99' if at_a_rate else 'Throughput'} to {base}",
        f"CPU to {base}",
        "Runs that count",
        "Conclusion",
    )
    return table(headers, [_decision_row(row, by_id[row.summary_id]) for row in rows], 1)


def _cell(cell: Cell, layer_named: bool) -> Iterator[Block]:
    """The heading, each ranking's sentence and table, and the controls."""
    (shown,) = decision_cells([cell], layer_named)
    yield [f"### {prose(shown.title)}"]
    for ranking, group in zip(cell.rankings, shown.groups, strict=True):
        store = "On a store that is not known" if ranking.store is None else f"On {code(ranking.store)}"
        already = " that already ran" if ranking.group.external else ""
        parts = (f"{store}{already}", prose(ranking.decider_text), prose(mode_text(ranking)))
        heading = f"{', '.join(filter(None, parts))}. {prose(group.sentence)}"
        lines = _decision_table(group.rows, ranking.summaries, cell.text, base_text([ranking]))
        yield [heading, "", *lines]
    if cell.controls:
        rows = (*shown.controls, *shown.copies)
        yield ["Controls, not ranked:", "", *_decision_table(rows, cell.controls, cell.text, shown.base_text)]
    marks = marks_note([figure for row in shown.rows for figure in (row.throughput, row.p99, row.cpu)])
    servers = f"{cell.text.cpu_title} is that of all servers together." if cell.identity.servers > 1 else ""
    notes = ["Figures of the median run, in brackets the range of its runs.", servers, marks]
    yield [" ".join(filter(None, notes))]


def _runtime(runtime: RuntimeResults) -> Iterator[Block]:
    name = f"Runtime {code(runtime.runtime)}" if runtime.runtime else ""
    title = ", ".join(filter(None, (name, runtime.layer if name else runtime.layer.capitalize())))
    if title:
        yield [f"## {title}"]
    if not runtime.cells:
        rows = [control_row(row, runtime.text) for row in runtime.controls]
        yield _decision_table(rows, runtime.controls, runtime.text)
    for cell in runtime.cells:
        yield from _cell(cell, bool(runtime.layer))


def _recommendation(recommended: Recommendation) -> Iterator[Block]:
    yield _bullets(prose(line.text) for line in recommended.lines)
    if recommended.decide:
        yield [prose(recommended.decide)]
    if recommended.command:
        yield ["```bash", one_line(recommended.command, 2000), "```"]
    yield _bullets((prose(line.text) for line in recommended.caveats), "What these figures do not tell:")


def _troubles(summaries: Sequence[Summary]) -> Block:
    holes = [(row, row.no_figures_reason) for row in summaries if row.no_figures_reason]
    outcomes = [(row, run.outcome_text) for row in summaries for run in row.runs if run.outcome_text]
    reasons = [
        (row, f"{reason.rule}: {reason.text}")
        for row in summaries
        if not row.no_figures_reason
        for run in row.runs
        for reason in run.reasons
    ]
    lines = [f"{code(row.identity.label)}: {prose(text)}" for row, text in (*holes, *outcomes, *reasons)]
    return _bullets(dict.fromkeys(lines), "### Runs that are not plainly valid")


def summary_markdown(analysis: Analysis, at_rate: float = DEFAULT_RATE) -> str:
    """The answer, at most 60 kB. If it is longer, its end is left out, with a note."""
    campaign, summaries = analysis.campaign, analysis.summaries
    manifest = campaign.manifest
    where = ""
    if manifest:
        machine = manifest["machine"]
        where = (
            f", {prose(manifest['started_at'][:10])}, {prose(machine['cpu_model'])}, "
            f"{plural(machine['cpus'], 'core')}, runtime {prose(manifest['runtime']['id'])}"
        )
    head = (
        f"Campaign {code(campaign.name)}{where}. {plural(analysis.row_count, 'configuration')}, "
        f"{plural(len(campaign.runs) + len(campaign.operations) + len(campaign.fault_runs), 'run')}. "
        "Figures of the median runs."
    )
    programs = load_program_sentences(analysis.load_programs)
    printed = [*store_sentences(analysis.store_operations), *programs]
    recommended = recommend(analysis) if summaries else None
    cost = cost_of(analysis, at_rate)
    sections = (thresholds(analysis), promises(summaries), faults(analysis))
    blocks = [
        [f"## {page_heading(analysis)}"],
        [f"**{prose(recommended.lead)}**"] if recommended else [],
        *(["```text", *forest_lines(forest), "```"] for forest in forests(analysis)),
        [prose(cost.sentence)] if cost else [],
        [head],
        *(block for runtime in analysis.runtimes for block in _runtime(runtime)),
        # What is above it is the summary of a job.
        ["<!-- details -->"],
        *(_recommendation(recommended) if recommended else ()),
        _bullets(map(prose, printed)),
        _bullets(map(prose, campaign_notices(campaign))),
        *(block for section in sections if section for block in section_blocks(section)),
        _troubles(summaries),
    ]
    return _written(blocks, "More was left out here: summary.csv and runs.csv hold every row.")


def _audit_check(audit: Audit, check: Check) -> Block:
    lines = []
    for detail in audits.details(audit, check):
        finding = detail.finding
        if finding.status not in (BROKEN, FAILED):
            continue
        told = (
            f": not checked: {prose(finding.reason)}"
            if finding.reason
            else f", {prose(finding.limits)}: promised {prose(finding.promised)}; seen {prose(finding.seen)}"
        )
        lines.append(code(detail.label) + told)
    return _bullets(lines, f"### {prose(check.title)}", "", prose(check.promise))


def audit_markdown(audit: Audit) -> str:
    """Promises that hold stand in the table alone."""
    cells = [
        [
            code(row.target.label),
            *(f"**{cell.mark}**" if cell.status == BROKEN else cell.mark for cell in row.cells),
        ]
        for row in audits.rows(audit)
    ]
    headers = ("Target", *(prose(check.title) for check in audit.checks))
    skips = (f"{code(asked)}: {prose(reason)}" for asked, reason in audit.skips)
    blocks = [
        [f"## {audits.sentence(audit)}"],
        [f"Audit {code(audit.name)}, {prose(audit.started_at[:10])}, runtime {prose(audit.runtime)}."],
        table(headers, cells, len(headers)),
        ["✓ holds · ✗ broken · – skipped, or does not apply · ? could not be checked"],
        *(_audit_check(audit, check) for check in audit.checks),
        _bullets(skips, "### Targets that were not audited"),
    ]
    return _written(blocks, "The rest is left out: see audit.json.")
