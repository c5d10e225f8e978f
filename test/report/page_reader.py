"""A page of the report as tests read it."""

import json
import re
from html.parser import HTMLParser
from itertools import accumulate
from typing import Any


class Reader(HTMLParser):
    """Collects tags, and the texts of scripts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script" and self.cdata_elem == "script":
            self.scripts.append((self.tags[-1][1], data))
        else:
            self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    return reader


def data_of(reader: Reader) -> Any:
    text = "".join(
        text for attributes, text in reader.scripts if attributes.get("id") == "report-data"
    )
    return json.loads(text)


class Table:
    """The text of a table's heads and rows, as a page without styles shows it."""

    def __init__(self, attributes: dict[str, str | None]) -> None:
        self.id = attributes.get("id") or ""
        self.kind = attributes.get("class") or ""
        self.heads: list[str] = []
        self.rows: list[list[str]] = []
        self.texts: list[list[str]] = []
        """The runs of text of each cell: a tag begins another one."""


class _TableReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[Table] = []
        self._runs: list[str] | None = None
        self._in_head = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append(Table(dict(attrs)))
        elif tag in ("thead", "tbody"):
            self._in_head = tag == "thead"
        elif tag == "tr" and not self._in_head:
            self.tables[-1].rows.append([])
        elif tag in ("th", "td"):
            self._runs = [""]
        elif self._runs is not None:
            self._runs.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td") and self._runs is not None:
            text = " ".join("".join(self._runs).split())
            self.tables[-1].texts.append(self._runs)
            (self.tables[-1].heads if self._in_head else self.tables[-1].rows[-1]).append(text)
            self._runs = None
        elif self._runs is not None:
            self._runs.append("")

    def handle_data(self, data: str) -> None:
        if self._runs is not None:
            self._runs[-1] += data


def tables_of(page: str) -> list[Table]:
    reader = _TableReader()
    reader.feed(page)
    return reader.tables


def cpu_heads(page: str) -> list[str]:
    """The heads of all columns of CPU time; not those that conclude, or tell of other programs."""
    heads = [head for table in tables_of(page) for head in table.heads]
    return [
        head
        for head in heads
        if re.search(r"\bCPU\b(?! conclusion)|µs", head) and "Other" not in head
    ]


def glued_texts(page: str) -> list[str]:
    """Cells in which two texts stand together without a separator, as `27,04120,477` for `27,041
    (20,477)`: what a style alone sets apart is one word where the table is copied or read aloud."""
    return [
        "".join(texts).strip()
        for table in tables_of(page)
        for texts in table.texts
        if any(map(_is_glued, accumulate(texts), texts[1:]))
    ]


def _is_glued(before: str, text: str) -> bool:
    return bool(before) and text[:1].isalnum() and not (before[-1].isspace() or before[-1] in "(–")
