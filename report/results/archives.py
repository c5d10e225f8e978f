"""Campaigns below a folder of results, in folders and packed. An archive may come from anybody."""

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
#: Of one archive, unpacked: the largest campaign here has 6 MB.
MAX_BYTES = 2 * 1024**3
_TOO_LARGE = f"it holds more than {MAX_BYTES // 1024**3} GB"
_PIECE = 1024**2


@contextmanager
def found_campaigns(root: Path, *documents: str) -> Iterator[list[tuple[PurePosixPath, Path, str]]]:
    """The campaigns below `root`, at any depth, by their places: folders with one of `documents`.

    For each its place below `root`, the folder that holds its files, and why it cannot be read
    (empty if it can be). Unpacked folders are removed at the end."""
    with TemporaryDirectory(prefix="campaigns-") as scratch:
        yield sorted(_walk(root, documents, Path(scratch)))


def _walk(
    root: Path, documents: Sequence[str], scratch: Path
) -> Iterator[tuple[PurePosixPath, Path, str]]:
    for at, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        place = PurePosixPath(Path(at).relative_to(root).as_posix())
        if not set(documents).isdisjoint(files):
            yield place, Path(at), ""
        for name in sorted(files):
            # One that was unpacked where it lies is there already.
            unpacked_folder = Path(at) / name.removesuffix(SUFFIX)
            unpacked = any((unpacked_folder / document).is_file() for document in documents)
            if name.endswith(SUFFIX) and not name.startswith(".") and not unpacked:
                yield from _unpacked(
                    Path(at) / name, place / name.removesuffix(SUFFIX), documents, scratch
                )


def _unpacked(
    archive: Path, place: PurePosixPath, documents: Sequence[str], scratch: Path
) -> Iterator[tuple[PurePosixPath, Path, str]]:
    folder = scratch / place
    try:
        unpack_judged(archive, folder)
    except ReportError as error:
        yield place, folder, error.lines[0]
        return
    inside = [at for at, _, files in os.walk(folder) if not set(documents).isdisjoint(files)]
    for at in map(Path, inside):
        # STAMP.tar.xz mostly holds one folder, STAMP.
        yield place if len(inside) == 1 else place / at.relative_to(folder).as_posix(), at, ""


def unpack_judged(archive: Path, folder: Path) -> None:
    """As `unpack`, with what newer rules say of the results; raises ReportError if that is
    damaged."""
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
        # What is packed may be far larger than the archive: nothing is read before that is known.
        with lzma.open(archive) as packed, TemporaryFile() as plain:
            while piece := packed.read(_PIECE):
                plain.write(piece)
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
                # A sparse file says more than it holds.
                if sum(member.size for member in members) > MAX_BYTES:
                    raise _refused(archive, _TOO_LARGE)
                # Not by `extractall`: its filter is missing before Python 3.11.4, as in Debian 12.
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
