"""Which campaigns a folder of results holds."""

from dataclasses import dataclass
from pathlib import Path

from report.base.errors import ENVIRONMENT, USAGE, ReportError, one_line
from report.results.model import MANIFEST

#: Where the pages about several campaigns go.
REPORT = "report"

#: How folders with copied runs begin, which must not count twice.
MEDIANS = "median_results_"


@dataclass(frozen=True, slots=True)
class Found:
    """Folders by name. `empty` are campaigns without any result: planned, running or aborted early."""

    campaigns: tuple[Path, ...]
    empty: tuple[Path, ...]


def has_results(folder: Path) -> bool:
    """A file beside the manifest could be a result."""
    return any(
        path.suffix == ".json" and path.name != MANIFEST and not path.name.startswith(".")
        for path in folder.iterdir()
    )


def find_campaigns(root: Path) -> Found:
    """The campaigns right below `root`; links, as `latest`, are passed by."""
    if not root.is_dir():
        raise ReportError(f"{one_line(root)} is not a folder: give one of campaigns, e.g. ./results", USAGE)
    path = root
    campaigns, empty = [], []
    try:
        for path in sorted(root.iterdir()):
            if path.is_symlink() or not path.is_dir() or path.name.startswith(".") or path.name == REPORT:
                continue
            if path.name.startswith(MEDIANS):
                continue
            if has_results(path):
                campaigns.append(path)
            elif (path / MANIFEST).exists():
                empty.append(path)
    except OSError as error:
        raise ReportError(f"{one_line(path)} cannot be read: {error.strerror}", ENVIRONMENT) from error
    if not campaigns:
        raise ReportError(f"{one_line(root)} holds no campaign with a result: nothing to compare", USAGE)
    return Found(tuple(campaigns), tuple(empty))
