"""Applies verdicts of rules that are newer than a measurement. They are in a file beside the
results, which stay as they are, and replace the verdicts in them.

`ratelimit-bench judge` writes the file. Nothing is judged here."""

from hashlib import sha256
from pathlib import Path, PurePosixPath

import msgspec
from msgspec import structs

from report.base.contract import CONSTANTS
from report.base.files import read_document
from report.results import validate
from report.results.generated import records

#: The file with the verdicts of a campaign's folder, or of a folder with packed campaigns below it.
VERDICTS: str = CONSTANTS["verdicts_file"]


class JudgedAgain:
    """The verdicts of newer rules about the results of one campaign."""

    def __init__(self, verdicts: records.Verdicts, campaign: records.Campaign) -> None:
        self._rules_version = verdicts.rules_version
        self._not_checked = campaign.not_checked or []
        self._changes = {file: change for change in campaign.changes for file in change.files}

    def applied(self, result: validate.Result, file: str) -> validate.Result:
        """The result with the verdict of these rules, unless even newer ones have judged it."""
        if isinstance(result, records.FailedOrAbortedResult):
            return result
        if (result.verdict.rules_version or 0) > self._rules_version:
            return result

        change = self._changes.get(file)
        result = structs.replace(
            result, verdict=self._verdict(change.verdict if change else result.verdict)
        )
        if change is None or change.judgement is None:
            return result

        judgement = structs.asdict(change.judgement)
        if isinstance(result, records.PrintedResult):
            del judgement["outcome_text"]
        return structs.replace(result, **judgement)

    def _verdict(self, verdict: records.Verdict) -> records.Verdict:
        other_rules = [rule for rule in verdict.not_checked or () if rule not in self._not_checked]
        not_checked = [*self._not_checked, *other_rules] or None
        return structs.replace(verdict, rules_version=self._rules_version, not_checked=not_checked)


def _read(path: Path) -> records.Verdicts:
    return validate.validate_verdicts(
        validate.parse_json(read_document(path, validate.MAX_DOCUMENT_BYTES))
    )


def judged_again(path: Path) -> JudgedAgain | None:
    """The verdicts of newer rules in this file. None without the file, or if it is not about the
    campaign in its folder."""
    if not path.is_file():
        return None

    verdicts = _read(path)
    campaigns = (
        campaign
        for campaign in verdicts.campaigns
        if campaign.folder == "." and not campaign.archive
    )
    return next((JudgedAgain(verdicts, campaign) for campaign in campaigns), None)


def unpack_verdicts(archive: Path, folder: Path) -> None:
    """Writes the verdicts of a packed campaign beside its unpacked results.

    They are in a file above the archive, which names the archive by its digest. So an archive that
    was changed afterwards has none."""
    digest = sha256(archive.read_bytes()).hexdigest()
    for parent in archive.resolve().parents:
        path = parent / VERDICTS
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
    judged_campaign = structs.replace(campaign, folder=".", archive=None, sha256=None)
    text = msgspec.json.encode(structs.replace(verdicts, campaigns=[judged_campaign]))
    (folder / place / VERDICTS).write_bytes(text)
