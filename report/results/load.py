"""Reads the folder of a campaign or audit, and names the field of a document that is wrong."""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

from msgspec import structs

from report.base.errors import ENVIRONMENT, USAGE, FieldError, ReportError, one_line
from report.base.files import read_document
from report.results import validate
from report.results.convert import run_of
from report.results.generated.records import Audit, MeasuredResult, PrintedResult, Sample
from report.results.identity import Identity
from report.results.model import MANIFEST, Campaign, Excluded, Planned, Run, Usage
from report.results.older_documents import never_counted
from report.results.plans import planned_of, rankings_of
from report.results.series import usage_over_time
from report.results.verdicts import VERDICTS, judged_again
from report.statistics.run_samples import select_run

#: The file with the checksums of the results of a campaign when they were written.
CHECKSUMS = "SHA256SUMS"
_MAX_CHECKSUMS_BYTES = 16 * 1024 * 1024
#: A line of that file. `sha256sum` writes two spaces, or a space and a star.
_CHECKSUM = re.compile(r"([0-9a-f]{64}) [ *](.+)")

#: The number of seconds and readings of roles that are kept of all selected runs together. It is
#: enough for 1,000 rows of 30 s, or a day of a single row.
MAX_SERIES_READINGS = 100_000

AUDIT_FILE = "audit.json"
#: The statuses of findings of an audit.
HOLDS = "holds"
BROKEN = "broken"
NOT_PROMISED = "not-promised"
SKIPPED = "skipped"
FAILED = "failed"

_MAX_LINES = 20

#: More files with the same text share a line.
_MAX_SAME_TEXT = 3

#: The reasons for which a run is listed and used in no figure.
_INTERRUPTED = "its round was interrupted, and measured again"
_FIRST = "it came before the first round that counts"

#: Members that are equal in most runs of a campaign.
_SHARED = ("campaign", "load_text", "notes", "runtime", "versions", "verdict")

Read = TypeVar("Read")
Value = TypeVar("Value")


def _bytes(path: Path) -> bytes:
    return read_document(path, validate.MAX_DOCUMENT_BYTES)


def list_files(folder: Path) -> tuple[list[Path], list[str]]:
    """Returns the result files, and the names of files that a crash left behind, both by name."""
    results = []
    ignored = []
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        is_hidden = path.name.startswith(".")
        if path.is_file() and (".tmp" in path.name or (is_hidden and ".json" in path.name)):
            ignored.append(path.name)
        elif path.suffix == ".json" and path.name not in (MANIFEST, VERDICTS) and not is_hidden:
            results.append(path)
    return results, ignored


def _read_checksums(folder: Path) -> Mapping[str, str]:
    """The checksums by file name. Empty without the file of checksums, and without its malformed
    lines."""
    try:
        text = read_document(folder / CHECKSUMS, _MAX_CHECKSUMS_BYTES).decode(
            "utf-8", errors="replace"
        )
    except FileNotFoundError:
        return {}

    return {line[2]: line[1] for line in map(_CHECKSUM.fullmatch, text.split("\n")) if line}


def _check_sum(sums: Mapping[str, str], name: str, data: bytes) -> None:
    """Raises FieldError for a file that differs from its checksum. Files without one are admitted,
    because runs made by hand have none."""
    if name in sums and hashlib.sha256(data).hexdigest() != sums[name]:
        raise FieldError(
            "$", f"differs from its checksum in {CHECKSUMS}: it was changed after the run"
        )


def _manifest(path: Path) -> validate.Document:
    return validate.validate_manifest(validate.parse_json(_bytes(path)))


