"""Writes Markdown in which text from documents cannot add markup, mention somebody, or exceed a
limit."""

import re
from collections.abc import Iterable, Sequence

from report.base.errors import one_line

_MAX_CODE_CHARACTERS = 120
#: Characters that Markdown or HTML would take as markup.
_MARKS = re.compile(r"[&<>@|`*_\[\]\\#~]")
#: Characters that can stand around a word.
_AROUND = "().,;:?!\"'“”’"


def code(text: object, limit: int = _MAX_CODE_CHARACTERS) -> str:
    """Text from a document as code that fits into a table. It is one line of at most `limit`
    characters, and becomes no link, mention (`iovalkey@valkey`) or markup."""
    plain = one_line(text, limit).replace("`", "'").replace("|", "¦").strip()
    return f"`{plain}`" if plain else ""


def prose(text: object, limit: int = 4000) -> str:
    """Text from a document within a sentence. A word with a mark of Markdown or HTML becomes code,
    as a person would write it. A text longer than `limit` ends with a sentence, if one ends below
    it."""
    plain = one_line(text, limit)
    if len(str(text)) > limit and ". " in plain:
        plain = plain[: plain.rindex(". ") + 1]
    return " ".join(map(_word, plain.split(" ")))


def _word(word: str) -> str:
    if not _MARKS.search(word):
        return word
    core = word.strip(_AROUND)
    before, _, after = word.partition(core) if core else ("", "", "")
    return f"{before}{code(core or word)}{after}"


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], right: int = 0) -> list[str]:
    """The lines of a table whose cells are Markdown already. The columns from index `right` on are
    aligned right."""
    marks = ["---" if index < right else "---:" for index in range(len(headers))]
    return [f"| {' | '.join(cells)} |" for cells in (headers, marks, *rows)]


def within(blocks: Sequence[Sequence[str]], limit: int, note: str) -> str:
    """Blocks of lines, separated by blank lines, in at most `limit` bytes of UTF-8.

    If they do not fit, `note` takes the place of the last lines."""
    room = limit - len(f"\n{note}\n".encode())
    lines: list[str] = []
    used = 0
    for block in blocks:
        for line in (*block, ""):
            used += len(line.encode()) + 1
            if used > room:
                return "\n".join([*lines, "", note, ""])
            lines.append(line)
    return "\n".join(lines).rstrip("\n") + "\n"
