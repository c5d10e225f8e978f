"""Failed requests: totals and kinds over all runs, and what was different in the runs that had some."""

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import median

from report.analysis.campaign_analysis import Analysis
from report.analysis.figures import p99
from report.analysis.summary import Summary
from report.analysis.texts import interval_of, load_text, rate_units, varying_fields
from report.base.format import ABSENT, count, milliseconds, plural, rate
from report.results.model import Measured
from report.sections.section import Section, TableCell, TableRow, named, number, numbers, table_of, words
from report.statistics.decision import compare_runs

TEXT = (
    "Errors count in no throughput, and as requests without an answer in latency. If more than 0.1 % of its "
    "requests fail, the target failed its load: the run ranks below all that served theirs, and its figures "
    "are not shown."
)
CAPTION = (
    "All measured runs, also those that are invalid or in which the target failed its load. The medians of "
    "the runs with errors stand beside those of the runs without: throughput counts answered requests only, "
    "so a run that fails requests quickly can look fast."
)
_OF_KINDS = (("Requests", ""), ("Share", "of all sent"), ("Runs", "with some"))

Count = Callable[[Measured], int | None]

#: A name, its meaning, and how many there were.
Kind = tuple[str, str, Count]


def _answers(wanted: Callable[[str], bool]) -> Count:
    return lambda figures: sum(number for code, number in figures.failed_by_code.items() if wanted(code))


#: Kinds of failed requests; a request is one of these, or it was answered.
KINDS: tuple[Kind, ...] = (
    ("connection", "the connection was refused, reset or closed", lambda figures: figures.record.errors),
    ("time-out", "no answer within the time-out", lambda figures: figures.record.timeouts),
    ("5xx", "the server answered with a status of 500 to 599", _answers(lambda code: code.startswith("5"))),
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

#: Counted by the server and not by the generator: the same trouble seen from the other side.
STORE: Kind = (
    "store",
    "the limiter got no decision from the store, by the count of what calls it; these requests are among the "
    "above",
    lambda figures: figures.store_failures,
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


def _measured(summaries: Iterable[Summary]) -> list[Measured]:
    return [run.measured for summary in summaries for run in summary.runs if run.measured]


def _troubled(figures: Measured) -> bool:
    return figures.record.totalErrors > 0 or bool(STORE[2](figures))


def _total(found: Sequence[Measured], read: Count) -> int | None:
    counts = [number for figures in found if (number := read(figures)) is not None]
    return sum(counts) if counts else None


def _kind(found: Sequence[Measured], name: str, meaning: str, read: Count) -> TableRow:
    total, sent = _total(found, read), sum(figures.record.counts.sent for figures in found)
    runs = sum(bool(read(figures)) for figures in found) if total is not None else None
    share = 100 * total / sent if total is not None and sent else None
    share_text = ABSENT if share is None else f"{share:.4g} %"
    figures = (number(count(total), total), number(share_text, share), number(count(runs), runs))
    return TableRow("", (TableCell(name), *figures, TableCell(meaning, kind="text")))


def _p99_cell(value: float | None) -> TableCell:
    if value is not None and math.isinf(value):
        return TableCell("not known", kind="number", sort="")
    return number(milliseconds(value), value)


def _cells(summary: Summary, kinds: Sequence[Kind]) -> tuple[TableCell, ...]:
    found = _measured([summary])
    sides = [[f for f in found if _troubled(f) is troubled] for troubled in (True, False)]
    throughputs = [[f.requests_per_second for f in side] for side in sides]
    # Of a percentile that is not identified, its upper bound.
    p99s = [[value for f in side if (value := p99.at_most(f)) is not None] for side in sides]
    spoiled = summary.spoiled_runs

    def ratio(sides: Sequence[Sequence[float]]) -> TableCell:
        comparison = compare_runs(sides[0], sides[1])
        return number(interval_of(comparison) or ABSENT, comparison.ratio)

    def middles(sides: Sequence[Sequence[float]]) -> list[float | None]:
        return [median(side) if side else None for side in sides]

    return (
        *(number(count(total), total) for total in (_total(found, read) for _, _, read in kinds)),
        number(f"{len(sides[0])} of {len(found)}", len(sides[0])),
        number(f"{spoiled} of {summary.counted_runs}", spoiled),
        *(number(rate(middle), middle) for middle in middles(throughputs)),
        ratio(throughputs),
        *map(_p99_cell, middles(p99s)),
        ratio(p99s),
    )


def failures(analysis: Analysis) -> Section | None:
    summaries = analysis.ordered
    if not summaries:
        return None
    found = _measured(summaries)
    answered = sum(figures.record.requests.total for figures in found)
    troubled = [figures for figures in found if _troubled(figures)]
    over = f"{plural(len(found), 'measured run')} with {plural(answered, 'answered request')}"
    sentence = (
        f"{plural(sum(figures.record.totalErrors for figures in troubled), 'failed request')} in "
        f"{len(troubled):,} of {over}."
        if troubled
        else f"No request failed in {over}."
    )
    fields = varying_fields(summaries)
    limiter = any(summary.identity.layer == "limiter" for summary in summaries)
    kinds = (*KINDS, *([NO_DECISION] if limiter else []), STORE)
    rows = []
    for summary in summaries:
        if summary.spoiled_runs or any(map(_troubled, _measured([summary]))):
            names = named(summary.identity.label, load_text(summary.identity, fields))
            rows.append(TableRow(summary.id, (*names, *_cells(summary, kinds)), colour=summary.id))
    columns = (*words("Configuration", "Load"), *numbers(_columns(kinds, rate_units(summaries))))
    of_rows = table_of("error-rows", columns, rows, "Configurations with errors", caption=CAPTION)
    kind_columns = (*words("Kind"), *numbers(_OF_KINDS), *words("What it is"))
    kind_rows = [_kind(found, *kind) for kind in kinds]
    of_kinds = table_of("error-kinds", kind_columns, kind_rows, "Kinds of errors in all runs")
    return Section(
        "errors",
        "Errors",
        sentence if rows else "none",
        text=(f"{sentence} {TEXT}",),
        tables=(of_kinds, *([of_rows] if rows else [])),
        open=bool(rows),
    )
