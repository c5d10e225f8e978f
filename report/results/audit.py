"""Loads an audit: what limiters promise against what they do."""

from pathlib import Path

from report.base.errors import USAGE, FieldError, ReportError, one_line
from report.base.files import read_document
from report.results.records import Audit
from report.results.validate import MAX_DOCUMENT_BYTES, parse_json, validate_audit

AUDIT_FILE = "audit.json"

HOLDS = "holds"
BROKEN = "broken"
SKIPPED = "skipped"
FAILED = "failed"


def load_audit(folder: Path) -> Audit:
    """Reads `audit.json` of a folder.

    Raises:
        ReportError: exit code 2 when it is missing or not what the contract says, naming the field."""
    path = folder / AUDIT_FILE
    try:
        return validate_audit(parse_json(read_document(path, MAX_DOCUMENT_BYTES)))
    except OSError as error:
        raise ReportError(f"{one_line(path)} cannot be read: {error.strerror}", USAGE) from error
    except FieldError as error:
        raise ReportError(f"{one_line(path)}: {error}", USAGE) from error
