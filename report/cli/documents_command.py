"""Prints the results of campaigns as the present schema has them: JSON for the orchestrator, a line
each.

The verdicts come from the rules in TypeScript, which read the present schema alone: older results
are converted by `report/results/older_documents.py`. A line `{"campaign": …}` stands before the
results of a campaign."""

import argparse
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from report.base.errors import USAGE, FieldError, ReportError, one_line
from report.base.files import read_document
from report.base.terminal import run_program
from report.results import validate
from report.results.archives import SUFFIX, unpack
from report.results.load import list_files
from report.results.model import MANIFEST
from report.results.older_documents import converted, never_counted
from report.results.plans import planned_of
from report.statistics.samples import Place


def _json(path: Path) -> validate.Document:
    document = validate.parse_json(read_document(path, validate.MAX_DOCUMENT_BYTES))
    return document if isinstance(document, dict) else {}


def _places(folder: Path) -> dict[tuple[str, int], Place]:
    planned = planned_of(validate.validate_manifest(_json(folder / MANIFEST)))
    return {
        (entry.identity.key, run): place for entry in planned for run, place in entry.places.items()
    }


def _results(folder: Path) -> Iterator[dict[str, Any]]:
    """The results of a campaign in the order of their names, without those that never count."""
    places = _places(folder)
    for path in list_files(folder)[0]:
        document = _json(path)
        if never_counted(document):
            continue
        result = converted(document)
        validate.validate_result(result)
        place = places.get((result.get("configuration_hash", ""), result["run"]))
        yield {"file": path.name, "place": place and "/".join(map(str, place)), "result": result}


def _print(document: object) -> None:
    print(json.dumps(document, ensure_ascii=False, separators=(",", ":")))


def _print_campaign(folder: Path, heading: dict[str, str]) -> None:
    _print({"campaign": heading})
    for result in _results(folder):
        _print(result)


def _campaigns(root: Path) -> list[Path]:
    return sorted(path.parent for path in root.rglob(MANIFEST))


def _print_archive(archive: Path, root: Path) -> None:
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    packed = {"archive": archive.relative_to(root).as_posix(), "sha256": digest}
    with TemporaryDirectory(prefix="documents-") as scratch:
        unpack(archive, Path(scratch))
        for folder in _campaigns(Path(scratch)):
            _print_campaign(folder, {**packed, "folder": folder.relative_to(scratch).as_posix()})


def _run(options: argparse.Namespace) -> int:
    root = Path(options.folder)
    if not root.is_dir():
        raise ReportError(
            f"{one_line(root)} is not a folder: give a campaign, or one of packed ones", USAGE
        )
    if (root / MANIFEST).is_file():
        _print_campaign(root, {"folder": "."})
        return 0
    archives = sorted(root.rglob(f"*{SUFFIX}"), key=str)
    if not archives:
        raise ReportError(f"{one_line(root)} holds neither {MANIFEST} nor packed campaigns", USAGE)
    for archive in archives:
        try:
            _print_archive(archive, root)
        except (FieldError, OSError) as error:
            raise ReportError(f"{one_line(archive)}: {one_line(error)}", USAGE) from error
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="report documents", description=__doc__)
    parser.add_argument("folder", help="a campaign, or a folder with packed campaigns below it")
    return run_program("documents", lambda: _run(parser.parse_args(arguments)))
