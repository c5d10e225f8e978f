"""The list of all runs: the good, the bad, and those that left no file."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from urllib.parse import quote

from report.analysis.campaign_analysis import Analysis
from report.analysis.figures import Figure, figure_text, p50, percentile
from report.analysis.layer_text import layer_text, rate_units
from report.analysis.load_text import LoadField, load_text, varying_fields
from report.analysis.summary import Summary
from report.base.format import ABSENT, count, decimals, milliseconds, rate, share
from report.results.model import Measured, Run, script_text
from report.sections.section import (
    RAW,
    Section,
    TableCell,
    TableRow,
    exact,
    link_cell,
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


def run_link(file: str) -> str:
    return quote(f"../{file}")


def run_reasons(run: Run) -> tuple[str, ...]:
    told = filter(None, (run.failure, run.outcome_text))
    return (*told, *(f"{reason.rule}: {reason.text}" for reason in run.reasons))


def run_verdict(run: Run) -> TableCell:
    status = run.verdict if run.measured else run.record.status
    return TableCell(status, kind=f"verdict {status if run.measured else 'invalid'}")


def _run_row(summary: Summary, run: Run, fields: Sequence[LoadField]) -> TableRow:
    figures = run.measured
    reasons = (
        *([f"in no figure: {run.set_aside}; begun {run.record.started_at}"] if run.set_aside else []),
        *run_reasons(run),
        *run.record.notes,
    )
    return TableRow(
        summary.id,
        (
            *named(
                summary.identity.label,
                script_text(figures.limiter_script) if figures and figures.limiter_script else ABSENT,
                load_text(summary.identity, fields),
            ),
            TableCell(
                f"{run.run}, set aside" if run.set_aside else f"{run.run}",
                tag="median" if summary.median is run else "",
            ),
            _number(run.requests_per_second, rate, layer_text(run.identity.layer).rate_unit),
            _latency(figures, p50),
            _latency(figures, percentile("p99")),
            _number(figures.limited_share if figures else None, share, "of 1"),
            _number(figures.record.totalErrors if figures else None, count, "requests"),
            _warm_up(figures),
            run_verdict(run),
            _outcome(run),
            reasons_cell(reasons),
            link_cell(run_link(run.file), run.file),
        ),
        colour=summary.id,
    )


def _missing_row(summary: Summary, run: int, fields: Sequence[LoadField]) -> TableRow:
    return TableRow(
        summary.id,
        (
            *named(summary.identity.label, ABSENT, load_text(summary.identity, fields), f"{run}"),
            *[number(ABSENT, None)] * 6,
            TableCell("missing", kind="verdict invalid"),
            TableCell(ABSENT),
            reasons_cell([NO_FILE]),
            TableCell(""),
        ),
        colour=summary.id,
    )


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
    warm_up = figures.record.warmup
    steady = {True: ", steady at its end", False: ", not steady at its end", None: ""}[warm_up.steady]
    text = f"{decimals(warm_up.took_s, 1)}{' not steady' if warm_up.steady is False else ''}"
    hint = f"{count(warm_up.requests)} requests{steady}"
    return TableCell(text, kind="number", sort=sort_key(warm_up.took_s), hint=hint)


def _outcome(run: Run) -> TableCell:
    if run.outcome is None:
        return TableCell(ABSENT)
    return TableCell(
        SPOILED.get(run.outcome, run.outcome), kind=f"verdict {'invalid' if run.spoiled else ''}".strip()
    )


def _number(value: float | None, show: Callable[[float | None], str], unit: str) -> TableCell:
    return number(show(value), value, hint=exact(value, unit))


def all_runs(analysis: Analysis) -> Section | None:
    summaries = analysis.ordered
    if not summaries:
        return None
    fields = varying_fields(summaries)
    rows: list[TableRow] = []
    for summary in summaries:
        found = [(run.run, _run_row(summary, run, fields)) for run in (*summary.set_aside, *summary.runs)]
        gaps = [(missing, _missing_row(summary, missing, fields)) for missing in summary.missing]
        rows.extend(row for _, row in sorted([*found, *gaps], key=lambda entry: entry[0]))
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
    unusable = sorted(
        {
            (each.rule, each.text)
            for run in analysis.campaign.runs
            for each in run.record.verdict.not_applicable
        }
    )
    notes = [f"Rule {rule} could not be applied: {text}." for rule, text in unusable]
    return Section(
        "runs",
        "All runs",
        counted=tuple(row.ids for row in rows),
        counted_as="runs",
        tables=(table_of("run-rows", columns, rows, caption=CAPTION, fold_rows=15),),
        notes=tuple(notes),
    )
