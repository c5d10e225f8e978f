"""Finds campaigns below a folder of results, in folders and archives, and unpacks archives, which
may come from anybody."""

import lzma
import os
import shutil
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory, TemporaryFile

from report.base.errors import USAGE, FieldError, ReportError, one_line
from report.results.verdicts import VERDICTS, unpack_verdicts

SUFFIX = ".tar.xz"
#: The size of one unpacked archive. The largest campaign of this project has 6 MB.
MAX_BYTES = 2 * 1024**3
_TOO_LARGE = f"it holds more than {MAX_BYTES // 1024**3} GB"
_CHUNK_BYTES = 1024**2


@contextmanager
def found_campaigns(root: Path, *documents: str) -> Iterator[list[tuple[PurePosixPath, Path, str]]]:
    """The campaigns below `root` at any depth, which are folders with one of `documents`.

    Each has its place below `root`, the folder that holds its files, and the reason for which it
    cannot be read, which is empty if it can. Unpacked folders are removed at the end."""
    with TemporaryDirectory(prefix="campaigns-") as scratch:
        yield sorted(_walk(root, documents, Path(scratch)))


def _walk(
    root: Path, documents: Sequence[str], scratch: Path
) -> Iterator[tuple[PurePosixPath, Path, str]]:
    for path, folder_names, file_names in os.walk(root):
        folder = Path(path)
        folder_names[:] = sorted(name for name in folder_names if not name.startswith("."))
        place = PurePosixPath(folder.relative_to(root).as_posix())
        if not set(documents).isdisjoint(file_names):
            yield place, folder, ""

        for name in sorted(file_names):
            if not name.endswith(SUFFIX) or name.startswith("."):
                continue

            # An archive that was unpacked beside itself is found as a folder.
            stem = name.removesuffix(SUFFIX)
            if not any((folder / stem / document).is_file() for document in documents):
                yield from _unpacked(folder / name, place / stem, documents, scratch)


def _unpacked(
    archive: Path, place: PurePosixPath, documents: Sequence[str], scratch: Path
) -> Iterator[tuple[PurePosixPath, Path, str]]:
    folder = scratch / place
    try:
        unpack_judged(archive, folder)
    except ReportError as error:
        yield place, folder, error.lines[0]
        return

    campaign_folders = [
        Path(path)
        for path, _, file_names in os.walk(folder)
        if not set(documents).isdisjoint(file_names)
    ]
    # An archive STAMP.tar.xz usually holds one folder STAMP, which then has the place of the
    # archive.
    if len(campaign_folders) == 1:
        yield place, campaign_folders[0], ""
        return
    for campaign_folder in campaign_folders:
        yield place / campaign_folder.relative_to(folder).as_posix(), campaign_folder, ""


def unpack_judged(archive: Path, folder: Path) -> None:
    """Unpacks an archive as `unpack` does, with the verdicts of newer rules about its results.

    Also raises ReportError if these verdicts are damaged."""
    unpack(archive, folder)
    try:
        unpack_verdicts(archive, folder)
    except FieldError as error:
        raise _refused(archive, f"{VERDICTS} above it: {error}") from error


def unpack(archive: Path, folder: Path) -> None:
    """Unpacks an archive of plain files and folders.

    Raises ReportError, and unpacks nothing, for a link, a device, an absolute or parent path, or
    more than `MAX_BYTES`."""
    try:
        # The content may be far larger than the archive, so nothing is read before its size is
        # known.
        with lzma.open(archive) as packed, TemporaryFile() as plain:
            while chunk := packed.read(_CHUNK_BYTES):
                plain.write(chunk)
                if plain.tell() > MAX_BYTES:
                    raise _refused(archive, _TOO_LARGE)
            plain.seek(0)
            with tarfile.open(fileobj=plain, mode="r:") as opened:
                members = opened.getmembers()
                for member in members:
                    path = PurePosixPath(member.name)
                    if not (member.isfile() or member.isdir()):
                        raise _refused(
                            archive, f"{one_line(member.name, 80)} is neither file nor folder"
                        )
                    if path.is_absolute() or ".." in path.parts:
                        raise _refused(
                            archive, f"{one_line(member.name, 80)} leads out of the archive"
                        )
                # A sparse file is larger than what it takes in the archive.
                if sum(member.size for member in members) > MAX_BYTES:
                    raise _refused(archive, _TOO_LARGE)
                # `extractall` has no filter before Python 3.11.4, as in Debian 12.
                for member in members:
                    target = folder / member.name
                    (target if member.isdir() else target.parent).mkdir(parents=True, exist_ok=True)
                    if source := opened.extractfile(member):
                        with source, target.open("xb") as copy:
                            shutil.copyfileobj(source, copy)
    except (tarfile.TarError, lzma.LZMAError, EOFError, OSError, ValueError) as error:
        raise _refused(archive, f"it cannot be unpacked: {one_line(error, 200)}") from error


def _refused(archive: Path, reason: str) -> ReportError:
    return ReportError(f"{one_line(archive.name)}: {reason}", USAGE)
