"""A new section is one function and one line in the list: every form shows it, whatever its
text."""

import pytest

from builder import configuration, result
from conftest import Build
from page_reader import read
from report.export.summary_markdown import section_blocks
from report.sections import all_sections
from report.sections.section import (
    Section,
    TableCell,
    TableRow,
    named,
    number,
    numbers,
    table_of,
    words,
)

HOSTILE = "<b>a|b</b>\u202e`x`@y = \nz"


def section() -> Section:
    rows = [
        TableRow("", (*named("one", ""), number("1.5", 1.5), TableCell("", lines=(HOSTILE,)))),
        TableRow("", named("two", ""), "no figure", kept=2),
    ]
    columns = (*words("Name", "Never"), *numbers([("Figure", "ms")]), *words("Why"))
    return Section(
        "new",
        "A new question",
        "Answered.",
        tables=(table_of("new-rows", columns, rows),),
        open=True,
    )


def test_a_column_without_a_word_is_left_out_and_a_reason_keeps_its_place() -> None:
    (table,) = section().tables
    assert [column.name for column in table.columns] == ["Name", "Figure", "Why"]
    assert [row.kept for row in table.rows] == [1, 1]


def test_the_page_shows_it_and_no_markup_of_it(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(all_sections, "SECTIONS", (lambda _: section(), *all_sections.SECTIONS))
    outcome = build(None, [result(configuration())])
    assert outcome.code == 0, outcome.err
    page = outcome.page
    assert '<a href="#new">A new question</a>' in page and 'id="new-rows"' in page
    assert "<b>a|b</b>" not in page and "<b>a|b</b>" in read(page).text


def test_markdown_has_its_table_and_no_markup_of_it() -> None:
    text = "\n".join("\n".join(block) for block in section_blocks(section()))
    assert "### A new question" in text and "| Name | Figure, ms | Why |" in text
    assert "| `two` | no figure |  |" in text
    (line,) = [line for line in text.splitlines() if line.startswith("| `one`")]
    assert line.count(" | ") == 2 and "&#" not in line
    assert "<b>" not in line.replace("`<b>a¦b</b>", "")
