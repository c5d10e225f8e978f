"""The criteria of claims at the revisions of the campaigns that measured them, from the history of
the repository."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from report.base.contract import CONSTANTS
from report.base.errors import USAGE, ReportError, one_line
from report.base.files import write_all
from report.base.format import plural
from report.base.terminal import run_program
from report.claims.claim_files import read_claims
from report.claims.history import criteria_at
from report.claims.registered import REGISTERED, History, registered_text, revision_of
from report.results.archives import found_campaigns
from report.results.load import load_manifest
from report.results.model import MANIFEST


def _revisions(results: Path) -> list[str]:
    """The revisions of the campaigns whose manifest holds no criteria."""
    revisions = set()
    with found_campaigns(results, MANIFEST) as campaigns:
        for _, folder, problem in campaigns:
            manifest = None if problem else load_manifest(folder)
            if manifest and "criteria" not in manifest:
                revisions.add(revision_of(manifest))
    return sorted(revisions - {""})


def history_at(claims_folder: Path, revisions: Sequence[str]) -> History:
    """The criteria at these revisions. One that the repository does not have is left out."""
    claims = read_claims(claims_folder)
    criteria_of = {revision: criteria_at(claims_folder, revision, claims) for revision in revisions}
    return {revision: entries for revision, entries in criteria_of.items() if entries is not None}


def _run(options: argparse.Namespace) -> int:
    claims_folder = Path(options.claims)
    revisions = _revisions(Path(options.results).resolve())
    history = history_at(claims_folder, revisions)
    if revisions and not history:
        raise ReportError("no revision of a campaign is in the history: fetch all of it", USAGE)
    write_all(claims_folder, {REGISTERED: registered_text(history)})
    missing = plural(len(revisions) - len(history), "revision")
    print(f"{one_line(claims_folder / REGISTERED, 4096)} saved; {missing} not in the history")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="report registered", description=__doc__, allow_abbrev=False
    )
    parser.add_argument(
        "--claims", metavar="DIR", default="claims", help="folder of the claims (./claims)"
    )
    parser.add_argument(
        "--results",
        metavar="DIR",
        default=CONSTANTS["results_root"],
        help="of campaigns (./results)",
    )
    return run_program("registered", lambda: _run(parser.parse_args(arguments)))
