"""Compares pages that commands write with those in the repository."""

import re


def plain(text: str) -> str:
    """The text without what a formatter changes: the padding of tables, empty lines."""
    return re.sub(r"\s+", " ", re.sub(r"-{3,}", "---", text))
