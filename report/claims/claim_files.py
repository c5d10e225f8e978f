"""Reads the files of claims. Each file also describes the campaign that measures its claims."""

from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path

import yaml

from report.base.errors import USAGE, ReportError, one_line
from report.claims.compared_rows import Document, described_row
from report.claims.metrics import METRICS
from report.statistics.conclusions import Status, conclusion_of

_DECIDED: tuple[Status, ...] = ("better", "worse", "no difference")

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
    """The claims of all files in the order of their ids, each with its `file` and with all members
    of its rows.

    Raises ReportError, which names the file and what is wrong in it."""
    claims: list[Document] = []
    for path in sorted(folder.glob("*.yaml")):
        try:
            claims += _claims_of(path)
        except _READING_ERRORS as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else error
            raise ReportError(f"{one_line(path.name)}: {one_line(reason)}", USAGE) from error
    if not claims:
        raise ReportError(f"{one_line(folder)} holds no claims", USAGE)
    return sorted(claims, key=lambda claim: str(claim["id"]))


def read_notice(folder: Path) -> str:
    """The notice about all claims of the folder. Empty if the folder has none."""
    path = folder / NOTICE
    return path.read_text("utf-8", errors="replace").strip() if path.is_file() else ""


def _claims_of(path: Path) -> list[Document]:
    settings = yaml.safe_load(path.read_text("utf-8"))
    claims: list[Document] = []
    for claim in settings["claims"]:
        expects = [_expectation(entry, settings) for entry in claim.get("expects", [])]
        claims.append({**claim, "file": path.name, "expects": expects})
    return claims


def _expectation(entry: Document, settings: Document) -> Document:
    """A comparison with all members of its rows, and with two numbers for each range."""
    if entry["metric"] not in METRICS:
        raise ValueError(f"there is no metric {entry['metric']}: have {', '.join(METRICS)}")
    _check_conclusion(entry)

    confirming_range = _bounds(entry.get("ratio", (None, None)))
    refutes = _bounds(entry["refuted"]) if "refuted" in entry else None
    if refutes and ("is" in entry or not _lies_within(confirming_range, refutes)):
        raise ValueError("`refuted: [low, high]` takes a `ratio` that lies within it")

    against = entry["against"]
    is_figure = isinstance(against, Mapping) and "published" in against
    return {
        **entry,
        "named": (entry["of"], against),
        "of": described_row(entry["of"], settings),
        "against": against if is_figure else described_row(against, settings),
        "range": confirming_range,
        "refutes": refutes,
    }


def _check_conclusion(entry: Document) -> None:
    """Raises ValueError unless the comparison expects either a conclusion or a range."""
    figure, _ = METRICS[entry["metric"]]
    words = [conclusion_of(status, higher_is_better=figure.higher_is_better) for status in _DECIDED]
    has_range = any(end is not None for end in entry.get("ratio", ()))
    is_known = entry.get("is", "") in ("", *words)
    if not is_known or ("is" in entry) == has_range:
        raise ValueError(f"expects needs `is` ({', '.join(words)}) or `ratio: [low, high]`")


def _bounds(ends: Sequence[float | None]) -> tuple[float, float]:
    low, high = ends
    return (low or 0, inf if high is None else high)


def _lies_within(inner: tuple[float, float], outer: tuple[float, float]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]
