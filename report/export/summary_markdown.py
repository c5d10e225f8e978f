"""Makes summary.md, which fits into a job summary or a comment on GitHub, and the Markdown of any
section of the report."""

from collections.abc import Iterable, Iterator, Sequence

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell, RuntimeResults
from report.analysis.host_cpus import cpus_sentence
from report.analysis.summary import Summary
from report.analysis.texts import LayerText, by_loop
from report.base.errors import one_line
from report.base.format import plural
from report.base.markdown import code, prose, table, within
from report.sections.boundary import promises
from report.sections.decision_table import (
    FIRST_ROW,
    DecisionRow,
    base_text,
    decision_cells,
    decision_row,
    figure_names,
)
from report.sections.environment import campaign_notices
from report.sections.faults import fault_headlines, faults
from report.sections.figure_cells import marks_note
from report.sections.forest import forests
from report.sections.headings import node_texts, page_heading
from report.sections.load_curve import load_curve
from report.sections.printed_programs import load_program_sentences, store_sentences
from report.sections.recommendation import Recommendation, recommend
from report.sections.run_cells import reasons_of_round, round_reasons
from report.sections.screen_text import forest_lines
from report.sections.section import Section, Table, TableRow
from report.sections.thresholds import thresholds
from report.sections.trace import limited_text

#: GitHub refuses comments of 65,536 characters and more.
MAX_BYTES = 60_000


def _row_cells(row: TableRow, section_table: Table) -> list[str]:
    name_cell, *figure_cells = [
        cell
        for cell, column in zip(row.cells, section_table.columns, strict=False)
        if not column.raw
    ]
    texts = [code(name_cell.text), *(prose(cell.plain) for cell in figure_cells)]
    if row.reason:
        texts = [*texts[: row.kept], prose(row.reason)]

    column_count = sum(not column.raw for column in section_table.columns)
    return [*texts, *[""] * (column_count - len(texts))]


def section_blocks(section: Section) -> Iterator[list[str]]:
    yield [f"### {prose(section.title)}"]
    if section.answer:
        yield [prose(section.answer)]

    for section_table in section.tables:
        if section_table.title:
            yield [f"#### {prose(section_table.title)}"]

        columns = [column for column in section_table.columns if not column.raw]
        headers = [prose(", ".join(filter(None, (column.name, column.unit)))) for column in columns]
        first_number = next(
            (index for index, column in enumerate(columns) if "number" in column.kind), len(columns)
        )
        for group in section_table.groups:
            heading = prose(": ".join(filter(None, (group.heading, group.hint))))
            rows = [_row_cells(row, section_table) for row in group.rows]
            lines = table(headers, rows, first_number)
            yield [heading, "", *lines] if heading else lines

    for note in section.notes:
        yield [prose(note)]


def _cells(row: DecisionRow) -> list[str]:
    label = code(row.summary.identity.short_label)
    summary = row.summary
    verdict = row.verdict if row.verdict != "valid" else ""
    return [
        f"**{label}**" if row.best else label,
        *(figure.plain for figure in row.figures),
        row.ratio,
        row.cpu_ratio,
        row.limit.plain,
        summary.counted_text,
        ", ".join(filter(None, (row.conclusion, summary.spoiled_text, verdict))) or "–",
    ]


def _table(rows: Sequence[DecisionRow], text: LayerText, base: str = FIRST_ROW) -> list[str]:
    at_a_rate = any(row.summary.identity.open_loop for row in rows)
    headers = (
        "Target",
        *(", ".join(filter(None, name)) for name in figure_names(text, at_a_rate)),
        f"{'p99' if at_a_rate else 'Throughput'} to {base}",
        f"CPU to {base}",
        "Limited by",
        "Runs that count",
        "Conclusion",
    )
    return table(headers, list(map(_cells, rows)), 1)


def cell_blocks(cell: Cell, layer_named: bool = False) -> list[list[str]]:
    """Blocks of lines with the heading, the sentence and table of each ranking, and the
    controls."""
    (decision_cell,) = decision_cells([cell], layer_named)
    blocks = [[f"### {prose(decision_cell.title)}"]]
    for ranking, group in zip(cell.rankings, decision_cell.groups, strict=True):
        rows = _table(group.rows, cell.text, base_text([ranking]))
        blocks.append([f"{prose(group.heading)}. {prose(group.sentence)}", "", *rows])
    if decision_cell.controls:
        rows = _table(decision_cell.controls, cell.text, base_text(cell.rankings))
        blocks.append(["Controls, not ranked:", "", *rows])

    marks = marks_note(figure for row in decision_cell.rows for figure in row.figures)
    servers = (
        f"{cell.text.cpu_title} is that of all servers together."
        if cell.identity.servers > 1
        else ""
    )
    notes = [
        "Each figure is the median over the runs, in brackets their range.",
        servers,
        cpus_sentence(row.summary for row in decision_cell.rows),
        marks,
    ]
    warnings = [prose(warning.text) for warning in decision_cell.warnings]
    return [*blocks, [" ".join(filter(None, notes))], _bullets(warnings)]


