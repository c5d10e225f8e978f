"""The replies of those whose statements were judged, printed beside the rows that they answer."""

from collections.abc import Mapping
from pathlib import Path

#: The folder below that of the claims, with a file `CLAIM-ID.md` for each reply.
REPLIES = "replies"

_MAX_BYTES = 20_000


def read_replies(folder: Path) -> Mapping[str, str]:
    """The text of each reply by the id of its claim. The README of the folder is no reply."""
    files = sorted((folder / REPLIES).glob("*.md"))
    return {
        path.stem: path.read_text("utf-8", errors="replace")[:_MAX_BYTES].strip()
        for path in files
        if path.stem != "README" and path.is_file()
    }
