"""A site as tests read it."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from page_reader import Reader, data_of, read


@dataclass(frozen=True)
class Site:
    results: Path
    folder: Path

    def text(self, name: str = "index.html") -> str:
        return (self.folder / name).read_text(encoding="utf-8")


class SitePage:
    """index.html of a site as a reader sees it."""

    def __init__(self, text: str) -> None:
        self.html = text

    @cached_property
    def reader(self) -> Reader:
        return read(self.html)

    @cached_property
    def values(self) -> dict[str, dict[str, str | list[str]]]:
        found: dict[str, dict[str, str | list[str]]] = data_of(self.reader)["rows"]
        return found

    def between(self, start: str, end: str) -> str:
        """The text from one anchor to the next, on one line, with a space between elements."""
        part = self.html[self.html.index(f'id="{start}"') : self.html.index(f'id="{end}"')]
        return " ".join(read(part.replace("<", " <")).text.split())