def _bullets(lines: Iterable[str], heading: str = "") -> list[str]:
    """A list of lines that are Markdown already. Without lines it has no heading either."""
    bullets = [f"- {line}" for line in lines]
    return [heading, "", *bullets] if heading and bullets else bullets


def _recommendation(recommended: Recommendation) -> list[list[str]]:
    return [
        _bullets(prose(line.text) for line in recommended.lines),
        [prose(recommended.decide)] if recommended.decide else [],
        ["```bash", one_line(recommended.command, 2000), "```"] if recommended.command else [],
        _bullets(
            (prose(line.text) for line in recommended.caveats), "What these figures do not tell:"
        ),
    ]


def _runtime_blocks(runtime: RuntimeResults) -> list[list[str]]:
    names = (
        [f"Runtime {code(runtime.runtime)}", runtime.layer] if runtime.runtime else [runtime.name]
    )
    heading = [[f"## {', '.join(filter(None, names))}"]] if runtime.name else []
    if not runtime.cells:
        tables = [
            _table([decision_row(row, runtime.text) for row in rows], runtime.text)
            for _, rows in by_loop(runtime.controls)
        ]
        return [*heading, *tables]

    return [
        *heading,
        *(block for cell in runtime.cells for block in cell_blocks(cell, bool(runtime.layer))),
    ]


def _run_problems(summaries: Sequence[Summary]) -> list[str]:
    rows_without_figures = [
        (row, row.no_figures_reason) for row in summaries if row.no_figures_reason
    ]
    outcomes = [
        (row, run.outcome_text) for row in summaries for run in row.runs if run.outcome_text
    ]
    runs = [(row, run) for row in summaries if not row.no_figures_reason for run in row.runs]
    reasons = [
        (row, f"{reason.rule}: {reason.text}")
        for row, run in runs
        for reason in run.reasons
        if reason not in reasons_of_round(run)
    ]
    lines = [
        f"{code(row.identity.label)}: {prose(text)}"
        for row, text in (*rows_without_figures, *outcomes, *reasons)
    ]
    lines += map(prose, round_reasons(run for row in summaries for run in row.runs))
    return _bullets(dict.fromkeys(lines), "### Runs that are not plainly valid")


def summary_markdown(analysis: Analysis) -> str:
    """The whole text. If it is longer than 60 kB, a note takes the place of its end."""
    campaign = analysis.campaign
    summaries = analysis.summaries
    manifest = campaign.manifest
    circumstances = ""
    if manifest:
        machine = manifest["machine"]
        circumstances = (
            f", {prose(manifest['started_at'][:10])}, {prose(machine['cpu_model'])}, "
            f"{plural(machine['cpus'], 'core')}, runtime {prose(manifest['runtime']['id'])}"
            f"{prose(', '.join(['', *node_texts(campaign)]))}"
        )
    head = (
        f"Campaign {code(campaign.name)}{circumstances}. {plural(analysis.row_count, 'configuration')}, "
        f"{plural(len(campaign.counted), 'run')}. Each figure is the median over its runs."
    )
    printed_sentences = (
        *store_sentences(analysis.store_operations),
        *load_program_sentences(analysis.load_programs),
    )
    recommended = recommend(analysis) if summaries else None
    pictures = map(forest_lines, forests(analysis))
    sections = (thresholds(analysis), promises(summaries), faults(analysis))
    curve = load_curve(analysis)
    blocks = [
        [f"## {page_heading(analysis)}"],
        [f"{prose(limited_text(summaries))}."] if limited_text(summaries) else [],
        [f"**{prose(recommended.lead)}**"] if recommended else [],
        *([f"**{prose(headline)}**"] for headline in fault_headlines(analysis.faults)),
        *(["```text", *lines, "```"] for lines in pictures),
        [head],
        *(section_blocks(curve) if curve else ()),
        *(block for runtime in analysis.runtimes for block in _runtime_blocks(runtime)),
        # The summary of a job ends here.
        ["<!-- details -->"],
        *(_recommendation(recommended) if recommended else []),
        _bullets(map(prose, printed_sentences)),
        _bullets(map(prose, campaign_notices(campaign))),
        *(block for section in sections if section for block in section_blocks(section)),
        _run_problems(summaries),
    ]
    note = "More was left out here: summary.csv and runs.csv hold every row."
    return within([block for block in blocks if block], MAX_BYTES, note)
