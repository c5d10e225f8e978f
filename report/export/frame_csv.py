"""A table as CSV: the values of its columns as they stand in a file."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from report.analysis.column import Column
from report.analysis.frames import table
from report.base.csv_text import Cell, csv_text


def _shown_number(column: Column) -> Callable[[Any], Cell]:
    digits = column.digits
    if digits is None:
        return lambda value: f"{value:g}"
    return lambda value: f"{value:.{digits}f}"


def _cells(values: pd.Series, column: Column) -> list[Cell]:
    """The values of a column as they stand in a file; what is not known is None."""
    shown: Mapping[str, Callable[[Any], Cell]] = {
        "Float64": _shown_number(column),
        "Int64": int,
        "boolean": lambda value: str(value).lower(),
        "string": str,
    }
    show = shown[column.kind]
    return [None if value is pd.NA else show(value) for value in values.astype(object)]


def frame_csv(
    frame: pd.DataFrame, columns: Mapping[str, Column], header: Sequence[str] = ()
) -> str:
    """The columns of a header, in its order; without one all columns of the list."""
    names = header or list(columns)
    cells = [_cells(frame[name], columns[name]) for name in names]
    return csv_text(names, zip(*cells, strict=True))


def entries_csv(columns: Mapping[str, Column], entries: Iterable[Any]) -> str:
    """A row an entry; nothing but an end of line where there are none."""
    frame = table(columns, entries)
    return frame_csv(frame, columns) if len(frame) else csv_text([], [])
