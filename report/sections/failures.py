"""Failed requests: totals and kinds over all runs, and what was different in the runs that had some."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from report.analysis.comparison_text import interval_of
from report.analysis.figures import percentile
from report.analysis.layer_text import rate_units
from report.analysis.load_text import load_text, varying_fields
from report.analysis.summary import Summary
from report.base.format import ABSENT, count, milliseconds, plural, rate
from report.results.model import Measured, Run
from report.sections.tables import TableCell, sort_key
from report.statistics.decision import compare_runs

Count = Callable[[Measured], int | None]


def _answers(wanted: Callable[[str], bool]) -> Count:
    """Failed answers whose code, an HTTP status or the limiter's outcome, is wanted."""
    return lambda figures: sum(number for code, number in figures.failed_by_code.items() if wanted(code))


#: Kinds of failed requests; a request is one of these, or it was answered.
KINDS: tuple[tuple[str, str, Count], ...] = (
    ("connection", "the connection was refused, reset or closed", lambda figures: figures.connection_errors),
    ("time-out", "no answer within the time-out", lambda figures: figures.timeouts),
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
NO_DECISION: tuple[str, str, Count] = (
    "no decision",
    "the limiter layer’s call of the limiter failed",
    _answers(lambda code: not code.isdigit()),
)

#: Counted by the server and not by the generator: the same trouble seen from the other side.
STORE = (
    "store",
    "the limiter got no decision from the store, by the count of what calls it; these requests are among the "
    "above",
    lambda figures: figures.store_failures,
)


@dataclass(frozen=True, slots=True)
class KindRow:
    name: str
    meaning: str
    requests: str
    runs: str
    share: str


@dataclass(frozen=True, slots=True)
class FailureRow:
    """One configuration that had errors; `cells` fit the columns."""

    summary_id: str
    configuration: str
    load: str
    cells: tuple[TableCell, ...]


def _columns(kinds: Sequence[tuple[str, str, Count]], rates: str) -> tuple[tuple[str, str], ...]:
    """Name and unit of the cells of a row."""
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


@dataclass(frozen=True, slots=True)
class Failures:
    """Over all measured runs, invalid ones too."""

    sentence: str
    kinds: tuple[KindRow, ...]
    columns: tuple[tuple[str, str], ...]
    """Name and unit of the cells of `rows`."""
    rows: tuple[FailureRow, ...]


def _measured(summaries: Iterable[Summary]) -> list[tuple[Run, Measured]]:
    return [(run, run.measured) for summary in summaries for run in summary.runs if run.measured]


def _troubled(figures: Measured) -> bool:
    return figures.errors_total > 0 or bool(STORE[2](figures))


def _total(found: Sequence[tuple[Run, Measured]], read: Count) -> int | None:
    counts = [number for _, figures in found if (number := read(figures)) is not None]
    return sum(counts) if counts else None


def _kind(found: Sequence[tuple[Run, Measured]], name: str, meaning: str, read: Count) -> KindRow:
    total = _total(found, read)
    sent = sum(figures.requests_sent for _, figures in found)
    return KindRow(
        name,
        meaning,
        count(total),
        count(sum(bool(read(figures)) for _, figures in found)) if total is not None else ABSENT,
        f"{100 * total / sent:.4g} %" if total is not None and sent else ABSENT,
    )


def _middle(values: Sequence[float]) -> float | None:
    return median(values) if values else None


_P99 = percentile("p99")


def _p99_cell(values: Sequence[float]) -> TableCell:
    value = _middle(values)
    if value is not None and math.isinf(value):
        return TableCell("not known", kind="number", sort="")
    return TableCell(milliseconds(value), kind="number", sort=sort_key(value))


def _cells(summary: Summary, kinds: Sequence[tuple[str, str, Count]]) -> tuple[TableCell, ...]:
    found = _measured([summary])
    sides = [[f for _, f in found if _troubled(f) is troubled] for troubled in (True, False)]
    throughputs = [[f.requests_per_second for f in side] for side in sides]
    # Of a percentile that is not identified, its upper bound.
    p99s = [[value for f in side if (value := _P99.at_most(f)) is not None] for side in sides]

    def number(value: float | None, show: Callable[[float | None], str]) -> TableCell:
        return TableCell(show(value), kind="number", sort=sort_key(value))

    def ratio(with_errors: Sequence[float], without: Sequence[float]) -> TableCell:
        comparison = compare_runs(with_errors, without)
        text = interval_of(comparison) or ABSENT
        return TableCell(text, kind="number", sort=sort_key(comparison.ratio))

    return (
        *(number(_total(found, read), count) for _, _, read in kinds),
        TableCell(f"{len(sides[0])} of {len(found)}", kind="number", sort=sort_key(len(sides[0]))),
        TableCell(
            f"{summary.spoiled_runs} of {summary.counted_runs}",
            kind="number",
            sort=sort_key(summary.spoiled_runs),
        ),
        *(number(_middle(side), rate) for side in throughputs),
        ratio(*throughputs),
        *(_p99_cell(side) for side in p99s),
        ratio(*p99s),
    )


def failures(summaries: Sequence[Summary]) -> Failures:
    """The error analysis of a campaign: all runs, by kind and by configuration."""
    found = _measured(summaries)
    answered = sum(figures.requests_total for _, figures in found)
    troubled = [figures for _, figures in found if _troubled(figures)]
    over = f"{plural(len(found), 'measured run')} with {plural(answered, 'answered request')}"
    sentence = (
        f"{plural(sum(figures.errors_total for figures in troubled), 'failed request')} in "
        f"{len(troubled):,} of {over}."
        if troubled
        else f"No request failed in {over}."
    )
    fields = varying_fields(summaries)
    limiter = any(summary.identity.layer == "limiter" for summary in summaries)
    kinds = (*KINDS, *([NO_DECISION] if limiter else []), STORE)
    return Failures(
        sentence,
        tuple(_kind(found, name, meaning, read) for name, meaning, read in kinds),
        _columns(kinds, rate_units(summaries)),
        tuple(
            FailureRow(
                summary.id,
                summary.identity.label,
                load_text(summary.identity, fields),
                _cells(summary, kinds),
            )
            for summary in summaries
            if summary.spoiled_runs or any(run.measured and _troubled(run.measured) for run in summary.runs)
        ),
    )
