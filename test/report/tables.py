"""Reads tables of sections."""

from report.sections.section import Section, Table


def by_column(table: Table) -> list[dict[str, str]]:
    """The text of the cells of each row by the name of their column, without ranges and marks.

    A column `to …` has the name of the column before it in its name. `reason` is the text that
    stands in place of cells.
    """
    names: list[str] = []
    for column in table.columns:
        is_relative = column.name.startswith("t")
        names.append(f"{names[-1]} {column.name}" if is_relative else column.name)
    return [
        {name: cell.text for name, cell in zip(names, row.cells, strict=False)}
        | ({"reason": row.reason} if row.reason else {})
        for row in table.rows
    ]


def only_table(section: Section | None) -> Table:
    assert section
    (table,) = section.tables
    return table
