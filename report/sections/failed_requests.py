"""The kinds of failed requests, and the rows that had some."""

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import median

from report.analysis.campaign_analysis import Analysis
from report.analysis.figures import p99
from report.analysis.summary import Summary
from report.analysis.texts import LoadField, interval_of, load_text, rate_units, varying_fields
from report.base.format import ABSENT, count, milliseconds, plural, rate
from report.results.model import Measured
from report.sections import section
from report.statistics.decision import compare_runs

ERRORS_TEXT = (
    "Errors count in no throughput, and as requests without an answer in latency. If more than 0.1 % of its "
    "requests fail, the target failed its load: the run ranks below all that served theirs, and its figures "
    "are not shown."
)
ERRORS_CAPTION = (
    "All measured runs, also those that are invalid or in which the target failed its load. The medians of "
    "the runs with errors stand beside those of the runs without: throughput counts answered requests only, "
    "so a run that fails requests quickly can look fast."
)
_KIND_COLUMNS = (("Requests", ""), ("Share", "of all sent"), ("Runs", "with some"))

Count = Callable[[Measured], int | None]

Kind = tuple[str, str, Count]
"""A name, its meaning, and a function that counts the requests of a run."""


def _answers(is_counted: Callable[[str], bool]) -> Count:
    """Counts the failed requests with such a code."""
    return lambda measured: sum(
        number for code, number in measured.failed_by_code.items() if is_counted(code)
    )


#: The kinds of failed requests. A request is of one of these kinds, or it was answered.
KINDS: tuple[Kind, ...] = (
    (
        "connection",
        "the connection was refused, reset or closed",
        lambda measured: measured.record.errors,
    ),
    ("time-out", "no answer within the time-out", lambda measured: measured.record.timeouts),
    (
        "5xx",
        "the server answered with a status of 500 to 599",
        _answers(lambda code: code.startswith("5")),
    ),
    (
        "other status",
        "an answer that is neither admitted, limited nor 5xx",
        _answers(lambda code: code.isdigit() and not code.startswith("5")),
    ),
)

#: At the limiter layer, where no server answers.
NO_DECISION: Kind = (
    "no decision",
    "the limiter layer’s call of the limiter failed",
    _answers(lambda code: not code.isdigit()),
)

#: Counted by the server and not by the generator, so these requests are among the other kinds.
STORE: Kind = (
    "store",
    "the limiter got no decision from the store, by the count of what calls it; these requests are among the "
    "above",
    lambda measured: measured.store_failures,
)


def _columns(kinds: Sequence[Kind], rates: str) -> tuple[tuple[str, str], ...]:
    return (
        *((name, "requests") for name, _, _ in kinds),
        ("Runs", "with errors"),
        ("Failed its load", "of the runs that count"),
        ("Throughput", f"with errors, {rates}"),
        ("Throughput", f"without, {rates}"),
        ("Ratio", "with ÷ without"),
        ("p99", "with errors, ms"),
        ("p99", "without, ms"),
        ("Ratio", "with ÷ without"),
    )


def failures(analysis: Analysis) -> section.Section | None:
    """The section; None for a campaign without rows."""
    summaries = analysis.ordered
    if not summaries:
        return None

    measured = _measured(summaries)
    has_limiter_layer = any(summary.identity.layer == "limiter" for summary in summaries)
    kinds = [*KINDS, NO_DECISION, STORE] if has_limiter_layer else [*KINDS, STORE]
    failing = [summary for summary in summaries if _has_failures(summary)]
    tables = [_kinds_table(measured, kinds)]
    if failing:
        tables.append(_rows_table(summaries, failing, kinds))

    sentence = _sentence(measured)
    return section.Section(
        "errors",
        "Errors",
        sentence if failing else "none",
        text=(f"{sentence} {ERRORS_TEXT}",),
        tables=tuple(tables),
        open=bool(failing),
    )


def _measured(summaries: Iterable[Summary]) -> list[Measured]:
    return [run.measured for summary in summaries for run in summary.runs if run.measured]


def _has_failures(summary: Summary) -> bool:
    return bool(summary.spoiled_runs) or any(map(_has_errors, _measured([summary])))


def _has_errors(measured: Measured) -> bool:
    _, _, store_failures = STORE
    return measured.record.totalErrors > 0 or bool(store_failures(measured))


