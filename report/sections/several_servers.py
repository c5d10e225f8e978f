"""Several servers, as a table for people and as plain data for programs."""

from collections.abc import Callable
from functools import partial

from report.analysis.campaign_analysis import Analysis
from report.analysis.server_counts import SCALING_FIGURES, ServerScaling, ServerStep
from report.analysis.texts import AT_FULL_LOAD, interval_of
from report.base.format import ABSENT, Show, decimals, microseconds, milliseconds, plural, rate
from report.sections.figure_cells import SUSPECT, limit_cell, suspect_marks
from report.sections.section import Section, TableCell, TableRow, numbers, table_of, words
from report.statistics.power import MIN_RUNS_FOR_A_CLAIM

NOTE = (
    "The servers share one store, and the connections are spread evenly over them. Each figure is the "
    "median over the runs, with the range of those that served their load; ratios are those of all runs, "
    "with their 95 % interval. Of linear: the throughput of one server, to that of one server where there "
    "were the fewest; 1.00× is linear growth. Each added server: what it brings, as a share of what a "
    "server gave at the number before. Fairness: answers by the servers’ own counts; 1 is even. All ready "
    "after: all start at once. First second: of the window, after the warm-up, its p99s in the selected "
    f"run; with --warmup 0 it is the cold start of all at once. Below {MIN_RUNS_FOR_A_CLAIM} runs of each "
    f"nothing is tested. {' '.join(SUSPECT)}."
)


def _figure(name: str, show: Show) -> Callable[[ServerStep], TableCell]:
    figure, _ = SCALING_FIGURES[name]

    def cell(step: ServerStep) -> TableCell:
        figure_summary = step.summary.figure_of(figure)
        marks = "".join(mark for mark, _ in suspect_marks(step.summary))
        return TableCell(
            f"{figure_summary.text(show)}{marks}",
            range=figure_summary.range_text(show),
            kind="number",
        )

    return cell


def _ratio(name: str) -> Callable[[ServerStep], TableCell]:
    def cell(step: ServerStep) -> TableCell:
        comparison = step.ratios.get(name)
        text = interval_of(comparison) if comparison else ""
        is_known = comparison is not None and comparison.status != "not decided"
        statement = comparison.statement if comparison and is_known and text else ""
        return TableCell(", ".join(filter(None, (text, statement))) or ABSENT, kind="number")

    return cell


def _added(step: ServerStep) -> TableCell:
    added = step.added
    if added is None:
        return TableCell(ABSENT, kind="number")
    interval = (
        "" if added.low is None or added.high is None else f", {added.low:.2f} to {added.high:.2f}"
    )
    return TableCell(f"{added.estimate:.2f}{interval}", kind="number")


def _first_second(step: ServerStep) -> TableCell:
    first_second = step.first_second
    if first_second is None:
        return TableCell(ABSENT, kind="number")
    interval = (
        ""
        if first_second.low is None or first_second.high is None
        else f", {first_second.low:.2f}–{first_second.high:.2f}×"
    )
    has_p99s = first_second.p99_ms is not None and first_second.rest_p99_ms is not None
    p99s = (
        f"p99 {milliseconds(first_second.p99_ms)} ms, then {milliseconds(first_second.rest_p99_ms)} ms"
        if has_p99s
        else ""
    )
    return TableCell(f"{first_second.ratio:.2f}×{interval}", kind="number", range=p99s)


_THREE = partial(decimals, digits=3)

#: The name, unit and cell of each column after the number of servers.
_COLUMNS: tuple[tuple[str, str, Callable[[ServerStep], TableCell]], ...] = (
    ("Throughput", "requests/s", _figure("requests_per_second", rate)),
    ("Of linear", "per server, to the fewest", _ratio("throughput_per_server")),
    ("Each added server", "of one before it", _added),
    (
        "Server CPU",
        f"µs/request {AT_FULL_LOAD}",
        _figure("server_cpu_us_per_request", microseconds),
    ),
    ("to the fewest", "", _ratio("server_cpu")),
    ("Store CPU", f"µs/consume {AT_FULL_LOAD}", _figure("store_cpu_us_per_consume", microseconds)),
    ("to the fewest", "", _ratio("store_cpu")),
    ("Fairness", "Jain’s index", _figure("fairness_index", _THREE)),
    ("Fewest to most answers", "of a server", _figure("fewest_to_most_answers", _THREE)),
    ("All ready after", "s", _figure("all_ready_s", partial(decimals, digits=2))),
    ("First second", "of the rest", _first_second),
)


def _row(step: ServerStep) -> TableRow:
    summary = step.summary
    figures = (cell(step) for _, _, cell in _COLUMNS)
    servers = TableCell(plural(step.servers, "server"))
    cells = (servers, *figures, limit_cell(summary))
    return TableRow(summary.id, cells, summary.no_figures_reason)


def scaling_sentence(scaling: ServerScaling) -> str:
    first = scaling.steps[0]
    last = scaling.steps[-1]
    comparison = last.ratios["throughput_per_server"]
    limit = last.summary.limit
    limited = f" It was limited by: {limit.words} (e.g. {limit.text})." if limit else ""
    if not interval_of(comparison):
        return f"How {scaling.name} grows is not known: it takes two runs of each that count."
    server_range = f"from {plural(first.servers, 'server')} to {last.servers}"
    growth = {
        "worse": "its throughput grows less than the servers",
        "better": "its throughput grows more than the servers",
        "no difference": "its throughput grows as the servers do",
    }.get(
        comparison.direction or comparison.status,
        "whether its throughput grows as the servers do is not decided",
    )
    return (
        f"{scaling.name}, {server_range}: {growth}; each of the {last.servers} gives "
        f"{interval_of(comparison)} of what a server gave.{limited}"
    )


def several_servers(analysis: Analysis) -> Section | None:
    scalings = analysis.server_scalings
    if not scalings:
        return None
    figures = numbers([(name, unit) for name, unit, _ in _COLUMNS], "number")
    columns = (*words("Servers"), *figures, *words("Limited by"))
    tables = []
    for index, scaling in enumerate(scalings, start=1):
        rows = map(_row, scaling.steps)
        caption = scaling_sentence(scaling)
        tables.append(
            table_of(f"several-servers-{index}", columns, rows, scaling.name, caption=caption)
        )
    title = "Several servers"
    charts = ("scaling",)
    return Section(
        "several-servers", title, text=(NOTE,), tables=tuple(tables), charts=charts, open=True
    )
