"""Selects what is compared: `LABEL`, `DIR#LABEL` or `DIR`, read from campaigns."""

import difflib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from report.analysis.cells import cells
from report.analysis.rankings import Ranking
from report.analysis.summary import Summary, summarize
from report.base.errors import USAGE, FieldError, ReportError, one_line
from report.base.files import read_document
from report.results.load import load_campaign
from report.results.model import MANIFEST, Campaign
from report.results.validate import MAX_DOCUMENT_BYTES, parse_json


@dataclass(frozen=True)
class Selection:
    campaign: Campaign
    folder: Path
    label: str | None
    summaries: tuple[Summary, ...]
    """The rows of the target that is meant, or all."""
    every: tuple[Summary, ...]
    """Of the campaign."""

    @property
    def text(self) -> str:
        return f"{self.campaign.name}#{self.label}" if self.label else self.campaign.name

    @cached_property
    def rankings(self) -> tuple[Ranking, ...]:
        """Of the campaign, of each layer by itself."""
        layers = dict.fromkeys(row.identity.layer for row in self.every)
        found = [
            cells([row for row in self.every if row.identity.layer == layer], self.every) for layer in layers
        ]
        return tuple(ranking for of_layer in found for cell in of_layer for ranking in cell.rankings)


def parse_selection(text: str, default: Path) -> tuple[Path, str | None]:
    """`LABEL` is a target of the default campaign; what holds a `/`, and what stands before `#`, is a folder.

    Raises ReportError for an empty text or an empty folder before `#`."""
    folder, sign, label = text.rpartition("#")
    if sign:
        if not folder:
            raise ReportError(f"{one_line(text)!r}: give DIR#TARGET, or a target alone", USAGE)
        return Path(folder), label or None
    if not text:
        raise ReportError("a side of the comparison is empty: give a target, DIR#TARGET or DIR", USAGE)
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
            raise ReportError(
                f"campaign {one_line(campaign.name)} has no row to compare: runs with faults, and rows of "
                "the store layer, are in no comparison",
                USAGE,
            )
        chosen = summaries if label is None else tuple(row for row in summaries if _is_called(row, label))
        if not chosen:
            labels = sorted({row.identity.label for row in summaries})
            near = difflib.get_close_matches(label or "", labels, 1)
            meant = f", did you mean {near[0]}?" if near else ""
            raise ReportError(
                f"{one_line(label)} is no target of campaign {one_line(campaign.name)}{meant} "
                f"(it has {', '.join(map(one_line, labels))}){_where_else(folder, label)}",
                USAGE,
            )
        return Selection(campaign, folder.resolve(), label, chosen, summaries)


def _where_else(folder: Path, label: str | None) -> str:
    """The newest campaign beside this one whose plan has the target, for the end of a sentence."""
    here = folder.resolve()

    def by_age(manifest: Path) -> tuple[bool, str]:
        # Names that start with a time sort by it; others, such as `example`, come last.
        name = manifest.parent.name
        return name[:8].isdigit(), name

    for manifest in sorted(here.parent.glob(f"*/{MANIFEST}"), key=by_age, reverse=True):
        if manifest.parent.is_symlink() or manifest.parent == here:
            continue
        try:
            document: Any = parse_json(read_document(manifest, MAX_DOCUMENT_BYTES))
            planned = document["plan"]["configurations"]
            labels = {each["configuration"]["target"]["label"] for each in planned}
        except (OSError, FieldError, KeyError, TypeError):
            continue
        if label in labels:
            name = manifest.parent.name
            return f"; campaign {one_line(name)} has it: --campaign {one_line(folder.parent / name)}"
    return ""


def _is_called(summary: Summary, label: str) -> bool:
    """Rows by the label, or by the full text, `client@store:topology+option`."""
    identity = summary.identity
    options = "".join(f"+{option}" for option in identity.options)
    return label in (
        identity.label,
        f"{identity.client}@{identity.store_program}:{identity.topology}{options}",
    )
