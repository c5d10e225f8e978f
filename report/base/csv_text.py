"""Writes tables as CSV whose cells no spreadsheet runs as formulas."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

Cell = str | int | None

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_number(value: float | None, digits: int) -> str | None:
    return None if value is None else f"{value:.{digits}f}"


def safe_cell(value: Cell) -> str:
    """The text of a cell, with an apostrophe before text that would start a formula. Numbers stay
    as they are. A NUL becomes a space, because it would end the text for some readers."""
    if value is None:
        return ""
    text = str(value).replace("\0", " ")
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A header and rows of `safe_cell`, with lines that end in LF."""
    lines: list[str] = []
    # Python below 3.13 quotes only the characters of its own line end, so with LF alone a bare CR
    # would break the row for readers.
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\r\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow(map(safe_cell, row))
    return "".join(line.removesuffix("\r\n") + "\n" for line in lines)


def picked(source: object, *names: str) -> dict[str, Any]:
    """The named attributes of an object by name."""
    return {name: getattr(source, name) for name in names}


def records_csv(records: Iterable[Mapping[str, Cell]]) -> str:
    """The CSV of records that all have the keys of the first one, which are the header."""
    rows = list(records)
    return csv_text(list(rows[0]) if rows else [], (list(row.values()) for row in rows))
