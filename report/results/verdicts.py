"""Verdicts by newer rules than those of the time of measuring. They lie beside the results, which stay as
they are, and take the place of what these say.

`ratelimit-bench judge` writes them; nothing is judged here."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from report.base.files import read_document
from report.results import records, validate
from report.results.record import plain

#: Of a campaign's folder, or of one that has packed campaigns below it.
VERDICTS = "verdicts.json"

#: Members of a result that follow from its verdict.
_JUDGEMENT = ("limited_by", "outcome", "outcome_text")


class JudgedAgain:
    """What newer rules say of the results of one campaign."""

    def __init__(self, verdicts: records.Verdicts, campaign: records.Campaign) -> None:
        self._rules_version = verdicts.rules_version
        self._changes = {file: change for change in campaign.changes for file in change.files}

    def applied(self, document: object, file: str) -> object:
        """The document of a run with figures, judged by these rules unless it already was by newer ones."""
        if not isinstance(document, Mapping) or document.get("status") not in ("measured", "printed"):
            return document
        stored = document.get("verdict")
        if not isinstance(stored, Mapping) or stored.get("rules_version", 0) > self._rules_version:
            return document
        change = self._changes.get(file)
        verdict = plain(change.verdict) if change else stored
        found: dict[str, Any] = {**document, "verdict": {**verdict, "rules_version": self._rules_version}}
        if change and change.judgement:
            kept = {name: value for name, value in found.items() if name not in _JUDGEMENT}
            found = {**kept, **plain(change.judgement)}
        return found


def _read(path: Path) -> records.Verdicts:
    return validate.validate_verdicts(validate.parse_json(read_document(path, validate.MAX_DOCUMENT_BYTES)))


def judged_again(path: Path) -> JudgedAgain | None:
    """What newer rules say of the campaign with this file; None where nobody asked them."""
    if not path.is_file():
        return None
    verdicts = _read(path)
    own = (campaign for campaign in verdicts.campaigns if campaign.folder == "." and not campaign.archive)
    return next((JudgedAgain(verdicts, campaign) for campaign in own), None)


def unpack_verdicts(archive: Path, folder: Path) -> None:
    """Puts the verdicts of a packed campaign beside its unpacked results.

    They are in a file above the archive, which it knows by its digest: an archive that was changed since has
    none."""
    digest = sha256(archive.read_bytes()).hexdigest()
    for above in archive.resolve().parents:
        path = above / VERDICTS
        if not path.is_file():
            continue
        verdicts = _read(path)
        for campaign in verdicts.campaigns:
            if campaign.sha256 == digest:
                _write(verdicts, campaign, folder)


def _write(verdicts: records.Verdicts, campaign: records.Campaign, folder: Path) -> None:
    place = PurePosixPath(campaign.folder)
    if place.is_absolute() or ".." in place.parts or not (folder / place).is_dir():
        return
    own = msgspec.structs.replace(campaign, folder=".", archive=None, sha256=None)
    text = msgspec.json.encode(msgspec.structs.replace(verdicts, campaigns=[own]))
    (folder / place / VERDICTS).write_bytes(text)
