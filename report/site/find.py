"""What folders of results hold, at any depth: campaigns, audits and published claims."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from report.base.errors import ENVIRONMENT, USAGE, ReportError, one_line
from report.campaigns.find import REPORT, has_results
from report.results.audit import AUDIT_FILE
from report.results.claims import REGISTER
from report.results.model import MANIFEST

#: `results/claims/CAMPAIGN/STAMP` is the deepest folder of a campaign.
_MAX_DEPTH = 4

CAMPAIGN, AUDIT, CLAIMS = "campaign", "audit", "claims"


@dataclass(frozen=True, slots=True)
class Found:
    """A folder with something to show."""

    kind: str
    """`CAMPAIGN`, `AUDIT` or `CLAIMS`: one that holds a register, and the campaigns of claims below it."""
    folder: Path
    address: str
    """Of it on the site: the names of its root and of the folders below, with a slash at its end."""


def _kind(folder: Path) -> str:
    if (folder / AUDIT_FILE).is_file():
        return AUDIT
    if (folder / MANIFEST).is_file():
        return CAMPAIGN if has_results(folder) else ""
    return CLAIMS if (folder / REPORT / REGISTER).is_file() else ""


def _walk(folder: Path, address: str, depth: int) -> Iterator[Found]:
    kind = _kind(folder)
    if kind:
        yield Found(kind, folder, address)
    if kind in (CAMPAIGN, AUDIT) or depth == 0:
        return
    for path in sorted(folder.iterdir()):
        hidden = path.name.startswith(".") or path.name == REPORT
        if path.is_dir() and not path.is_symlink() and not hidden:
            yield from _walk(path, f"{address}{path.name}/", depth - 1)


def find_all(roots: Iterable[Path]) -> tuple[Found, ...]:
    """What the roots hold, links passed by; of two folders with one address the first.

    Raises:
        ReportError: exit code 2 when a root is not a folder, 3 when one cannot be read.
    """
    found: dict[str, Found] = {}
    for root in roots:
        if not root.is_dir():
            raise ReportError(f"{one_line(root)} is not a folder: give one of campaigns, e.g. results", USAGE)
        try:
            for each in _walk(root, f"{root.resolve().name}/", _MAX_DEPTH):
                found.setdefault(each.address, each)
        except OSError as error:
            text = f"{one_line(root)} cannot be read: {error.strerror}"
            raise ReportError(text, ENVIRONMENT) from error
    return tuple(found.values())
