"""Loads the register of published claims, with the rows that measured them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.base.errors import USAGE, FieldError, ReportError, one_line
from report.results.validate import parse_json, validate_claims
from report.statistics.claim_rule import Expectation

#: Folder of the page and its files, beside those of the campaigns.
REPORT = "report"
REGISTER = "register.json"

#: What a publication may say of its measurement, with the words that name it.
MEASURED_THERE = {
    "load": "Load",
    "keys": "Keys",
    "limits": "Limits",
    "versions": "Versions",
    "hardware": "Hardware",
    "repetitions": "Repetitions",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Who says it and where; empty texts where that is not known."""

    project: str
    title: str
    date: str
    version: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedComparison:
    """What a claim says of two rows, or of a row and a published figure: new ÷ base."""

    id: str
    campaign: str
    metric: str
    new_text: str
    base_text: str
    conditions: str
    as_published: bool
    expected: Expectation | None
    new: tuple[str, ...]
    """Hashes of configurations; empty where the row was not measured."""
    base: tuple[str, ...]
    published: float | None
    """The figure that stands in the place of the base."""
    missing: str
    """Why a row of a measured campaign is not there."""


@dataclass(frozen=True, slots=True)
class Decomposition:
    """Steps whose ratios multiply to that of the comparison `of`: id of each, and its cause."""

    of: str
    steps: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    id: str
    title: str
    sentence: str
    source: Source
    measured_there: tuple[tuple[str, str], ...]
    """Name and text of what was said."""
    not_said: tuple[str, ...]
    refuted_by: str
    comparisons: tuple[ClaimedComparison, ...]
    decomposition: Decomposition | None
    cannot_be_told: tuple[str, str] | None
    """Why, and what it takes."""
    needs: tuple[str, str] | None
    """A program that must be named, and where it comes from."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClaimCampaign:
    """A campaign that measures claims."""

    id: str
    folder: str
    """Below that of all claims; empty where it was not measured."""
    earlier: tuple[str, ...]
    """Of the others that measured the same, the newest first."""
    differs: tuple[str, ...]
    """Settings that are not those of its file."""

    @property
    def folders(self) -> tuple[str, ...]:
        """The newest first; none where it was not measured."""
        return (self.folder, *self.earlier) if self.folder else ()


@dataclass(frozen=True, slots=True)
class ClaimsRegister:
    harness: str
    claims: tuple[Claim, ...]
    campaigns: Mapping[str, ClaimCampaign]


def _comparison(document: Mapping[str, Any]) -> ClaimedComparison:
    rows = document.get("rows", {"new": (), "base": ()})
    expected = document.get("expected")
    return ClaimedComparison(
        id=document["id"],
        campaign=document["campaign"],
        metric=document["metric"],
        new_text=document["new_text"],
        base_text=document["base_text"],
        conditions=document["conditions"],
        as_published=document["as_published"],
        expected=None if expected is None else Expectation(**expected),
        new=tuple(rows["new"]),
        base=tuple(rows["base"]),
        published=document["base"].get("published"),
        missing=document.get("missing", ""),
    )


def _pair(document: Mapping[str, str] | None, names: tuple[str, str]) -> tuple[str, str] | None:
    return None if document is None else (document[names[0]], document[names[1]])


def _claim(document: Mapping[str, Any]) -> Claim:
    source, there = document["source"], document["measured_there"]
    parts = document.get("decomposition")
    return Claim(
        id=document["id"],
        title=document["title"],
        sentence=document["sentence"],
        source=Source(
            project=source["project"],
            **{name: source.get(name, "") for name in ("title", "date", "version", "address")},
        ),
        measured_there=tuple((text, there[name]) for name, text in MEASURED_THERE.items() if name in there),
        not_said=(
            *(text.lower() for name, text in MEASURED_THERE.items() if name not in there),
            *there.get("not_said", ()),
        ),
        refuted_by=document["refuted_by"],
        comparisons=tuple(_comparison(each) for each in document["comparisons"]),
        decomposition=None
        if parts is None
        else Decomposition(
            parts["of"], tuple((step["comparison"], step["cause"]) for step in parts["steps"])
        ),
        cannot_be_told=_pair(document.get("cannot_be_told"), ("why", "takes")),
        needs=_pair(document.get("needs"), ("program", "from")),
        notes=tuple(document.get("notes", ())),
    )


def load_register(folder: Path) -> ClaimsRegister:
    """Reads `register.json` of a folder with what was measured for claims.

    Raises:
        ReportError: exit code 2 when it is missing or not what the contract says, naming the field.
    """
    path = folder / REPORT / REGISTER
    try:
        document = validate_claims(parse_json(path.read_bytes()))
    except OSError as error:
        raise ReportError(f"{one_line(path)} cannot be read: {error.strerror}", USAGE) from error
    except FieldError as error:
        raise ReportError(f"{one_line(path)}: {error}", USAGE) from error
    return ClaimsRegister(
        harness=document["harness"],
        claims=tuple(_claim(each) for each in document["claims"]),
        campaigns={
            each["id"]: ClaimCampaign(
                each["id"], each.get("folder", ""), tuple(each.get("earlier", ())), tuple(each["differs"])
            )
            for each in document["campaigns"]
        },
    )