class _Consistency:
    """Admits runs of one campaign one after the other. It checks that no run occurs twice, and that
    a configuration has one hash and one runtime.

    It keeps equal values of runs only once, so that ten thousand runs fit into memory."""

    def __init__(self, manifest: validate.Document | None, planned: Iterable[Planned]) -> None:
        self._campaign = manifest["campaign"] if manifest else None
        self._runtimes: dict[str, tuple[str, str]] = {}
        self._file_by_run: dict[tuple[str, int], str] = {}
        self._identities: dict[str, tuple[Identity, str]] = {
            entry.identity.key: (entry.identity, MANIFEST) for entry in planned
        }
        self._shared: dict[str, Any] = {}

    def check(self, run: Run) -> Run:
        """Returns the run to keep. Raises FieldError if it contradicts the runs before it."""
        if self._campaign is not None and run.record.campaign not in (None, self._campaign):
            run_campaign = one_line(run.record.campaign, 60)
            campaign = one_line(self._campaign, 60)
            raise FieldError("$.campaign", f"is {run_campaign}, but {MANIFEST} says {campaign}")

        self._check_runtime(run)

        identity, source = self._identities.get(run.identity.key, (run.identity, run.file))
        if identity != run.identity:
            raise FieldError(
                "$.configuration", f"differs from that of the same hash in {one_line(source)}"
            )

        first_file = self._file_by_run.setdefault((run.identity.key, run.run), run.file)
        if first_file != run.file:
            raise FieldError(
                "$.run", f"{run.run} of this configuration is also in {one_line(first_file)}"
            )

        self._identities.setdefault(run.identity.key, (run.identity, run.file))
        return self._slim(run, identity)

    def _check_runtime(self, run: Run) -> None:
        """Raises FieldError if runs of one configuration come from different runtimes. Figures from
        containers and from local processes never make one row."""
        if run.record.runtime is None:
            return

        runtime_id = run.record.runtime.id
        runtime, source = self._runtimes.setdefault(run.identity.key, (runtime_id, run.file))
        if runtime_id != runtime:
            other = f"{one_line(source)} of the same configuration says {one_line(runtime, 40)}"
            text = f"is {one_line(runtime_id, 40)}, but {other}: report them as two campaigns"
            raise FieldError("$.runtime.id", text)

    def _slim(self, run: Run, identity: Identity) -> Run:
        record = run.record
        measured = run.measured
        shared = {
            name: self._shared_value(getattr(record, name))
            for name in _SHARED
            if hasattr(record, name)
        }
        record = structs.replace(record, **shared)
        if measured:
            settings = self._shared_value(measured.client_settings)
            measured = replace(
                measured, record=cast(MeasuredResult, record), client_settings=settings
            )
        return replace(
            run,
            identity=identity,
            record=record,
            measured=measured,
            printed=record if isinstance(record, PrintedResult) else None,
            versions=self._shared_value(run.versions),
        )

    def _shared_value(self, value: Value) -> Value:
        """The first value that is equal to this one."""
        first_value: Value = self._shared.setdefault(repr(value), value)
        return first_value


def _read(path: Path, read: Callable[[Path], Read], excluded: list[Excluded]) -> Read | None:
    """The result of `read`. It is None for a file that breaks the contract, which joins
    `excluded`."""
    try:
        return read(path)
    except FieldError as error:
        excluded.append(Excluded(one_line(path.name), str(error)))
    except OSError as error:
        raise ReportError(
            f"{one_line(path)} cannot be read: {error.strerror}", ENVIRONMENT
        ) from error
    return None


def _selected_files(runs: Iterable[Run]) -> set[str]:
    """The files of the selected runs."""
    by_key: dict[str, list[Run]] = {}
    for run in runs:
        by_key.setdefault(run.identity.key, []).append(run)
    return {selected.file for members in by_key.values() if (selected := select_run(members))}


def _series(path: Path) -> tuple[tuple[Sample, ...], dict[str, tuple[Usage, ...]]]:
    result = validate.validate_result(validate.parse_json(_bytes(path)))
    if not isinstance(result, MeasuredResult):
        return (), {}
    return tuple(result.samples), usage_over_time(result)


def _with_series(folder: Path, runs: list[Run], excluded: list[Excluded]) -> tuple[list[Run], int]:
    """Reads the series of the selected runs, for which it reads these files once more. The series
    of all runs would not fit into memory.

    Returns all runs, and how many selected runs have no series because there were too many."""
    selected = _selected_files(runs)
    reading_count = 0
    dropped_count = 0
    runs_with_series = []
    for run in runs:
        if run.file in selected and run.measured:
            seconds, usage = _read(folder / run.file, _series, excluded) or ((), {})
            readings = len(seconds) + sum(map(len, usage.values()))
            if reading_count + readings <= MAX_SERIES_READINGS:
                reading_count += readings
                run = replace(run, measured=replace(run.measured, seconds=seconds, usage=usage))
            else:
                dropped_count += 1
        runs_with_series.append(run)
    return runs_with_series, dropped_count


def _refusals(excluded: Sequence[Excluded]) -> list[str]:
    """A line for each file, or one for all files with the same text if there are many, as in an old
    campaign."""
    by_text: dict[str, list[Excluded]] = {}
    for entry in excluded:
        by_text.setdefault(entry.text, []).append(entry)
    lines: list[str] = []
    for text, entries in by_text.items():
        if len(entries) <= _MAX_SAME_TEXT:
            lines += map(str, entries)
        else:
            lines.append(f"{entries[0].file} and {len(entries) - 1} more files: {text}")

    if len(lines) <= _MAX_LINES:
        return lines
    return [*lines[:_MAX_LINES], f"… and {len(lines) - _MAX_LINES} more lines"]


