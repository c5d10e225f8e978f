"""Reads a campaign's folder. A file that is not what it should be is named with its field, and stops all."""

from collections.abc import Iterable
from pathlib import Path

from .errors import ENVIRONMENT, USAGE, FieldError, ReportError, one_line
from .model import Campaign, Identity, Planned, Run
from .reading import planned_of, run_of
from .validate import MAX_DOCUMENT_BYTES, Document, parse_json, validate_manifest, validate_result

MANIFEST = "manifest.json"
_MAX_LINES = 20


def _read(path: Path) -> object:
    with path.open("rb") as file:
        return parse_json(file.read(MAX_DOCUMENT_BYTES + 1))


def _sort(folder: Path) -> tuple[list[Path], list[str]]:
    """Result files, and names of what a crash left behind, both by name."""
    results, ignored = [], []
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        hidden = path.name.startswith(".")
        if path.is_file() and (".tmp" in path.name or (hidden and ".json" in path.name)):
            ignored.append(path.name)
        elif path.suffix == ".json" and path.name != MANIFEST and not hidden:
            results.append(path)
    return results, ignored


def _read_manifest(folder: Path) -> Document | None:
    path = folder / MANIFEST
    return validate_manifest(_read(path)) if path.exists() else None


class _Admission:
    """Admits runs one after the other: each once, of one campaign, each configuration under one hash."""

    def __init__(self, manifest: Document | None, planned: Iterable[Planned]) -> None:
        self._campaign = manifest["campaign"] if manifest else None
        self._seen: dict[tuple[str, int], str] = {}
        self._identities: dict[str, tuple[Identity, str]] = {
            entry.identity.key: (entry.identity, MANIFEST) for entry in planned
        }

    def admit(self, run: Run) -> Run:
        if self._campaign is not None and run.campaign not in (None, self._campaign):
            raise FieldError(
                "$.campaign",
                f"is {one_line(run.campaign, 60)}, but {MANIFEST} says {one_line(self._campaign, 60)}",
            )
        identity, source = self._identities.setdefault(run.identity.key, (run.identity, run.file))
        if identity != run.identity:
            raise FieldError("$.configuration", f"differs from that of the same hash in {one_line(source)}")
        first = self._seen.setdefault((run.identity.key, run.run), run.file)
        if first != run.file:
            raise FieldError("$.run", f"{run.run} of this configuration is also in {one_line(first)}")
        return run


def load_campaign(folder: Path) -> Campaign:
    """Reads `manifest.json` and every result beside it.

    Args:
        folder: a campaign's folder, or a link to one.
    Returns:
        The campaign; its runs are ordered by file name.
    Raises:
        ReportError: exit code 2 when the folder does not exist, holds no result, or holds a file that is
            damaged, foreign, of another format version or there twice: one line a file. Exit code 3 when it
            cannot be read.
    """
    if not folder.is_dir():
        raise ReportError(f"{one_line(folder)} is not a folder: give a campaign, e.g. results/latest", USAGE)
    lines: list[str] = []
    runs: list[Run] = []
    manifest: Document | None = None
    planned: tuple[Planned, ...] = ()
    path = folder / MANIFEST
    try:
        files, ignored = _sort(folder)
        try:
            manifest = _read_manifest(folder)
            planned = planned_of(manifest) if manifest else ()
        except FieldError as error:
            lines.append(f"{MANIFEST}: {error}")
        admission = _Admission(manifest, planned)
        for path in files:
            try:
                runs.append(admission.admit(run_of(validate_result(_read(path)), path.name)))
            except FieldError as error:
                lines.append(f"{one_line(path.name)}: {error}")
    except OSError as error:
        raise ReportError(f"{one_line(path)} cannot be read: {error.strerror}", ENVIRONMENT) from error
    if lines:
        more = [f"… and {len(lines) - _MAX_LINES} more files"] if len(lines) > _MAX_LINES else []
        raise ReportError([*lines[:_MAX_LINES], *more], USAGE)
    if not runs:
        raise ReportError(f"{one_line(folder)} holds no result: nothing to report", USAGE)
    name = manifest["campaign"] if manifest else folder.resolve().name
    return Campaign(name=name, manifest=manifest, planned=planned, runs=tuple(runs), ignored=tuple(ignored))
