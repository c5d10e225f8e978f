"""Reads the criteria of claims from the history of the repository, at campaigns' revisions."""

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from report.base.errors import ENVIRONMENT, ReportError, one_line
from report.claims.compared_rows import Document, described_row
from report.claims.criterion import criterion_of
from report.claims.registered import entry_of

_REVISION = re.compile("[0-9a-f]{40}")


def criteria_at(folder: Path, revision: str, claims: Sequence[Document]) -> list[Document] | None:
    """The present comparisons that had a criterion at this revision, each with the hash of that
    one. None if the history does not have the revision.

    Two comparisons are the same if claim, metric and all members of both rows are, however the file
    names the rows."""
    # The revision comes from a manifest, and must not be read as an option.
    if not _REVISION.fullmatch(revision):
        return None
    listing = _git(folder, "ls-tree", "-r", "--name-only", revision, "--", "./")
    if listing is None:
        return None
    files = [name for name in listing.splitlines() if name.endswith(".yaml")]
    texts = {name: _git(folder, "show", f"{revision}:./{name}") or "" for name in files}
    documents = {name: yaml.safe_load(text) for name, text in texts.items()}
    earlier = dict(_criteria_in(documents))

    entries: list[Document] = []
    for claim in claims:
        for expectation in claim["expects"]:
            key = _key(
                claim["id"], expectation["metric"], expectation["of"], expectation["against"]
            )
            if key in earlier and expectation["criterion"]:
                entries.append({**entry_of(claim, expectation), "sha256": earlier[key]})
    return entries


def _git(folder: Path, *arguments: str) -> str | None:
    """What git prints. None if it knows no such revision.

    Raises ReportError if there is no git."""
    try:
        done = subprocess.run(  # noqa: S603
            ["git", "-C", str(folder), *arguments],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise ReportError(f"git cannot run: {one_line(error)}", ENVIRONMENT) from error
    return done.stdout if done.returncode == 0 else None


def _criteria_in(documents: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The key and hash of each criterion in the files of claims of one revision."""
    for name, document in documents.items():
        for claim in document.get("claims", ()):
            yield from _of_comparisons(claim["id"], claim.get("expects", ()), document)
        if "comparisons" in document:
            yield from _of_first_format(Path(name).stem, document, documents)


def _of_comparisons(
    claim_id: str, comparisons: Sequence[Document], settings: Document
) -> Iterator[tuple[str, str]]:
    for entry in comparisons:
        try:
            criterion = criterion_of(entry) if "ratio" in entry else None
            sides = [_side(entry[name], settings) for name in ("of", "against")]
        except (ValueError, LookupError):
            # What was damaged, or left a member of its rows open, is no criterion.
            continue
        if criterion is None:
            continue
        yield _key(claim_id, entry["metric"], *sides), criterion.sha256


def _side(row: Any, settings: Document) -> Document:
    is_figure = isinstance(row, Mapping) and "published" in row
    return row if is_figure else described_row(row, settings)


def _of_first_format(
    claim_id: str, document: Document, documents: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """The criteria of a file up to 2026-11-25, which had one claim and named its campaigns."""
    for comparison in document["comparisons"]:
        settings = documents.get(f"campaigns/{comparison.get('campaign')}.yaml")
        expected = comparison.get("expected", {})
        if settings is None or "base" not in comparison:
            continue
        bounds = [expected.get(name) for name in ("at_least", "at_most")]
        refuted = [expected.get(name) for name in ("refuted_below", "refuted_above")]
        entry = {
            "metric": comparison["metric"],
            "of": comparison["new"],
            "against": comparison["base"],
            **({"ratio": bounds} if any(bounds) else {}),
            **({"refuted": refuted} if any(bounds) and any(refuted) else {}),
        }
        yield from _of_comparisons(claim_id, [entry], settings)


def _key(claim_id: str, metric: str, of: Document, against: Document) -> str:
    sides = (sorted(side.items(), key=lambda member: member[0]) for side in (of, against))
    return repr((claim_id, metric, *sides))
