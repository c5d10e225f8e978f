"""Whether a criterion was registered before a campaign.

A campaign that starts from a file of claims has the hashes of its criteria in its manifest. Earlier
ones are older than that: `claims/registered.json` has the hashes that the files had at the revision
of each of them, as `python3 report registered` read them from the history. A clone without history
has the file."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from report.base.errors import USAGE, ReportError, one_line
from report.claims.compared_rows import Document

#: The file of a folder of claims that holds the criteria at the revisions of earlier campaigns.
REGISTERED = "registered.json"

#: What git_revision ends with if files had changed since the commit.
_WITH_CHANGES = " with changes"

#: The members that tell one comparison from another.
_NAMED = ("claim", "metric", "of", "against")

History = Mapping[str, Sequence[Document]]
"""The criteria at each revision of a campaign, as `entry_of` has them."""


def read_history(folder: Path) -> History:
    """The criteria at earlier revisions. Empty if the folder has no such file.

    Raises ReportError if the file is damaged."""
    path = folder / REGISTERED
    if not path.is_file():
        return {}
    history: dict[str, list[Document]] = {}
    try:
        for comparison in json.loads(path.read_text("utf-8"))["comparisons"]:
            named = {name: comparison[name] for name in _NAMED}
            for sha256, revisions in comparison["criteria"].items():
                for revision in revisions:
                    history.setdefault(revision, []).append({**named, "sha256": sha256})
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ReportError(f"{REGISTERED}: {one_line(error)}", USAGE) from error
    return history


def registered_text(history: History) -> str:
    """The text of the file: each comparison once, with the revisions that had each criterion."""
    comparisons: dict[str, dict[str, Any]] = {}
    for revision, entries in sorted(history.items()):
        for entry in entries:
            named = {name: entry[name] for name in _NAMED}
            comparison = comparisons.setdefault(json.dumps(named), {**named, "criteria": {}})
            comparison["criteria"].setdefault(entry["sha256"], []).append(revision)
    in_order = [comparisons[key] for key in sorted(comparisons)]
    return json.dumps({"comparisons": in_order}, indent=1) + "\n"


def revision_of(manifest: Document) -> str:
    """The commit of the harness that measured, without the note that files had changed. A criterion
    that stands in the commit is as old, whatever changed beside it."""
    revision = str(manifest.get("harness", {}).get("git_revision", ""))
    return revision.removesuffix(_WITH_CHANGES)


def is_registered(
    claim: Document, expectation: Document, manifest: Document, history: History
) -> bool:
    """Whether the comparison had this very criterion when the campaign started."""
    criterion = expectation["criterion"]
    if criterion is None:
        return False
    entries = manifest.get("criteria")
    if entries is None:
        entries = history.get(revision_of(manifest), ())

    wanted = entry_of(claim, expectation)
    return any(all(entry.get(name) == wanted[name] for name in wanted) for entry in entries)


def entry_of(claim: Document, expectation: Document) -> Document:
    """A comparison with the hash of its criterion, as manifests and the history have it."""
    of, against = expectation["named"]
    return {
        "claim": claim["id"],
        "metric": expectation["metric"],
        "of": of,
        "against": against,
        "sha256": expectation["criterion"].sha256,
    }
