"""A page of the report as tests read it."""

import json
from html.parser import HTMLParser
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
    text = "".join(text for attributes, text in reader.scripts if attributes.get("id") == "report-data")
    return json.loads(text)
