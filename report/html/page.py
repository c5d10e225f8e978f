"""The page of one campaign."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from report.analysis.campaign_analysis import Analysis
from report.analysis.layer_text import LayerText, rate_units
from report.analysis.load_text import shared_load_text
from report.analysis.runtimes import RuntimeResults
from report.analysis.summary import Summary
from report.analysis.thresholds import Judgement
from report.base.paths import STATIC
from report.charts import arranged, memory_per_key
from report.charts.chart_data import CONTROL_COLOUR, chart_data_of, client_colours
from report.charts.fault_strips import fault_charts
from report.charts.layout import DARK, Chart
from report.html.template import CHART_SCRIPTS, render_template
from report.sections.adaptive import adaptive_of
from report.sections.best_performers import best_works
from report.sections.boundary import CAPTION as PROMISES_CAPTION
from report.sections.boundary import promise_rows
from report.sections.decision_cpu import decision_cpu_table
from report.sections.diagnosis import diagnosis_table
from report.sections.environment import campaign_facts, external_notices, machine_facts, version_facts
from report.sections.failures import failures
from report.sections.faults import COLUMNS as FAULT_COLUMNS
from report.sections.faults import NOTE as FAULT_NOTE
from report.sections.faults import TITLE as FAULT_TITLE
from report.sections.faults import fault_section
from report.sections.filters import ANY_VALUE, CHIPS, filter_values, row_values, rows_named
from report.sections.first_screen import FIRST_ROW, DecisionCell, DecisionRow, control_row, decision_cells
from report.sections.latency_at_rate import RateTable, rate_tables
from report.sections.load_programs import PROGRAM_COLUMNS, load_program_section
from report.sections.machines import link_facts, machine_picture, machines_facts
from report.sections.max_rate import max_rate_tables
from report.sections.memory_per_key import COLUMNS as MEMORY_COLUMNS
from report.sections.memory_per_key import NOTE as MEMORY_NOTE
from report.sections.memory_per_key import memory_table
from report.sections.notices import campaign_notices
from report.sections.problems import problems
from report.sections.recommendation import recommend
from report.sections.resources import resource_columns, resource_rows
from report.sections.runs import run_rows
from report.sections.script_calls import script_rows
from report.sections.several_servers import COLUMNS as SERVER_COLUMNS
from report.sections.several_servers import NOTE as SERVER_NOTE
from report.sections.several_servers import server_tables
from report.sections.spread_text import marks_note
from report.sections.store_operations import FIGURE_COLUMNS, store_section
from report.sections.tables import Table, result_tables


@dataclass(frozen=True, slots=True)
class DecisionTable:
    """A table of the first screen."""

    id: str
    open_loop: bool
    cells: tuple[DecisionCell, ...]
    controls: tuple[DecisionRow, ...]
    """Where there is no client: else they stand under their cells."""

    @property
    def rows(self) -> list[DecisionRow]:
        return [*(row for cell in self.cells for row in cell.rows), *self.controls]

    @property
    def base_text(self) -> str:
        """What its ratios are to."""
        return ", or ".join(dict.fromkeys(cell.base_text for cell in self.cells)) or FIRST_ROW

    @property
    def marks(self) -> str:
        """What the marks on its figures mean."""
        return marks_note([figure for row in self.rows for figure in (row.throughput, row.p99, row.cpu)])


@dataclass(frozen=True, slots=True)
class Section:
    """The part of the page about one layer in one runtime."""

    id: str
    name: str
    title: str
    text: LayerText
    several_servers: bool
    ids: str
    """Of its rows, with a space between."""
    cells: tuple[DecisionCell, ...]
    decision_tables: tuple[DecisionTable, ...]
    """The tables of the first screen: capacity and latency at a rate apart (rule M4)."""
    rate_tables: tuple[RateTable, ...]
    tables: tuple[Table, ...]


def _decision_tables(runtime: RuntimeResults, found: Sequence[DecisionCell]) -> tuple[DecisionTable, ...]:
    if not found:
        controls = tuple(control_row(control, runtime.text) for control in runtime.controls)
        return (DecisionTable(f"{runtime.id}decision", False, (), controls),)
    kinds = [(loop, tuple(each for each in found if each.open_loop is loop)) for loop in (False, True)]
    return tuple(
        DecisionTable(f"{runtime.id}decision{'-at-rate' if loop else ''}", loop, members, ())
        for loop, members in kinds
        if members
    )


def _section(runtime: RuntimeResults, search: bool) -> Section:
    """`search`: the campaign looked for the highest rate; figures at each of its rates do not decide."""
    layer_named = bool(runtime.layer)
    found = decision_cells(runtime.cells, layer_named)
    return Section(
        id=runtime.id,
        name=runtime.name,
        title=runtime.title,
        text=runtime.text,
        several_servers=any(summary.identity.servers > 1 for summary in runtime.ordered),
        ids=" ".join(summary.id for summary in runtime.ordered),
        cells=found,
        decision_tables=() if search else _decision_tables(runtime, found),
        rate_tables=rate_tables(runtime.cells, layer_named),
        tables=result_tables(runtime.cells, runtime.controls, runtime.id, runtime.name, layer_named),
    )


@dataclass(frozen=True, slots=True)
class LayerCharts:
    """The charts of one layer; `figures` by the id of their chart. Two layers never share one."""

    open: tuple[Chart, ...]
    folded: tuple[Chart, ...]
    figures: dict[str, dict[str, Any]]


def _layer_charts(
    runtimes: Sequence[RuntimeResults], only: tuple[Chart, ...] | None
) -> tuple[LayerCharts, ...]:
    """By layer; `only` are the charts of a page that shows no others."""
    by_layer: dict[str, list[RuntimeResults]] = {}
    for runtime in runtimes:
        by_layer.setdefault(runtime.text.layer, []).append(runtime)
    return tuple(_charts_of(members, only) for members in by_layer.values())


def _charts_of(runtimes: Sequence[RuntimeResults], only: tuple[Chart, ...] | None) -> LayerCharts:
    """Of runtimes with the same layer. With several layers on the page, titles name theirs."""
    layer = runtimes[0].layer
    data = chart_data_of([(runtime.runtime, runtime.cells, runtime.controls) for runtime in runtimes])
    figures = {}

    def drawn(charts: Sequence[Chart]) -> tuple[Chart, ...]:
        found = []
        for chart in charts:
            figure = chart.build(data)
            if figure is not None:
                shown = chart.worded(data.text, layer)
                figures[shown.id] = figure
                found.append(shown)
        return tuple(found)

    measured = [
        each.identity for runtime in runtimes for each in runtime.ordered if not each.identity.control
    ]
    deciders = {identity.decided_by for identity in measured}
    chosen = (only, ()) if only is not None else arranged(len(deciders) > 1)
    opened, folded = (drawn(charts) for charts in chosen)
    return LayerCharts(opened, folded, figures)


def _colours(summaries: Sequence[Summary]) -> dict[str, tuple[str, str]]:
    """Light and dark colour by client."""
    found = client_colours(summaries)
    controls = {summary.identity.client: CONTROL_COLOUR for summary in summaries if summary.identity.control}
    return {client: (colour, DARK[colour]) for client, colour in (controls | found).items()}


def _ids_by_label(summaries: Sequence[Summary]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for summary in summaries:
        found.setdefault(summary.identity.label, []).append(summary.id)
    return found


def _in_page_order(analysis: Analysis) -> list[Judgement]:
    place = {summary.id: number for number, summary in enumerate(analysis.ordered)}
    return sorted(analysis.thresholds, key=lambda judgement: place[judgement.summary.id])


def page_heading(analysis: Analysis) -> str:
    """What the page is about, by what its rows differ in."""
    if analysis.only_memory:
        return "What a key takes in memory, by limiter"
    measured = [each.identity for each in analysis.summaries if not each.identity.control]
    if not measured and analysis.faults:
        return "What faults do to an API, by rate limiter"
    if not measured and analysis.store_operations:
        return "What operations cost, by store"
    limiters = {(each.decided_by, each.algorithm, each.limiter) for each in measured}
    return f"What rate limiting costs, by {'limiter' if len(limiters) > 1 else 'client'}"


def render_page(analysis: Analysis, downloads: Sequence[str] = ("summary.csv", "runs.csv")) -> str:
    """The whole page.

    Args:
        downloads: names of the files that stand beside the page.
    Raises:
        ReportError: exit code 3 when the chart library is not installed.
    """
    campaign, ordered = analysis.campaign, analysis.ordered
    charts = _layer_charts(analysis.runtimes, (memory_per_key.CHART,) if analysis.only_memory else None)
    strips = fault_charts(analysis.faults)
    manifest = campaign.manifest
    plan = manifest["plan"] if manifest else {}
    colours = _colours(ordered)
    return render_template(
        "page.html.j2",
        styles=(STATIC / "report.css",),
        scripts=CHART_SCRIPTS,
        data={
            "dark": DARK,
            "figures": {
                **{name: figure for layer in charts for name, figure in layer.figures.items()},
                **{each.chart.id: each.figure for each in strips},
            },
            "rows": {
                **{summary.id: row_values(summary) for summary in ordered},
                **{row: ANY_VALUE for each in strips for row in each.rows},
            },
        },
        campaign=campaign,
        heading=page_heading(analysis),
        manifest=manifest,
        downloads=downloads,
        recommendation=recommend(analysis) if ordered else None,
        store_operations=store_section(analysis.store_operations),
        operation_columns=FIGURE_COLUMNS,
        load_programs=load_program_section(analysis.load_programs),
        faults=fault_section(analysis.faults),
        fault_title=FAULT_TITLE,
        fault_note=FAULT_NOTE,
        fault_columns=FAULT_COLUMNS,
        fault_charts=[each.chart for each in strips],
        program_columns=PROGRAM_COLUMNS,
        sections=[_section(runtime, bool(analysis.max_rates)) for runtime in analysis.runtimes],
        open_charts=[chart for layer in charts for chart in layer.open],
        folded_charts=[chart for layer in charts for chart in layer.folded],
        undrawn=[summary.id for summary in ordered if not summary.figures],
        rate_units=rate_units(ordered),
        filters=filter_values(ordered),
        chips=CHIPS,
        colours=colours,
        row_colours={summary.id: colours[summary.identity.client] for summary in ordered},
        common=shared_load_text(ordered) if ordered else "",
        adaptive=adaptive_of(analysis),
        max_rates=max_rate_tables(analysis.max_rates),
        promises=promise_rows(ordered),
        promises_caption=PROMISES_CAPTION,
        several_servers=server_tables(analysis.server_scalings),
        several_servers_columns=SERVER_COLUMNS,
        several_servers_note=SERVER_NOTE,
        thresholds=_in_page_order(analysis),
        best_works=best_works(analysis),
        decision_cpu=decision_cpu_table(analysis),
        diagnosis=diagnosis_table(analysis),
        resources=resource_rows(ordered),
        resource_columns=resource_columns(ordered),
        memory=memory_table(analysis.memory),
        only_memory=analysis.only_memory,
        memory_columns=MEMORY_COLUMNS,
        memory_note=MEMORY_NOTE,
        memory_left_out=[
            f"Left out: {row.identity.label}, {text}." for row in analysis.memory for text in row.left_out
        ],
        failures=failures(ordered),
        problems=problems(ordered),
        runs=run_rows(ordered),
        run_count=len(campaign.runs)
        + len(campaign.operations)
        + len(campaign.diagnoses)
        + len(campaign.fault_runs),
        row_count=analysis.row_count,
        has_rows=bool(ordered),
        machine=machine_facts(campaign, ordered),
        facts=campaign_facts(campaign),
        machine_picture=machine_picture(campaign),
        machines_facts=[*machines_facts(campaign), *link_facts(campaign)],
        versions=version_facts(ordered),
        label_rows=_ids_by_label(ordered),
        scripts_ran=script_rows(ordered),
        external=[*campaign_notices(campaign), *external_notices(ordered)],
        notes=[(note, rows_named(note, ordered)) for note in plan.get("notes", [])],
        skips=plan.get("skips", []),
        conditions=manifest["conditions"] if manifest else [],
        not_applicable=sorted({entry for run in campaign.runs for entry in run.not_applicable}),
    )
