"""SHA256SUMS of a campaign: what its results were when they were written."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from report.base.errors import FieldError
from report.base.files import read_document

CHECKSUMS = "SHA256SUMS"
_MAX_BYTES = 16 * 1024 * 1024

#: Two spaces, as `sha256sum` writes it, or a star.
_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")


def read_checksums(folder: Path) -> Mapping[str, str]:
    """Checksums by file name; empty where there is no such file. A line that is none vouches for nothing."""
    try:
        text = read_document(folder / CHECKSUMS, _MAX_BYTES).decode("utf-8", errors="replace")
    except FileNotFoundError:
        return {}
    found = (_LINE.fullmatch(line) for line in text.split("\n"))
    return {line[2]: line[1] for line in found if line}


def check_sum(sums: Mapping[str, str], name: str, data: bytes) -> None:
    """A file without a checksum is admitted: older campaigns, and runs made by hand, have none."""
    if name in sums and hashlib.sha256(data).hexdigest() != sums[name]:
        raise FieldError("$", f"differs from its checksum in {CHECKSUMS}: it was changed after the run")
