"""The list of all runs: the good, the bad, and those that left no file."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from urllib.parse import quote

from report.analysis.campaign_analysis import Analysis
from report.analysis.figures import Figure, figure_text, p50, percentile
from report.analysis.layer_text import layer_text, rate_units
from report.analysis.load_text import LoadField, load_text, varying_fields
from report.analysis.summary import Summary
from report.base.format import ABSENT, count, decimals, milliseconds, rate, share
from report.results.model import Measured, Run
from report.sections.section import (
    RAW,
    Section,
    TableCell,
    TableRow,
    exact,
    named,
    number,
    numbers,
    reasons_cell,
    sort_key,
    table_of,
    words,
)
from report.sections.spread_text import figure_marks

CAPTION = (
    "Every run that was planned or recorded, also invalid and missing ones, and those of rounds that were "
    "measured again. The median run of each configuration is marked. The verdict judges the measurement, "
    "the outcome what the target did with the load."
)
NO_FILE = "planned, but no result file was found"
_COLUMNS = (("p50", "ms"), ("p99", "ms"), ("Limited", "of answers"), ("Errors", "requests"), ("Warm-up", "s"))

#: What is said of a run in which the target did not serve its load, by its outcome.
SPOILED = {"failed": "failed its load", "overloaded": "overloaded"}


def link_cell(file: str) -> TableCell:
    """To a raw result; empty without a file."""
    return TableCell("JSON", link=quote(f"../{file}"), hint=f"Raw result {file}") if file else TableCell("")


def run_reasons(run: Run) -> tuple[str, ...]:
    told = filter(None, (run.failure, run.outcome_text))
    return (*told, *(f"{reason.rule}: {reason.text}" for reason in run.reasons))


def run_verdict(run: Run) -> TableCell:
    status = run.verdict if run.measured else run.status
    return TableCell(status, kind=f"verdict {status if run.measured else 'invalid'}")


def run_cells(run: Run, notes: Iterable[str] = ()) -> tuple[TableCell, ...]:
    """Its verdict, its reasons with `notes`, and its file."""
    return (run_verdict(run), reasons_cell((*run_reasons(run), *notes)), link_cell(run.file))


def _row(summary: Summary, number: int, run: Run | None, fields: Sequence[LoadField]) -> TableRow:
    """`run` is None for one that left no file."""
    identity, figures, told = summary.identity, run.measured if run else None, [NO_FILE]
    if run:
        aside = [f"in no figure: {run.set_aside}; begun {run.started_at}"] if run.set_aside else []
        told = [*aside, *run_reasons(run), *run.notes]
    script = figures.limiter_script.text if figures and figures.limiter_script else ABSENT
    cells = (
        *named(identity.label, script, load_text(identity, fields)),
        TableCell(
            f"{number}, set aside" if run and run.set_aside else f"{number}",
            tag="median" if run and summary.median is run else "",
        ),
        _number(run.requests_per_second if run else None, rate, layer_text(identity.layer).rate_unit),
        _latency(figures, p50),
        _latency(figures, percentile("p99")),
        _number(figures.limited_share if figures else None, share, "of 1"),
        _number(figures.errors_total if figures else None, count, "requests"),
        _warm_up(figures),
        run_verdict(run) if run else TableCell("missing", kind="verdict invalid"),
        _outcome(run),
        reasons_cell(told),
        link_cell(run.file if run else ""),
    )
    return TableRow(summary.id, cells, colour=summary.id)


def _latency(figures: Measured | None, figure: Figure) -> TableCell:
    if figures is None:
        return _number(None, milliseconds, "ms")
    value = figure(figures)
    return TableCell(
        figure_text(figures, figure, milliseconds),
        marks=figure_marks(figures, figure),
        kind="number",
        sort=sort_key(value),
        hint=exact(value, "ms") or ABSENT,
    )


def _warm_up(figures: Measured | None) -> TableCell:
    if figures is None:
        return TableCell(ABSENT, kind="number", sort="")
    warm_up = figures.warm_up
    steady = {True: ", steady at its end", False: ", not steady at its end", None: ""}[warm_up.steady]
    text = f"{decimals(warm_up.took_s, 1)}{' not steady' if warm_up.steady is False else ''}"
    hint = f"{count(warm_up.requests)} requests{steady}"
    return TableCell(text, kind="number", sort=sort_key(warm_up.took_s), hint=hint)


def _outcome(run: Run | None) -> TableCell:
    if run is None or run.outcome is None:
        return TableCell(ABSENT)
    kind = "verdict invalid" if run.spoiled else "verdict"
    return TableCell(SPOILED.get(run.outcome, run.outcome), kind=kind)


def _number(value: float | None, show: Callable[[float | None], str], unit: str) -> TableCell:
    return number(show(value), value, hint=exact(value, unit))


def all_runs(analysis: Analysis) -> Section | None:
    summaries = analysis.ordered
    if not summaries:
        return None
    fields = varying_fields(summaries)
    rows: list[TableRow] = []
    for summary in summaries:
        there = [(run.run, run) for run in (*summary.set_aside, *summary.runs)]
        found = sorted([*there, *((missing, None) for missing in summary.missing)], key=lambda each: each[0])
        rows.extend(_row(summary, number, run, fields) for number, run in found)
    columns = (
        *words("Configuration", "Script", "Load", "Run"),
        *numbers([("Throughput", rate_units(summaries))]),
        *numbers(_COLUMNS, "number"),
        *words("Verdict", "Outcome", "Reasons and notes"),
        RAW,
    )
    if analysis.only_memory:
        columns = (*columns[:4], *columns[7:])
        rows = [replace(row, cells=(*row.cells[:4], *row.cells[7:])) for row in rows]
    unusable = sorted({entry for run in analysis.campaign.runs for entry in run.not_applicable})
    notes = [f"Rule {rule} could not be applied: {text}." for rule, text in unusable]
    return Section(
        "runs",
        "All runs",
        counted=tuple(row.ids for row in rows),
        counted_as="runs",
        tables=(table_of("run-rows", columns, rows, caption=CAPTION, fold_rows=15),),
        notes=tuple(notes),
    )
