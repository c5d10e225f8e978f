"""A part of the report in any form: a title, one sentence, tables, charts and notes."""

from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

Mark = tuple[str, str]
"""A mark and its meaning."""


class TableCell(Struct, frozen=True):
    """One printed value. `best` marks a value that was shown to be better than all others of its
    ranking.

    `range` is the range over the runs. Tables are sorted by `sort`, or by the text where it is
    None. `hint` is what hovering shows, `tag` is a word beside the text, `lines` are sentences in
    place of a text, and `link` is a file."""

    text: str
    best: bool = False
    range: str = ""
    marks: tuple[Mark, ...] = ()
    kind: str = ""
    sort: str | None = None
    hint: str = ""
    tag: str = ""
    badge: str = ""
    lines: tuple[str, ...] = ()
    link: str = ""

    @property
    def plain(self) -> str:
        """The cell in a form without styles: `12.21† (8.10–14.00)`."""
        text = "; ".join(self.lines) if self.lines else self.text or self.badge
        marked = text + "".join(mark for mark, _ in self.marks)
        return " ".join(filter(None, [marked, f"({self.range})" if self.range else "", self.tag]))


class Column(Struct, frozen=True):
    """A column. `kind` are classes of its header. A `raw` column is neither sorted by nor
    copied."""

    name: str
    unit: str = ""
    kind: str = "number"
    raw: bool = False


class TableRow(Struct, frozen=True):
    """A row of a table, whose first cell names it.

    A `reason` stands in place of all cells but the first `kept` ones. `ids` are rows of the
    campaign, separated by spaces, by which the page filters."""

    ids: str
    cells: tuple[TableCell, ...]
    reason: str = ""
    kept: int = 1
    colour: str = ""
    """The row of the campaign whose colour it has; empty for no colour."""
    anchor: str = ""
    """The id under which links of the page reach it; empty for none."""


class TableGroup(Struct, frozen=True):
    """Rows under a heading, which is empty where all rows are alike."""

    rows: tuple[TableRow, ...]
    heading: str = ""
    hint: str = ""


class Table(Struct, frozen=True):
    id: str
    title: str
    """Empty where the section has one table, because then the title of the section names it."""
    columns: tuple[Column, ...]
    groups: tuple[TableGroup, ...]
    caption: str = ""
    fold_rows: int = 0
    """How many rows are shown before a reader unfolds the others; 0 for all."""
    sortable: bool = True
    kind: str = "figures"

    @property
    def rows(self) -> tuple[TableRow, ...]:
        return tuple(row for group in self.groups for row in group.rows)


class Line(Struct, frozen=True):
    """A sentence with the ids of the rows that it is about, separated by spaces.

    Without ids it is about all rows."""

    text: str
    ids: str = ""
    whole: bool = False
    """Whether a filter that hides one of these rows hides the line."""


class Properties(Struct, frozen=True):
    """Names and texts under a title. `ids` are rows as in `Line`."""

    title: str
    properties: tuple[tuple[str, str], ...]
    ids: str = ""


class Section(Struct, frozen=True):
    """A part of the report. A folded part shows its `title` and its `answer`."""

    id: str
    title: str
    answer: str = ""
    """One sentence that answers the question of the title."""
    counted: tuple[str, ...] = ()
    """The ids of the rows behind its entries, which the page counts."""
    counted_as: str = ""
    text: tuple[str, ...] = ()
    """Paragraphs that say how to read the section."""
    tables: tuple[Table, ...] = ()
    charts: tuple[str, ...] = ()
    lists: tuple[tuple[str, tuple[Line, ...]], ...] = ()
    """Lists of sentences, each with its heading."""
    properties: tuple[Properties, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences after the tables."""
    open: bool = False


def table_of(
    table_id: str,
    columns: Iterable[Column],
    rows: Iterable[TableRow],
    title: str = "",
    *,
    caption: str = "",
    fold_rows: int = 0,
) -> Table:
    """A table without groups of rows. A column that is empty in every row is left out."""
    columns = tuple(columns)
    rows = tuple(rows)
    filled = [
        index
        for index, _ in enumerate(columns)
        if any(index < len(row.cells) and row.cells[index].plain for row in rows)
    ]
    if rows and len(filled) < len(columns):
        columns = tuple(columns[index] for index in filled)
        rows = tuple(
            structs.replace(
                row,
                cells=tuple(row.cells[index] for index in filled if index < len(row.cells)),
                kept=sum(index < row.kept for index in filled),
            )
            for row in rows
        )
    return Table(table_id, title, columns, (TableGroup(rows),), caption, fold_rows)


def named(*texts: str) -> tuple[TableCell, ...]:
    return tuple(TableCell(text) for text in texts)


def words(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, kind="") for name in names)


def numbers(names: Sequence[tuple[str, str]], kind: str = "number more") -> tuple[Column, ...]:
    return tuple(Column(name, unit, kind) for name, unit in names)


def number(
    text: str, sort: float | None, marks: tuple[Mark, ...] = (), hint: str = ""
) -> TableCell:
    return TableCell(text, marks=marks, kind="number", sort=sort_key(sort), hint=hint)


#: The column of links to raw results.
RAW = Column("Raw", kind="", raw=True)


def reasons_cell(lines: Iterable[str]) -> TableCell:
    return TableCell("", kind="reasons", lines=tuple(lines))


def sort_key(value: float | None) -> str:
    """A text that sorts as the number does. Without a number it is empty, which sorts last."""
    return "" if value is None else f"{value:.9g}"


def exact(value: float | None, unit: str) -> str:
    """A figure with more digits than are printed, for hovering."""
    return "" if value is None else f"{value:,.6g} {unit}".strip()
