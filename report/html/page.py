"""The page of one campaign, and that of an audit."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import RuntimeResults
from report.analysis.host_cpus import cpus_sentence
from report.analysis.machines import all_runs
from report.analysis.summary import Summary
from report.analysis.texts import by_loop, shared_load_text
from report.base.paths import STATIC
from report.charts.all_charts import CHARTS
from report.charts.chart_data import chart_data_of
from report.charts.colours import CONTROL_COLOUR, DARK, client_colours
from report.charts.fault_strips import fault_charts
from report.charts.layout import Chart
from report.charts.line_picture import line_pictures
from report.html.template import CHART_SCRIPTS, render_template
from report.results.generated.records import Audit
from report.sections import audit as audits
from report.sections.all_sections import sections_of
from report.sections.decision_table import (
    DecisionCell,
    DecisionRow,
    base_text,
    decision_cells,
    decision_row,
    figure_names,
)
from report.sections.environment import campaign_notices, external_notices, machine_picture
from report.sections.faults import fault_headlines
from report.sections.figure_cells import marks_note
from report.sections.filters import ANY_VALUE, CHIPS, filter_values, row_values, rows_named
from report.sections.forest import forests
from report.sections.headings import node_texts, page_heading
from report.sections.load_curve import CURVE_CHARTS
from report.sections.printed_programs import load_program_sentences, store_sentences
from report.sections.recommendation import recommend
from report.sections.rules import named_rules
from report.sections.trace import limited_text

_CONTROLS = "Controls: what the harness itself can do, not ranked"


def _decisions_by_runtime(
    analysis: Analysis,
) -> Sequence[tuple[RuntimeResults, Sequence[DecisionCell]]]:
    return [
        (runtime, decision_cells(runtime.cells, bool(runtime.layer)))
        for runtime in analysis.runtimes
    ]


def _decision_tables(
    parts: Sequence[tuple[RuntimeResults, Sequence[DecisionCell]]],
) -> Iterator[dict[str, Any]]:
    """The tables of the first screen. Capacity and latency at a rate have separate ones (rule
    M4)."""
    has_titles = len({cell.title for _, cells in parts for cell in cells}) > 1
    for runtime, cells in parts:
        for open_loop in (False, True):
            cells_of_loop = [cell for cell in cells if cell.cell.identity.open_loop is open_loop]
            if cells_of_loop:
                yield _decision_table(runtime, cells_of_loop, open_loop, has_titles)
        for open_loop, controls in by_loop(() if cells else runtime.controls):
            yield _control_table(runtime, controls, open_loop)


def _decision_table(
    runtime: RuntimeResults,
    cells: Sequence[DecisionCell],
    open_loop: bool,
    has_titles: bool,
) -> dict[str, Any]:
    has_headings = has_titles or sum(len(cell.groups) for cell in cells) > 1
    # Each body has a heading, the id of the comparison that it links to, and rows.
    bodies: list[tuple[str, str, Sequence[DecisionRow]]] = []
    for cell in cells:
        for group in cell.groups:
            title = f"{cell.title}. " if has_titles and group is cell.groups[0] else ""
            heading = f"{title}{group.heading}" if has_headings else ""
            bodies.append((heading, f"{cell.cell.id}-title", group.rows))
        # Several cells under one load share their controls.
        if cell.controls and (_CONTROLS, "", cell.controls) not in bodies:
            bodies.append((_CONTROLS, "", cell.controls))
    base = base_text(ranking for cell in cells for ranking in cell.cell.rankings)
    heading = "" if has_headings else f"{cells[0].groups[0].heading}."
    ratio = f", and the ratio of CPU to {base}"
    return _table_parts(runtime, open_loop, bodies, heading, ratio)


def _control_table(
    runtime: RuntimeResults, controls: Sequence[Summary], open_loop: bool
) -> dict[str, Any]:
    """The table of a part of the campaign that measured only controls."""
    rows = tuple(decision_row(row, runtime.text) for row in controls)
    return _table_parts(runtime, open_loop, [(_CONTROLS, "", rows)])


def _table_parts(
    runtime: RuntimeResults,
    open_loop: bool,
    bodies: Sequence[tuple[str, str, Sequence[DecisionRow]]],
    heading: str = "",
    ratio: str = "",
) -> dict[str, Any]:
    has_several_servers = any(summary.identity.servers > 1 for summary in runtime.ordered)
    figures = [figure for _, _, rows in bodies for row in rows for figure in row.figures]
    texts = (
        f"{runtime.title}." if runtime.name else "",
        heading,
        f"Each figure is the median over the runs, in brackets their range{ratio}.",
        "Server CPU is that of all servers together." if has_several_servers else "",
        cpus_sentence(runtime.ordered),
        marks_note(figures),
    )
    table_id = f"{runtime.id}decision{'-at-rate' if open_loop else ''}"
    caption = " ".join(filter(None, texts))
    return {
        "id": table_id,
        "runtime": runtime,
        "open_loop": open_loop,
        "columns": figure_names(runtime.text, open_loop),
        "bodies": bodies,
        "caption": caption,
    }


Charts = dict[str, tuple[Chart, ...]]
"""Charts by the id under which sections name them, with one chart for each layer."""


def _drawn(analysis: Analysis) -> tuple[Charts, dict[str, dict[str, Any]], list[str]]:
    """The charts that have something to draw, their figures by id, and the ids of the strips of
    faults. Two layers never share a chart."""
    charts: Charts = {}
    figures = {}
    by_layer: dict[str, list[RuntimeResults]] = {}
    for runtime in analysis.runtimes:
        by_layer.setdefault(runtime.text.layer, []).append(runtime)
    for runtimes in by_layer.values():
        data = chart_data_of([(part.runtime, part.cells, part.controls) for part in runtimes])
        for chart in CHARTS:
            is_drawn = not analysis.only_memory or chart.id == "memory-per-key"
            if is_drawn and (figure := chart.build(data)) is not None:
                layer_chart = chart.worded(data.text, runtimes[0].layer)
                figures[layer_chart.id] = figure
                charts[chart.id] = (*charts.get(chart.id, ()), layer_chart)
    charts_of_faults = list(fault_charts(analysis.faults))
    for chart, figure, _ in charts_of_faults:
        figures[chart.id] = figure
        charts["fault"] = (*charts.get("fault", ()), chart)
    return charts, figures, [row for *_, rows in charts_of_faults for row in rows]


def _pictures(
    analysis: Analysis, charts: Charts, figures: Mapping[str, dict[str, Any]]
) -> dict[str, list[tuple[str, Markup]]]:
    """The charts of a load curve as SVG by their ids, for a page without scripts. Each view has a
    picture with its title."""
    if not analysis.load_curves:
        return {}
    # The content is made by `line_pictures`, which escapes every text.
    return {
        chart.id: [
            (picture.title, Markup(picture.svg(chart.title, **{"class": "picture"})))  # noqa: S704
            for picture in line_pictures(figures[chart.id])
        ]
        for name in CURVE_CHARTS
        for chart in charts.get(name, ())
    }


def _colours(summaries: Sequence[Summary]) -> dict[str, tuple[str, str]]:
    colours = client_colours(summaries)
    controls = {
        summary.identity.client: CONTROL_COLOUR for summary in summaries if summary.identity.control
    }
    return {client: (colour, DARK[colour]) for client, colour in (controls | colours).items()}


def render_page(
    analysis: Analysis,
    downloads: Sequence[str] = ("summary.csv", "runs.csv"),
) -> str:
    campaign = analysis.campaign
    ordered = analysis.ordered
    charts, figures, fault_rows = _drawn(analysis)
    manifest = campaign.manifest
    plan = manifest["plan"] if manifest else {}
    colours = _colours(ordered)
    parts = _decisions_by_runtime(analysis)
    return render_template(
        "page.html.j2",
        styles=(STATIC / "report.css",),
        scripts=CHART_SCRIPTS,
        data={
            "dark": DARK,
            "figures": figures,
            "rows": {
                **{summary.id: row_values(summary) for summary in ordered},
                **dict.fromkeys(fault_rows, ANY_VALUE),
            },
        },
        campaign=campaign,
        heading=page_heading(analysis),
        node_texts=node_texts(campaign),
        rules=named_rules([*campaign.counted, *campaign.beside]),
        manifest=manifest,
        downloads=downloads,
        recommendation=recommend(analysis) if ordered else None,
        margin=f"{100 * analysis.campaign.margin:.3g}",
        forests=forests(analysis),
        cells=[(runtime.name, cell) for runtime, decisions in parts for cell in decisions],
        # In a search of the highest rate, the figures at one of its rates decide nothing. A load
        # curve has a section with all of its rates.
        decision_tables=[]
        if analysis.max_rates or analysis.load_curves
        else list(_decision_tables(parts)),
        sections=[
            section
            for section in sections_of(analysis)
            if section.tables
            or section.lists
            or section.properties
            or section.notes
            or any(map(charts.get, section.charts))
        ],
        charts=charts,
        pictures=_pictures(analysis, charts, figures),
        filters=filter_values(ordered),
        chips=CHIPS,
        colours=colours,
        row_colours={summary.id: colours[summary.identity.client] for summary in ordered},
        common=shared_load_text(ordered) if ordered else "",
        only_memory=analysis.only_memory,
        run_count=len(all_runs(campaign)),
        row_count=analysis.row_count,
        has_rows=bool(ordered),
        printed=[
            *store_sentences(analysis.store_operations),
            *load_program_sentences(analysis.load_programs),
            *fault_headlines(analysis.faults),
        ],
        machine_picture=machine_picture(campaign),
        external=[*campaign_notices(campaign), *external_notices(ordered)],
        notes=[(note, rows_named(note, ordered)) for note in plan.get("notes", [])],
        skips=plan.get("skips", []),
        sources=plan.get("sources", []),
        limited=limited_text(ordered),
    )


def audit_page(audit: Audit) -> str:
    """The page of an audit: a table of targets by checks, and what was promised and seen."""
    return render_template(
        "audit.html.j2",
        styles=(STATIC / "audit.css",),
        audit=audit,
        answer=audits.sentence(audit),
        rows=audits.rows(audit),
        details=[
            (check, audits.is_promised(audit, check), audits.details(audit, check))
            for check in audit.checks
        ],
        connection=lambda cell: audits.connection(audit, cell),
        marks=audits.MARKS,
        versions=[
            ("ratelimit-bench", audit.harness),
            ("Node.js", audit.node),
            *sorted(audit.programs.items()),
        ],
    )
