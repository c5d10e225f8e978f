"""Tables of sections as tests read them."""

from report.sections.section import Section, Table


def by_column(table: Table) -> list[dict[str, str]]:
    """The text of each row's cells by the name of their column, without ranges and marks.

    `to …` is named after the column before it. `reason` is what stands in place of cells.
    """
    names: list[str] = []
    for column in table.columns:
        named = (
            f"{names[-1]} {column.name}"
            if column.name[:1].islower() and column.name[0] == "t"
            else column.name
        )
        names.append(named)
    return [
        {name: cell.text for name, cell in zip(names, row.cells, strict=False)}
        | ({"reason": row.reason} if row.reason else {})
        for row in table.rows
    ]


def only_table(section: Section | None) -> Table:
    assert section
    (table,) = section.tables
    return table
