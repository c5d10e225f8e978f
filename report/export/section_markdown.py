"""Any section of the report as Markdown."""

from collections.abc import Iterator

from report.base.markdown import code, prose, table
from report.sections.section import Section, Table, TableRow


def _cells(row: TableRow, shown: Table) -> list[str]:
    kept = [cell for cell, column in zip(row.cells, shown.columns, strict=False) if not column.raw]
    name, *others = kept
    texts = [code(name.text), *(prose(cell.plain) for cell in others)]
    if row.reason:
        texts = [*texts[: row.kept], prose(row.reason)]
    wanted = sum(not column.raw for column in shown.columns)
    return [*texts, *[""] * (wanted - len(texts))]


def section_blocks(section: Section) -> Iterator[list[str]]:
    yield [f"### {prose(section.title)}"]
    if section.answer:
        yield [prose(section.answer)]
    for shown in section.tables:
        if shown.title:
            yield [f"#### {prose(shown.title)}"]
        columns = [column for column in shown.columns if not column.raw]
        headers = [prose(", ".join(filter(None, (column.name, column.unit)))) for column in columns]
        first = next((index for index, each in enumerate(columns) if "number" in each.kind), len(columns))
        for group in shown.groups:
            heading = prose(": ".join(filter(None, (group.heading, group.hint))))
            lines = table(headers, [_cells(row, shown) for row in group.rows], first)
            yield [heading, "", *lines] if heading else lines
    for note in section.notes:
        yield [prose(note)]
