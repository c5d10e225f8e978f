"""Whether every link of a site leads to a file, and an anchor, of the site."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: What an element asks for from somewhere.
_ATTRIBUTES = ("href", "src", "action", "data", "poster", "srcset")
#: Elements whose address a reader follows; a browser loads those of the others by itself.
_FOLLOWED = ("a", "area")


class _Page(HTMLParser):
    """Collects links and anchors."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[tuple[str, str]] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in _ATTRIBUTES and value:
                self.links.append((tag, value))


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _target(page: Path, path: str) -> Path:
    found = page.parent / unquote(path) if path else page
    return found / "index.html" if found.is_dir() else found


def broken_links(site: Path) -> list[str]:
    """Each as a line that names the page; empty where all is well.

    A link to another site counts only if a browser would load it by itself. Files outside of the site are
    not there for its readers.
    """
    root = site.resolve()
    pages = {path.resolve(): _read(path) for path in sorted(root.rglob("*.html"))}
    lines = []
    for path, page in pages.items():
        name = path.relative_to(root)
        for tag, link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                if tag not in _FOLLOWED:
                    lines.append(f"{name}: {tag} loads {link}")
                continue
            target = _target(path, parts.path).resolve()
            if not target.is_file() or not target.is_relative_to(root):
                lines.append(f"{name}: {link} leads nowhere")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                lines.append(f"{name}: {link} has no such anchor")
    return lines
