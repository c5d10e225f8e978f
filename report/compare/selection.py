"""Selects what is compared (`LABEL`, `DIR#LABEL` or `DIR`) from campaigns, and saves and finds
baselines."""

import difflib
import re
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from report.analysis.cells import cells
from report.analysis.rankings import Ranking
from report.analysis.summary import Summary, summarize
from report.base.errors import ENVIRONMENT, USAGE, WRITE_FAILED, FieldError, ReportError, one_line
from report.base.files import read_document
from report.results.load import CHECKSUMS, load_campaign
from report.results.model import MANIFEST, Campaign
from report.results.validate import MAX_DOCUMENT_BYTES, parse_json
from report.results.verdicts import VERDICTS


@dataclass(frozen=True)
class Selection:
    campaign: Campaign
    folder: Path
    label: str | None
    summaries: tuple[Summary, ...]
    """The rows of the target that the label names, or all rows without a label."""
    every: tuple[Summary, ...]
    """All rows of the campaign."""

    @property
    def text(self) -> str:
        return f"{self.campaign.name}#{self.label}" if self.label else self.campaign.name

    @cached_property
    def rankings(self) -> tuple[Ranking, ...]:
        """The rankings of the campaign, those of each layer by themselves."""
        layers = dict.fromkeys(row.identity.layer for row in self.every)
        rows_by_layer = (
            [row for row in self.every if row.identity.layer == layer] for layer in layers
        )
        cells_of_layers = [
            cell for rows_of_layer in rows_by_layer for cell in cells(rows_of_layer, self.every)
        ]
        return tuple(ranking for cell in cells_of_layers for ranking in cell.rankings)


def parse_selection(text: str, default: Path) -> tuple[Path, str | None]:
    """The folder and the target that a side of the comparison names.

    `LABEL` is a target of the default campaign. A text with a `/`, or before `#`, is a folder.

    Raises ReportError for an empty text or an empty folder before `#`."""
    folder, sign, label = text.rpartition("#")
    if sign:
        if not folder:
            raise ReportError(f"{one_line(text)!r}: give DIR#TARGET, or a target alone", USAGE)
        return Path(folder), label or None
    if not text:
        raise ReportError(
            "a side of the comparison is empty: give a target, DIR#TARGET or DIR", USAGE
        )
    return (Path(text), None) if "/" in text else (default, text)


class CampaignReader:
    def __init__(self) -> None:
        self._read: dict[Path, tuple[Campaign, tuple[Summary, ...]]] = {}

    def read(self, folder: Path) -> tuple[Campaign, tuple[Summary, ...]]:
        key = folder.resolve()
        if key not in self._read:
            campaign = load_campaign(key if key.is_dir() else folder)
            self._read[key] = (campaign, summarize(campaign))
        return self._read[key]

    def select(self, folder: Path, label: str | None) -> Selection:
        campaign, summaries = self.read(folder)
        if not summaries:
            reason = "runs with faults, and rows of the store layer, are in no comparison"
            raise ReportError(
                f"campaign {one_line(campaign.name)} has no row to compare: {reason}", USAGE
            )
        chosen = (
            summaries
            if label is None
            else tuple(row for row in summaries if _is_called(row, label))
        )
        if not chosen:
            labels = sorted({row.identity.label for row in summaries})
            close_matches = difflib.get_close_matches(label or "", labels, 1)
            suggestion = f", did you mean {close_matches[0]}?" if close_matches else ""
            problem = (
                f"{one_line(label)} is no target of campaign {one_line(campaign.name)}{suggestion}"
            )
            available = f"(it has {', '.join(map(one_line, labels))}){_where_else(folder, label)}"
            raise ReportError(f"{problem} {available}", USAGE)
        return Selection(campaign, folder.resolve(), label, chosen, summaries)


def _where_else(folder: Path, label: str | None) -> str:
    """The newest campaign beside this one whose plan has the target, for the end of a sentence."""
    own_folder = folder.resolve()

    def by_age(manifest: Path) -> tuple[bool, str]:
        # Names that start with a time sort by it; others, such as `example`, come last.
        name = manifest.parent.name
        return name[:8].isdigit(), name

    for manifest in sorted(own_folder.parent.glob(f"*/{MANIFEST}"), key=by_age, reverse=True):
        if manifest.parent.is_symlink() or manifest.parent == own_folder:
            continue
        try:
            document: Any = parse_json(read_document(manifest, MAX_DOCUMENT_BYTES))
            configurations = document["plan"]["configurations"]
            labels = {entry["configuration"]["target"]["label"] for entry in configurations}
        except (OSError, FieldError, KeyError, TypeError):
            continue
        if label in labels:
            name = manifest.parent.name
            return (
                f"; campaign {one_line(name)} has it: --campaign {one_line(folder.parent / name)}"
            )
    return ""


def _is_called(summary: Summary, label: str) -> bool:
    """Whether a label names this row, also by its full text, `client@store:topology+option`."""
    identity = summary.identity
    options = "".join(f"+{option}" for option in identity.options)
    full = f"{identity.client}@{identity.store_program}:{identity.topology}{options}"
    return label in (identity.label, full)


BASELINES = "baselines"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")


def baseline_folder(root: Path, name: str) -> Path:
    if not _NAME.fullmatch(name):
        remedy = "give a name of letters, digits, dot, dash, underscore"
        raise ReportError(f"baseline {one_line(name, 60)!r}: {remedy}", USAGE)
    return root / BASELINES / name


def find_baseline(root: Path, name: str) -> Path:
    """The folder of a saved baseline.

    Raises ReportError when none has that name; its message names the saved ones."""
    folder = baseline_folder(root, name)
    if folder.is_dir():
        return folder
    saved_names = [
        path.name for path in sorted((root / BASELINES).glob("*")) if not path.name.startswith(".")
    ]
    available = (
        f"it has {', '.join(map(one_line, saved_names))}" if saved_names else "none was saved"
    )
    problem = f"there is no baseline {name} in {one_line(root / BASELINES)} ({available})"
    raise ReportError(f"{problem}: save one with --save-baseline {name}", USAGE)


def save_baseline(root: Path, name: str, folder: Path, campaign: Campaign) -> Path:
    """Copies the documents of a campaign, either all of them or none. It replaces an older baseline
    of that name."""
    target = baseline_folder(root, name)
    parent = target.parent
    if target.resolve() == folder.resolve():
        raise ReportError(f"{one_line(folder)} is that baseline already", USAGE)
    try:
        parent.mkdir(parents=True, exist_ok=True)
        if parent.resolve().parent != root.resolve():
            raise ReportError(
                f"{one_line(parent)} leads out of {one_line(root)}: remove it", ENVIRONMENT
            )
        fresh = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=parent))
    except OSError as error:
        raise ReportError(
            f"{one_line(parent)} cannot be written: {error.strerror}", ENVIRONMENT
        ) from error
    old = fresh.with_name(f"{fresh.name}.old")
    try:
        for file in [
            MANIFEST,
            CHECKSUMS,
            VERDICTS,
            *(run.file for run in (*campaign.counted, *campaign.beside)),
        ]:
            if (folder / file).exists():
                (fresh / file).parent.mkdir(exist_ok=True)
                shutil.copyfile(folder / file, fresh / file)
        fresh.chmod(0o755)
        with suppress(FileNotFoundError):
            target.rename(old)
        fresh.rename(target)
    except OSError as error:
        raise ReportError(
            f"{one_line(target)} cannot be written: {error.strerror}", WRITE_FAILED
        ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
    return target
