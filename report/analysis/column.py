"""A column of a table: what it holds of an entry, and how it is read. Lists of columns make the
tables."""

from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct

from report.analysis.figure_list import Direction, NamedFigure

Kind = Literal["Float64", "Int64", "boolean", "string", "object"]
"""A nullable type of pandas; `object` is for what stands in no file."""

Read = Callable[[Any], Any]
"""Reads a value of an entry; None where it has none."""


class Column(Struct, frozen=True):
    kind: Kind
    read: Read = lambda _: None
    """Not called of a table that is derived from another."""
    unit: str = ""
    digits: int | None = None
    """Decimals in CSV files; None: as few as the number needs."""
    direction: Direction = ""
    """What is better, of a figure."""


def text(read: Read) -> Column:
    return Column("string", read)


def truth(read: Read) -> Column:
    return Column("boolean", read)


def whole(read: Read, unit: str = "") -> Column:
    return Column("Int64", read, unit)


def number(read: Read, digits: int | None, unit: str = "") -> Column:
    return Column("Float64", read, unit, digits)


def thing(read: Read) -> Column:
    """What only code reads of a row."""
    return Column("object", read)


def figure(named: NamedFigure) -> Column:
    """A figure of the list, of entries that know its value."""
    of_entry = named.figure
    return Column(
        "Float64", lambda entry: entry.value(of_entry), named.unit, named.digits, named.direction
    )
