"""Columns of tables. A table is made from a list of columns, each of which reads its value of an
entry."""

from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct

from report.analysis.figure_list import Direction, NamedFigure

Kind = Literal["Float64", "Int64", "boolean", "string", "object"]
"""A nullable type of pandas. `object` is for values that no file contains."""

Read = Callable[[Any], Any]
"""Reads a value of an entry, which is None if the entry has none."""


class Column(Struct, frozen=True):
    kind: Kind
    read: Read = lambda _: None
    """Reads the value of an entry. It is not called for a table that is derived from another."""
    unit: str = ""
    digits: int | None = None
    """Decimals in CSV files. None means as few as the number needs."""
    direction: Direction = ""
    """Which values of a figure are better."""


def text(read: Read) -> Column:
    return Column("string", read)


def truth(read: Read) -> Column:
    return Column("boolean", read)


def whole(read: Read, unit: str = "") -> Column:
    return Column("Int64", read, unit)


def number(read: Read, digits: int | None, unit: str = "") -> Column:
    return Column("Float64", read, unit, digits)


def thing(read: Read) -> Column:
    """A column of objects, which only code reads."""
    return Column("object", read)


def figure(listed: NamedFigure) -> Column:
    """A figure of the list. The entries have a method `value` that takes the figure."""
    return Column(
        "Float64",
        lambda entry: entry.value(listed.figure),
        listed.unit,
        listed.digits,
        listed.direction,
    )
