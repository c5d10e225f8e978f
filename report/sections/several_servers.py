"""Several servers, as a table for people and as plain data for programs."""

from collections.abc import Callable

from report.analysis.campaign_analysis import Analysis
from report.analysis.comparison_text import interval_of
from report.analysis.figures import Figure, server_cpu, throughput
from report.analysis.several_servers import (
    AddedServer,
    FirstSecond,
    ServerScaling,
    ServerStep,
    all_ready_s,
    fairness,
    least_to_most,
    store_cpu_per_consume,
)
from report.base.format import ABSENT, decimals, microseconds, milliseconds, plural, rate
from report.sections.section import Section, TableCell, TableRow, numbers, table_of, words
from report.sections.spread_text import SUSPECT, SUSPECT_MARK, suspect_marks
from report.statistics.decision import Comparison
from report.statistics.power import MIN_RUNS_FOR_A_CLAIM

#: Columns after the number of servers, with their units.
COLUMNS = (
    ("Throughput", "requests/s"),
    ("Of linear", "per server, to the fewest"),
    ("Each added server", "of one before it"),
    ("Server CPU", "µs/request"),
    ("to the fewest", ""),
    ("Store CPU", "µs/consume"),
    ("to the fewest", ""),
    ("Fairness", "Jain’s index"),
    ("Fewest to most answers", "of a server"),
    ("All ready after", "s"),
    ("First second", "of the rest"),
)

NOTE = (
    "The servers share one store, and the connections are spread evenly over them. Figures are those of the "
    "median runs, with the range of the runs that served their load; ratios are those of all runs, with "
    "their 95 % interval. Of linear: the throughput of one server, to that of one server where there were "
    "the fewest; 1.00× is linear growth. Each added server: what it brings, as a share of what a server gave "
    "at the number before. Fairness: answers by the servers’ own counts; 1 is even. All ready after: all "
    "start at once. First second: of the window, after the warm-up; with --warmup 0 it is the cold start of "
    f"all at once. Below {MIN_RUNS_FOR_A_CLAIM} runs of each nothing is tested. {SUSPECT_MARK} {SUSPECT}."
)


def _three(value: float | None) -> str:
    return decimals(value, 3)


def _seconds(value: float | None) -> str:
    return decimals(value, 2)


def _cell(step: ServerStep, figure: Figure, show: Callable[[float | None], str]) -> TableCell:
    figures, span = step.summary.figures, step.summary.range_of(figure)
    marks = "".join(mark for mark, _ in suspect_marks(step.summary))
    return TableCell(
        f"{show(figure(figures) if figures else None)}{marks}",
        range=f"{show(span[0])}–{show(span[1])}" if span else "",
        kind="number",
    )


def _text(text: str) -> TableCell:
    return TableCell(text, kind="number")


def _ratio_text(comparison: Comparison | None, words: dict[str, str]) -> str:
    text = interval_of(comparison) if comparison else ""
    if comparison is None or not text:
        return ABSENT
    return ", ".join(filter(None, [text, words.get(comparison.status, "")]))


_LINEAR = {"worse": "below linear", "better": "above linear", "no difference": "linear"}
_COST = {"worse": "dearer", "better": "cheaper", "no difference": "no difference"}


def _added_text(added: AddedServer | None) -> str:
    if added is None:
        return ABSENT
    interval = "" if added.low is None or added.high is None else f"{added.low:.2f} to {added.high:.2f}"
    return ", ".join(filter(None, [f"{added.estimate:.2f}", interval]))


def _first_second_text(found: FirstSecond | None) -> str:
    if found is None:
        return ABSENT
    interval = found.throughput.interval
    ratio = f"{found.throughput.estimate:.2f}×"
    return f"{ratio}, {interval.low:.2f}–{interval.high:.2f}×" if interval else ratio


def _first_second_cell(found: FirstSecond | None) -> TableCell:
    text = _first_second_text(found)
    if found is None or found.p99_ms is None or found.rest_p99_ms is None:
        return _text(text)
    return TableCell(
        text,
        kind="number",
        range=f"p99 {milliseconds(found.p99_ms)} ms, then {milliseconds(found.rest_p99_ms)} ms",
    )


def _row(step: ServerStep) -> TableRow:
    summary = step.summary
    limit = summary.figures.record.limited_by if summary.figures else None
    cells = (
        TableCell(plural(step.servers, "server")),
        _cell(step, throughput, rate),
        _text(_ratio_text(step.of_linear, _LINEAR)),
        _text(_added_text(step.added)),
        _cell(step, server_cpu, microseconds),
        _text(_ratio_text(step.server_cpu, _COST)),
        _cell(step, store_cpu_per_consume, microseconds),
        _text(_ratio_text(step.store_cpu, _COST)),
        _cell(step, fairness, _three),
        _cell(step, least_to_most, _three),
        _cell(step, all_ready_s, _seconds),
        _first_second_cell(step.first_second),
        TableCell(limit.resource if limit else ABSENT),
    )
    return TableRow(summary.id, cells, summary.no_figures_reason)


def scaling_sentence(found: ServerScaling) -> str:
    first, last = found.steps[0], found.steps[-1]
    comparison, figures = last.of_linear, last.summary.figures
    limit = figures.record.limited_by if figures else None
    limited = f" It was limited by: {limit.resource} ({limit.text})." if limit else ""
    if comparison is None or not interval_of(comparison):
        return f"How {found.name} grows is not known: it takes two runs of each that count."
    from_to = f"from {plural(first.servers, 'server')} to {last.servers}"
    shown = {
        "worse": "its throughput grows less than the servers",
        "better": "its throughput grows more than the servers",
        "no difference": "its throughput grows as the servers do",
    }.get(comparison.status, "whether its throughput grows as the servers do is not decided")
    return (
        f"{found.name}, {from_to}: {shown}; each of the {last.servers} gives {interval_of(comparison)} of "
        f"what a server gave.{limited}"
    )


def several_servers(analysis: Analysis) -> Section | None:
    found = analysis.server_scalings
    if not found:
        return None
    columns = (*words("Servers"), *numbers(COLUMNS, "number"), *words("Limited by"))
    tables = tuple(
        table_of(
            f"several-servers-{index}",
            columns,
            map(_row, each.steps),
            each.name,
            caption=scaling_sentence(each),
        )
        for index, each in enumerate(found, start=1)
    )
    return Section(
        "several-servers", "Several servers", text=(NOTE,), tables=tables, charts=("scaling",), open=True
    )
