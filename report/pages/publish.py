"""Publishes folders of results as one site. The site appears as a whole or not at all."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from report.base.errors import USAGE, WRITE_FAILED, ReportError, one_line
from report.claims.register import Register, read_register
from report.pages.site import Site
from report.results.archives import found_campaigns
from report.results.load import AUDIT_FILE
from report.results.model import MANIFEST

#: The file of a folder of results that names the places of its standing campaigns, a line each.
STANDING = "standing.txt"


def standing_campaigns(root: Path) -> list[str]:
    """The addresses of the standing campaigns that a folder of results names."""
    path = root / STANDING
    if not path.is_file() or path.is_symlink():
        return []
    lines = [line.strip() for line in path.read_text("utf-8", errors="replace").splitlines()]
    return [f"{root.name}/{line}" for line in lines if line and not line.startswith("#")]


def publish(folder: Path, roots: Sequence[Path], claims_folder: Path) -> list[str]:
    """Writes the site of all campaigns and audits below `roots` into a new folder.

    Returns a line for each campaign or audit that was left out.

    Raises ReportError where the folders cannot be used, hold no campaign that can be read, or
    writing fails."""
    _check_folders(folder, roots)
    unfinished = folder.with_name(f".{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        unfinished.mkdir(parents=True)
        standing = [address for root in roots for address in standing_campaigns(root)]
        register = read_register(claims_folder) if claims_folder.is_dir() else Register()
        site = Site(unfinished, standing, register)
        for root in roots:
            _add_all(site, root)
        if site.is_empty:
            raise ReportError("none of these folders holds a campaign that can be read", USAGE)
        site.write()
        unfinished.rename(folder)
    except OSError as error:
        raise ReportError(
            f"{one_line(folder)} cannot be written: {error.strerror}", WRITE_FAILED
        ) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return site.left_out


def _check_folders(folder: Path, roots: Sequence[Path]) -> None:
    if folder.exists():
        raise ReportError(
            f"{one_line(folder)} exists: name a folder that does not, or remove it", USAGE
        )
    for root in roots:
        if not root.is_dir():
            raise ReportError(f"{one_line(root)} is no folder: give one of results", USAGE)
    if len({root.name for root in roots}) < len(roots):
        raise ReportError("two of these folders have one name: rename one of them", USAGE)


def _add_all(site: Site, root: Path) -> None:
    """Adds the campaigns and audits below a folder of results, and leaves out those that cannot be
    read."""
    with found_campaigns(root, MANIFEST, AUDIT_FILE) as campaigns:
        for place, source, problem in campaigns:
            address = f"{root.name}/{place}".removesuffix("/.")
            try:
                if problem:
                    raise ReportError(problem, USAGE)
                site.add(address, source)
            except ReportError as error:
                if error.exit_code != USAGE:
                    raise
                further_errors = len(error.lines) - 1
                more_text = f", and {further_errors} more" if further_errors else ""
                site.left_out.append(f"{address}: {error.lines[0]}{more_text}")
