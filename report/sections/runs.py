"""The list of all runs: the good, the bad, and those that left no file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from report.analysis.figures import Figure, figure_text, p50, percentile
from report.analysis.layer_text import layer_text
from report.analysis.load_text import LoadField, load_text, varying_fields
from report.analysis.summary import Summary
from report.base.format import ABSENT, count, decimals, milliseconds, rate, share
from report.results.model import Measured, Run
from report.sections.spread_text import figure_marks
from report.sections.tables import TableCell, exact, sort_key

#: What is said of a run in which the target did not serve its load, by its outcome.
SPOILED = {"failed": "failed its load", "overloaded": "overloaded"}


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run of the list of all runs."""

    summary_id: str
    configuration: str
    script: str
    """`EVALSHA a1de965f`, as the server of this run named it."""
    load: str
    """The part of its load that differs from other rows; empty if all have the same."""
    run: str
    median: bool
    cells: tuple[TableCell, ...]
    reasons: tuple[str, ...]
    link: str
    file: str


def run_link(file: str) -> str:
    """From the page to the raw result."""
    return quote(f"../{file}")


def run_reasons(run: Run) -> tuple[str, ...]:
    """Why a run failed, did not serve its load, or is suspect or invalid."""
    told = filter(None, (run.failure, run.outcome_text))
    return (*told, *(f"{reason.rule}: {reason.text}" for reason in run.reasons))


def run_verdict(run: Run) -> TableCell:
    status = run.verdict if run.measured else run.status
    return TableCell(status, kind=f"verdict {status if run.measured else 'invalid'}")


def _run_row(summary: Summary, run: Run, fields: Sequence[LoadField]) -> RunRow:
    figures = run.measured
    return RunRow(
        summary.id,
        summary.identity.label,
        figures.limiter_script.text if figures and figures.limiter_script else ABSENT,
        load_text(summary.identity, fields),
        f"{run.run}, set aside" if run.set_aside else f"{run.run}",
        summary.median is run,
        (
            _number(run.requests_per_second, rate, layer_text(run.identity.layer).rate_unit),
            _latency(figures, p50),
            _latency(figures, percentile("p99")),
            _number(figures.limited_share if figures else None, share, "of 1"),
            _number(figures.errors_total if figures else None, count, "requests"),
            _warm_up(figures),
            run_verdict(run),
            _outcome(run),
        ),
        (
            *([f"in no figure: {run.set_aside}; begun {run.started_at}"] if run.set_aside else []),
            *run_reasons(run),
            *run.notes,
        ),
        run_link(run.file),
        run.file,
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
    """How long it took, and whether `auto` ended it at its longest."""
    if figures is None:
        return TableCell(ABSENT, kind="number", sort="")
    warm_up = figures.warm_up
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
    return TableCell(show(value), kind="number", sort=sort_key(value), hint=exact(value, unit))


def run_rows(summaries: Sequence[Summary]) -> tuple[RunRow, ...]:
    """Every recorded run, and every planned one that left no file, by row and run number."""
    fields = varying_fields(summaries)
    absent = TableCell(ABSENT, kind="number", sort="")
    rows: list[RunRow] = []
    for summary in summaries:
        found = [(run.run, _run_row(summary, run, fields)) for run in (*summary.set_aside, *summary.runs)]
        gaps = [
            (
                number,
                RunRow(
                    summary.id,
                    summary.identity.label,
                    ABSENT,
                    load_text(summary.identity, fields),
                    f"{number}",
                    False,
                    (*[absent] * 6, TableCell("missing", kind="verdict invalid"), TableCell(ABSENT)),
                    ("planned, but no result file was found",),
                    "",
                    "",
                ),
            )
            for number in summary.missing
        ]
        rows.extend(row for _, row in sorted([*found, *gaps], key=lambda entry: entry[0]))
    return tuple(rows)