def _sentence(measured: Sequence[Measured]) -> str:
    answered = sum(run.record.requests.total for run in measured)
    runs = f"{plural(len(measured), 'measured run')} with {plural(answered, 'answered request')}"
    with_errors = [run for run in measured if _has_errors(run)]
    if not with_errors:
        return f"No request failed in {runs}."
    failed = plural(sum(run.record.totalErrors for run in with_errors), "failed request")
    return f"{failed} in {len(with_errors):,} of {runs}."


def _kinds_table(measured: Sequence[Measured], kinds: Sequence[Kind]) -> section.Table:
    columns = [
        *section.words("Kind"),
        *section.numbers(_KIND_COLUMNS),
        *section.words("What it is"),
    ]
    rows = [_kind_row(measured, kind) for kind in kinds]
    return section.table_of("error-kinds", columns, rows, "Kinds of errors in all runs")


def _kind_row(measured: Sequence[Measured], kind: Kind) -> section.TableRow:
    name, meaning, read = kind
    total = _total(measured, read)
    sent = sum(run.record.counts.sent for run in measured)
    runs = sum(bool(read(run)) for run in measured) if total is not None else None
    percent = 100 * total / sent if total is not None and sent else None
    percent_text = ABSENT if percent is None else f"{percent:.4g} %"
    return section.TableRow(
        "",
        (
            section.TableCell(name),
            section.number(count(total), total),
            section.number(percent_text, percent),
            section.number(count(runs), runs),
            section.TableCell(meaning, kind="text"),
        ),
    )


def _total(measured: Sequence[Measured], read: Count) -> int | None:
    """The sum over all runs; None where no run counted them."""
    counts = [number for run in measured if (number := read(run)) is not None]
    return sum(counts) if counts else None


def _rows_table(
    summaries: Sequence[Summary], failing: Sequence[Summary], kinds: Sequence[Kind]
) -> section.Table:
    fields = varying_fields(summaries)
    columns = [
        *section.words("Configuration", "Load"),
        *section.numbers(_columns(kinds, rate_units(summaries))),
    ]
    rows = [_row(summary, fields, kinds) for summary in failing]
    title = "Configurations with errors"
    return section.table_of("error-rows", columns, rows, title, caption=ERRORS_CAPTION)


def _row(summary: Summary, fields: Sequence[LoadField], kinds: Sequence[Kind]) -> section.TableRow:
    names = section.named(summary.identity.label, load_text(summary.identity, fields))
    return section.TableRow(summary.id, (*names, *_cells(summary, kinds)), colour=summary.id)


def _cells(summary: Summary, kinds: Sequence[Kind]) -> list[section.TableCell]:
    """The number of requests of each kind, and the runs with errors beside those without."""
    measured = _measured([summary])
    with_errors = [run for run in measured if _has_errors(run)]
    without = [run for run in measured if not _has_errors(run)]
    totals = [_total(measured, read) for _, _, read in kinds]
    spoiled = summary.spoiled_runs

    rates = _rates(with_errors)
    rates_without = _rates(without)
    p99s = _p99s(with_errors)
    p99s_without = _p99s(without)
    return [
        *(section.number(count(total), total) for total in totals),
        section.number(f"{len(with_errors)} of {len(measured)}", len(with_errors)),
        section.number(f"{spoiled} of {summary.counted_runs}", spoiled),
        _rate_cell(rates),
        _rate_cell(rates_without),
        _ratio_cell(rates, rates_without),
        _p99_cell(p99s),
        _p99_cell(p99s_without),
        _ratio_cell(p99s, p99s_without),
    ]


def _rates(measured: Sequence[Measured]) -> list[float]:
    return [run.requests_per_second for run in measured]


def _p99s(measured: Sequence[Measured]) -> list[float]:
    """The p99 of each run that has one, in ms, or its upper bound where it is not identified."""
    return [value for run in measured if (value := p99.at_most(run)) is not None]


def _rate_cell(rates: Sequence[float]) -> section.TableCell:
    middle = median(rates) if rates else None
    return section.number(rate(middle), middle)


def _p99_cell(p99s: Sequence[float]) -> section.TableCell:
    middle = median(p99s) if p99s else None
    if middle is not None and math.isinf(middle):
        return section.TableCell("not known", kind="number", sort="")
    return section.number(milliseconds(middle), middle)


def _ratio_cell(ours: Sequence[float], theirs: Sequence[float]) -> section.TableCell:
    comparison = compare_runs(ours, theirs)
    return section.number(interval_of(comparison) or ABSENT, comparison.ratio)
