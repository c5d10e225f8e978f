"""Reads the files of claims. Each file also describes the campaign that measures its claims."""

from collections.abc import Mapping
from pathlib import Path

import yaml

from report.base.errors import USAGE, ReportError, one_line
from report.claims.compared_rows import Document, described_row
from report.claims.criterion import criterion_of
from report.claims.metrics import METRICS

#: The file of a folder of claims that says in Markdown what readers must know before the verdicts.
NOTICE = "notice.md"

#: The errors of reading a file that is damaged or not a file of claims.
_READING_ERRORS = (
    OSError,
    yaml.YAMLError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    RecursionError,
)


def read_claims(folder: Path) -> list[Document]:
    """The claims of all files in the order of their ids, with all members of their rows. A claim
    that several campaigns measure stands in the file of each, and is one claim here.

    Raises ReportError, which names the file and what is wrong in it."""
    claims: dict[str, Document] = {}
    for path in sorted(folder.glob("*.yaml")):
        try:
            for claim in _claims_of(path):
                claim_id = str(claim["id"])
                claims[claim_id] = _joined(claims.get(claim_id), claim)
        except _READING_ERRORS as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else error
            raise ReportError(f"{one_line(path.name)}: {one_line(reason)}", USAGE) from error
    if not claims:
        raise ReportError(f"{one_line(folder)} holds no claims", USAGE)
    return [claims[claim_id] for claim_id in sorted(claims)]


def read_notice(folder: Path) -> str:
    """The notice about all claims of the folder. Empty if the folder has none."""
    path = folder / NOTICE
    return path.read_text("utf-8", errors="replace").strip() if path.is_file() else ""


def is_question(claim: Document) -> bool:
    """Whether the entry asks what users ask. Otherwise it is a statement that somebody
    published."""
    return "asks" in claim


def _joined(claim: Document | None, other: Document) -> Document:
    """A claim with the comparisons of another file. What both files say about it stands once."""
    if claim is None:
        return other
    if (claim.get("says"), claim.get("asks")) != (other.get("says"), other.get("asks")):
        raise ValueError(f"{claim['id']} says something else in another file")
    return {**other, **claim, "expects": [*claim["expects"], *other["expects"]]}


def _claims_of(path: Path) -> list[Document]:
    settings = yaml.safe_load(path.read_text("utf-8"))
    claims: list[Document] = []
    for claim in settings["claims"]:
        if is_question(claim) == ("says" in claim):
            raise ValueError(f"{claim['id']} needs either `says` or `asks`")
        if not is_question(claim) and "address" not in claim["says"]:
            raise ValueError(f"{claim['id']}: what is published has an `address`")
        expects = [
            {
                **_expectation(entry, settings),
                "favours": entry.get("favours", claim.get("favours", "of")),
                "file": path.name,
            }
            for entry in claim.get("expects", [])
        ]
        for expectation in expects:
            if is_question(claim) == (expectation["criterion"] is not None):
                raise ValueError(
                    f"{claim['id']}: a statement takes a `ratio: [low, high]`, and a question none"
                )
        claims.append({**claim, "file": path.name, "expects": expects})
    return claims


def _expectation(entry: Document, settings: Document) -> Document:
    """A comparison with all members of its rows, and with its criterion."""
    if entry["metric"] not in METRICS:
        raise ValueError(f"there is no metric {entry['metric']}: have {', '.join(METRICS)}")
    if "explained" in entry and not {"by", "measured"} <= set(entry["explained"]):
        raise ValueError("`explained` takes `by`, the cause, and `measured`, where it was shown")

    against = entry["against"]
    is_figure = isinstance(against, Mapping) and "published" in against
    return {
        **entry,
        "named": (entry["of"], against),
        "of": described_row(entry["of"], settings),
        "against": against if is_figure else described_row(against, settings),
        "criterion": criterion_of(entry),
    }