def _list_folder(folder: Path) -> tuple[Sequence[Path], Sequence[str], Mapping[str, str]]:
    """Returns the result files of a folder, the names of files to ignore, and the checksums by
    name."""
    try:
        files, ignored = list_files(folder)
        return files, ignored, _read_checksums(folder)
    except OSError as error:
        raise ReportError(
            f"{one_line(folder)} cannot be read: {error.strerror}", ENVIRONMENT
        ) from error
    except FieldError as error:
        raise ReportError(f"{one_line(folder / CHECKSUMS)}: {error}", USAGE) from error


def load_manifest(folder: Path) -> validate.Document:
    """The manifest of a campaign alone.

    Raises ReportError if it cannot be read, or is damaged."""
    try:
        return _manifest(folder / MANIFEST)
    except FieldError as error:
        raise ReportError(f"{one_line(folder / MANIFEST)}: {error}", USAGE) from error


def load_campaign(folder: Path, keep_going: bool = False, series: bool = True) -> Campaign:
    """Reads `manifest.json` and the results beside it one after the other.

    Args:
        keep_going: excludes files that are damaged, of another campaign or format version, or
            duplicates, and names them in the campaign. Otherwise such a file is an error.
        series: whether to read the seconds of the selected runs.

    Raises ReportError with exit code 2 and a line for each file that is an error, and for a folder
    that does not exist or holds no result. A file that cannot be read has exit code 3."""
    if not folder.is_dir():
        raise ReportError(
            f"{one_line(folder)} is not a folder: give a campaign, e.g. results/latest", USAGE
        )
    excluded: list[Excluded] = []
    files, ignored, sums = _list_folder(folder)

    path = folder / MANIFEST
    manifest = _read(path, _manifest, excluded) if path.is_symlink() or path.exists() else None
    planned = planned_of(manifest) if manifest else ()
    consistency = _Consistency(manifest, planned)
    newer_verdicts = _read(folder / VERDICTS, judged_again, excluded)

    places = {
        (entry.identity.key, run): place for entry in planned for run, place in entry.places.items()
    }

    def checked(path: Path) -> Run:
        name = path.relative_to(folder).as_posix()
        data = _bytes(path)
        _check_sum(sums, name, data)
        document = validate.parse_json(data)
        counts = path.parent == folder and not never_counted(document)
        result = validate.validate_result(document)
        if newer_verdicts and counts:
            result = newer_verdicts.applied(result, name)
        run = run_of(result, name)
        if not counts:
            return replace(run, set_aside=_FIRST if path.parent == folder else _INTERRUPTED)
        return replace(consistency.check(run), place=places.get((run.identity.key, run.run)))

    set_aside = [folder / name for name in (manifest or {}).get("set_aside", ())]
    loaded_runs = [
        run for path in (*files, *set_aside) if (run := _read(path, checked, excluded)) is not None
    ]

    # A diagnosis does not count, because its figures include the cost of the instruments.
    runs = [run for run in loaded_runs if not run.record.diagnosis and not run.set_aside]
    dropped_series = 0
    if series and (keep_going or not excluded):
        runs, dropped_series = _with_series(folder, runs, excluded)

    if excluded and not (keep_going and loaded_runs):
        raise ReportError(_refusals(excluded), USAGE)
    if not loaded_runs:
        raise ReportError(f"{one_line(folder)} holds no result: nothing to report", USAGE)

    return Campaign(
        name=manifest["campaign"] if manifest else folder.resolve().name,
        manifest=manifest,
        planned=planned,
        rankings=rankings_of(manifest, planned, loaded_runs),
        counted=tuple(runs),
        beside=tuple(run for run in loaded_runs if run.record.diagnosis or run.set_aside),
        ignored=tuple(ignored),
        excluded=tuple(excluded),
        series_left_out=dropped_series,
        judged_again=newer_verdicts is not None,
    )


def load_audit(folder: Path) -> Audit:
    """Reads `audit.json` of a folder. Raises ReportError if it is missing, or breaks the
    contract."""
    path = folder / AUDIT_FILE
    try:
        return validate.validate_audit(validate.parse_json(_bytes(path)))
    except OSError as error:
        raise ReportError(f"{one_line(path)} cannot be read: {error.strerror}", USAGE) from error
    except FieldError as error:
        raise ReportError(f"{one_line(path)}: {error}", USAGE) from error
