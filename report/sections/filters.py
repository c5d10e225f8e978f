"""The filters of a page: the values of each, and the value of each row."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from report.analysis.summary import Summary
from report.analysis.texts import algorithm_of, count_text, decider_of, workload_text
from report.results.catalog import DIMENSIONS, Dimension
from report.results.identity import Identity

#: The filters of which a reader can choose several values.
CHIPS = ("client", "decided by", "algorithm")

Read = Callable[[Summary], str]
"""Gives the value of a row under a filter. An empty text stands for any value."""


def _beside(read: Callable[[Identity], str | None]) -> Read:
    """Reads a value that controls do not have, because they stand beside every store and
    topology."""

    def value(summary: Summary) -> str:
        identity = summary.identity
        return "" if identity.ceiling else read(identity) or "not known"

    return value


def _counts(dimension: Dimension) -> Read:
    return lambda summary: count_text(summary.identity, dimension)


def _outcome(summary: Summary) -> str:
    if not summary.counted_runs:
        return "not known"
    return "failed in some runs" if summary.spoiled_runs else "served"


FILTERS: tuple[tuple[str, Read], ...] = (
    ("client", lambda summary: summary.identity.client),
    ("decided by", _beside(decider_of)),
    ("algorithm", _beside(algorithm_of)),
    ("layer", lambda summary: summary.identity.layer),
    ("runtime", lambda summary: summary.runtime),
    ("topology", _beside(lambda identity: identity.topology)),
    ("store", _beside(lambda identity: identity.store_text)),
    ("workload", lambda summary: workload_text(summary.identity)),
    ("traffic", lambda summary: summary.identity.traffic),
    *((dimension.key, _counts(dimension)) for dimension in DIMENSIONS),
    ("load", lambda summary: summary.identity.load_text),
    ("verdict", lambda summary: summary.verdict or "no run"),
    ("outcome", _outcome),
)

#: The values of something that stands beside all rows.
ANY_VALUE: dict[str, str] = {name: "" for name, _ in FILTERS}


def _order(value: str) -> tuple[float, str]:
    """Sorts values by their leading number, so that `50 connections` precedes `200 connections`."""
    number = re.match(r"[\d,]+", value)
    return (float(number[0].replace(",", "")) if number else -1, value)


def filter_values(summaries: Sequence[Summary]) -> dict[str, list[str]]:
    values_by_filter = {
        name: {read(summary) for summary in summaries} - {""} for name, read in FILTERS
    }
    return {
        name: sorted(values, key=_order)
        for name, values in values_by_filter.items()
        if len(values) > 1
    }


def row_values(summary: Summary) -> dict[str, str]:
    return {name: read(summary) for name, read in FILTERS}


def counts_by_row(ids: Iterable[str]) -> str:
    """How many entries each row has, as `row1:5 row2:3`. The filters add them up."""
    return " ".join(f"{row}:{number}" for row, number in Counter(ids).items())


def rows_named(text: str, summaries: Sequence[Summary]) -> str:
    """The ids of the rows whose label stands in a text, separated by spaces."""
    words = {word.rstrip(".:") for word in re.findall(r"[\w@:.+-]+", text)}
    return " ".join(summary.id for summary in summaries if summary.identity.label in words)
