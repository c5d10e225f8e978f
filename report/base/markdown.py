"""Markdown that no foreign text can leave, mention somebody with, or grow beyond a limit."""

import re
from collections.abc import Iterable, Sequence

from report.base.errors import one_line

_LONGEST = 120
#: What Markdown or HTML would take as a mark, and what stands around a word.
_MARKS = re.compile(r"[&<>@|`*_\[\]\\#~]")
_AROUND = "().,;:\"'“”’"


def code(text: object) -> str:
    """Foreign text as code: no link, no mention (`iovalkey@valkey`), no markup, one line, fit for a
    table."""
    plain = one_line(text, _LONGEST).replace("`", "'").replace("|", "¦").strip()
    return f"`{plain}`" if plain else ""


def prose(text: object, limit: int = 4000) -> str:
    """Foreign text within a sentence: a word that holds a mark of Markdown or HTML is code, as a
    person would write it. What is longer than `limit` ends with a sentence, if one ends below
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
    """Lines of a table; the columns from `right` on are aligned right. Cells are Markdown
    already."""
    marks = ["---" if index < right else "---:" for index in range(len(headers))]
    return [f"| {' | '.join(cells)} |" for cells in (headers, marks, *rows)]


def within(blocks: Sequence[Sequence[str]], limit: int, more: str) -> str:
    """Blocks of lines, parted by blank lines, up to `limit` bytes in UTF-8.

    What does not fit is left out from the end, line by line, and `more` says so in its place."""
    room = limit - len(f"\n{more}\n".encode())
    lines: list[str] = []
    used = 0
    for block in blocks:
        for line in (*block, ""):
            used += len(line.encode()) + 1
            if used > room:
                return "\n".join([*lines, "", more, ""])
            lines.append(line)
    return "\n".join(lines).rstrip("\n") + "\n"
