"""Reading documents, and writing whole files or none."""

import errno
import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from report.base.errors import ENVIRONMENT, WRITE_FAILED, FieldError, ReportError, one_line


def read_document(path: Path, max_bytes: int) -> bytes:
    """Reads a file of a campaign, which is no link, also where it has become one meanwhile.

    Raises FieldError for a link, no file, or a larger one. Nothing waits for the writer of a
    pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise FieldError("$", "is a link") from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FieldError("$", "is not a file")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise FieldError("$", f"is larger than {max_bytes // 1024**2} MiB")
    return data


def json_text(document: object, indent: int = 1) -> str:
    return json.dumps(document, ensure_ascii=False, indent=indent) + "\n"


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def _write_synced(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    with path.open("x", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def write_all(folder: Path, files: Mapping[str, str]) -> None:
    """Writes `files` (name to text) into `folder`: each beside its place, synced, then renamed over
    it.

    Readers see the old file or the new one, never a part; no file is replaced before all are on
    disk.

    A missing folder is made; its parent must exist and hold it (a link that leads elsewhere is
    refused). Raises ReportError with exit code 4 when the disk is full, else 3. Old files are then
    as they were."""
    if Path(os.path.realpath(folder)).parent != Path(os.path.realpath(folder.parent)):
        raise ReportError(
            f"{one_line(folder)} leads out of the campaign's folder: remove it", ENVIRONMENT
        )
    places = {folder / name: text for name, text in files.items()}
    try:
        folder.mkdir(exist_ok=True)
        for path, text in places.items():
            _write_synced(_temporary(path), text)
        for path in places:
            _temporary(path).replace(path)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        text = f"{one_line(folder)} cannot be written: {error.strerror}"
        raise ReportError(text, WRITE_FAILED if full else ENVIRONMENT) from error
    finally:
        for path in places:
            with suppress(OSError):
                _temporary(path).unlink(missing_ok=True)
