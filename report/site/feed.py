"""feed.xml: what happened, as an Atom feed (RFC 4287). The same results give the same feed."""

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from report.base.errors import one_line
from report.site.changes import Event

FEED = "feed.xml"

_ATOM = "http://www.w3.org/2005/Atom"
_LONGEST = 2_000
#: Older ones are on the page.
_MOST = 100
_NEVER = "1970-01-01T00:00:00Z"


def _id(text: str) -> str:
    return uuid.uuid5(uuid.NAMESPACE_URL, f"https://ratelimit-bench/{text}").urn


def _time(text: str) -> str:
    """As RFC 3339 has it; a feed without a valid time is none."""
    try:
        return (
            datetime.fromisoformat(text).astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        )
    except ValueError:
        return _NEVER


def atom_feed(events: Sequence[Event], address: str) -> str:
    """
    Args:
        events: the newest first.
        address: of the site, with a slash at its end; empty where it is not known: links are then relative
            to the feed.
    """
    feed = Element("feed", {"xmlns": _ATOM, "xml:lang": "en"})
    SubElement(feed, "title").text = "ratelimit-bench: campaigns, and conclusions that changed"
    SubElement(feed, "id").text = _id(address or "site")
    SubElement(feed, "updated").text = _time(events[0].at) if events else _NEVER
    SubElement(SubElement(feed, "author"), "name").text = "ratelimit-bench"
    SubElement(feed, "link", {"rel": "self", "type": "application/atom+xml", "href": f"{address}{FEED}"})
    SubElement(feed, "link", {"rel": "alternate", "type": "text/html", "href": f"{address}index.html"})
    for event in events[:_MOST]:
        entry = SubElement(feed, "entry")
        SubElement(entry, "title").text = one_line(event.title)
        SubElement(entry, "id").text = _id(event.id)
        SubElement(entry, "updated").text = _time(event.at)
        SubElement(entry, "link", {"href": f"{address}{event.address}"})
        SubElement(entry, "category", {"term": "change" if event.change else "measurement"})
        SubElement(entry, "summary").text = one_line(event.text, _LONGEST)
    indent(feed)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(feed, encoding="unicode")}\n'
