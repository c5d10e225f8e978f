"""Reads documents, and writes either whole files or none."""

import errno
import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from report.base.errors import ENVIRONMENT, WRITE_FAILED, FieldError, ReportError, one_line


def read_document(path: Path, max_bytes: int) -> bytes:
    """Reads a file of a campaign. It never follows a link, even if the file has just become one,
    and never waits for the writer of a pipe.

    Raises FieldError for a link, for anything else that is not a file, and for a larger file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise FieldError("$", "is a link") from error
        raise
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise FieldError("$", "is not a file")

    with os.fdopen(descriptor, "rb") as file:
        # Python reserves as much memory as it is asked to read, so the limit would be slow.
        data = file.read(min(status.st_size, max_bytes) + 1)
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
    """Writes `files`, which are texts by name, into `folder`.

    Each file is written under a temporary name and synced, and renamed after all others are on disk
    too. So readers see the old file or the new one, and never a part.

    A missing folder is made. Its parent must exist and contain it, so that a link that leads
    elsewhere is refused. Raises ReportError with exit code 4 if the disk is full, else 3. The old
    files are then unchanged."""
    if Path(os.path.realpath(folder)).parent != Path(os.path.realpath(folder.parent)):
        raise ReportError(
            f"{one_line(folder)} leads out of the campaign's folder: remove it", ENVIRONMENT
        )

    texts = {folder / name: text for name, text in files.items()}
    try:
        folder.mkdir(exist_ok=True)
        for path, text in texts.items():
            _write_synced(_temporary(path), text)
        for path in texts:
            _temporary(path).replace(path)
    except OSError as error:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        text = f"{one_line(folder)} cannot be written: {error.strerror}"
        raise ReportError(text, WRITE_FAILED if is_full else ENVIRONMENT) from error
    finally:
        for path in texts:
            with suppress(OSError):
                _temporary(path).unlink(missing_ok=True)


def write_file(path: Path, text: str) -> None:
    """Writes one file that the user names, into a folder that exists, as `write_all` does."""
    folder = Path(os.path.realpath(path.parent))
    if not folder.is_dir():
        raise ReportError(
            f"{one_line(path)} cannot be written: there is no such folder", ENVIRONMENT
        )
    write_all(folder, {path.name: text})
