"""Standard streams that take whatever is to be said, in any locale."""

import sys
from io import TextIOWrapper


def speak_utf8() -> None:
    """Makes standard output and error write UTF-8; what cannot be written is escaped instead of raising."""
    for stream, errors in ((sys.stdout, "surrogateescape"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors)
