"""Writes tables as CSV."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from report.analysis.column import Column
from report.analysis.frames import table
from report.base.csv_text import Cell, csv_text


def _number_format(column: Column) -> Callable[[Any], Cell]:
    digits = column.digits
    if digits is None:
        return lambda value: f"{value:g}"
    return lambda value: f"{value:.{digits}f}"


def _cells(values: pd.Series, column: Column) -> list[Cell]:
    """The values of a column as a file contains them, with None for what is not known."""
    formats: Mapping[str, Callable[[Any], Cell]] = {
        "Float64": _number_format(column),
        "Int64": int,
        "boolean": lambda value: str(value).lower(),
        "string": str,
    }
    show = formats[column.kind]
    return [None if value is pd.NA else show(value) for value in values.astype(object)]


def frame_csv(
    frame: pd.DataFrame, columns: Mapping[str, Column], header: Sequence[str] = ()
) -> str:
    """The columns that the header names, in its order. Without a header it has all columns."""
    names = header or list(columns)
    cells = [_cells(frame[name], columns[name]) for name in names]
    return csv_text(names, zip(*cells, strict=True))


def entries_csv(columns: Mapping[str, Column], entries: Iterable[Any]) -> str:
    """A table with a row for each entry. Without entries it is a single end of line."""
    frame = table(columns, entries)
    return frame_csv(frame, columns) if len(frame) else csv_text([], [])
