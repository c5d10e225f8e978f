"""Builds the site: one page above all campaigns, their own pages, every run, and a feed."""

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from report.analysis.campaign_analysis import Analysis, analyse
from report.analysis.claims import judged_claim
from report.base.errors import ENVIRONMENT, USAGE, WRITE_FAILED, ReportError, one_line
from report.base.files import write_all
from report.base.terminal import run_program
from report.cli.audit import audit_files
from report.cli.claims import claims_files
from report.cli.report_files import PAGE as CAMPAIGN_PAGE
from report.cli.report_files import report_files
from report.results.audit import load_audit
from report.results.claims import REPORT, load_register
from report.results.load import load_campaign
from report.site.audits import AuditEntry, audit_entry
from report.site.changes import events
from report.site.claims import ClaimsEntry, claims_entry
from report.site.entry import Entry, entry_of
from report.site.feed import FEED, atom_feed
from report.site.find import AUDIT, CAMPAIGN, CLAIMS, Found, find_all
from report.site.links import broken_links
from report.site.page import PAGE, SiteContent, site_page

_EPILOG = """What cannot be read is named on the page and left out. A campaign without its own page gets one,
on the site alone: the folders of results stay as they are.

exit codes: 0 done · 2 wrong usage, or nothing to show · 3 the environment is not fit · 4 writing failed"""

_MAX_LINES = 20


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="report site",
        description="Builds the site of all campaigns, audits and claims below some folders.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("site", metavar="SITE", help="the site's folder, which must not exist")
    parser.add_argument("roots", metavar="ROOT", nargs="+", help="a folder of results, e.g. ./results")
    parser.add_argument(
        "--address", metavar="URL", default="", help="where the site is published, for the links of the feed"
    )
    return parser


class _Builder:
    """Reads what was found, one after the other, and puts its files on the site."""

    def __init__(self, site: Path, found: Sequence[Found]) -> None:
        self._site = site
        self._found = found
        self._names: dict[str, str] = {}
        self._analyses: dict[Path, tuple[str, Analysis]] = {}
        """Of campaigns of claims: their verdicts need them together."""
        self.entries: list[Entry] = []
        self.audits: list[AuditEntry] = []
        self.claims: list[ClaimsEntry] = []
        self.left_out: list[str] = []

    def build(self) -> None:
        of_kind = {
            kind: [each for each in self._found if each.kind == kind] for kind in (CAMPAIGN, AUDIT, CLAIMS)
        }
        for kind, add in ((CAMPAIGN, self._campaign), (AUDIT, self._audit), (CLAIMS, self._claims)):
            for each in of_kind[kind]:
                try:
                    add(each)
                except ReportError as error:
                    if error.exit_code != USAGE:
                        raise
                    more = f", and {len(error.lines) - 1} more" if len(error.lines) > 1 else ""
                    self.left_out.append(f"{each.address}: {error.lines[0]}{more}")
        self.entries.sort(key=lambda entry: entry.record.order)
        self.audits.sort(key=lambda audit: (audit.started_at, audit.name))

    def _campaign(self, found: Found) -> None:
        has_page = (found.folder / REPORT / CAMPAIGN_PAGE).is_file()
        campaign = load_campaign(found.folder, keep_going=True, series=not has_page)
        first = self._names.setdefault(campaign.name, found.address)
        if first != found.address:
            raise ReportError(f"it is also {first}: one campaign is counted once", USAGE)
        analysis = analyse(campaign)
        entry = entry_of(campaign, analysis, found.folder, found.address)
        folder = _copy(found.folder, self._site / found.address)
        if not has_page:
            write_all(folder / REPORT, report_files(analysis, "all"))
        self.entries.append(entry)
        self.left_out += [f"{found.address}: {each}" for each in campaign.excluded]
        if any(each.kind == CLAIMS and found.folder.is_relative_to(each.folder) for each in self._found):
            self._analyses[found.folder] = (entry.record.started_at, analysis)

    def _audit(self, found: Found) -> None:
        audit = load_audit(found.folder)
        folder = _copy(found.folder, self._site / found.address)
        write_all(folder, audit_files(audit))
        self.audits.append(audit_entry(audit, found.address))

    def _claims(self, found: Found) -> None:
        register = load_register(found.folder)
        measured = {
            path.relative_to(found.folder).as_posix(): each
            for path, each in self._analyses.items()
            if path.is_relative_to(found.folder)
        }
        missing = [
            f"{each} is not here"
            for campaign in register.campaigns.values()
            for each in campaign.folders
            if each not in measured
        ]
        if missing:
            raise ReportError(missing, USAGE)
        analyses = {
            campaign.id: [measured[each][1] for each in campaign.folders]
            for campaign in register.campaigns.values()
            if campaign.folders
        }
        claims = [judged_claim(claim, analyses) for claim in register.claims]
        folder = self._site / found.address / REPORT
        folder.mkdir(parents=True, exist_ok=True)
        write_all(folder, claims_files(claims, register))
        self.claims.append(claims_entry(register, claims, measured, found.address))


def _copy(source: Path, target: Path) -> Path:
    """Results and report of a folder, without links and what is hidden."""
    target.mkdir(parents=True, exist_ok=True)
    report = source / REPORT
    for folder in (
        source,
        *([report, report / "images"] if report.is_dir() and not report.is_symlink() else []),
    ):
        if not folder.is_dir() or folder.is_symlink():
            continue
        place = target / folder.relative_to(source)
        place.mkdir(exist_ok=True)
        for path in sorted(folder.iterdir()):
            if path.is_file() and not path.is_symlink() and not path.name.startswith("."):
                shutil.copyfile(path, place / path.name)
    return target


def _write(site: Path, content: SiteContent, address: str) -> None:
    from report.campaigns.dataframe import dataframe_csv, dataframe_of
    from report.campaigns.pages import compare_page, trends_page

    files = {FEED: atom_feed(content.events, address)}
    if content.side_by_side:
        records = [entry.record for entry in content.entries]
        dataframe = dataframe_of(records, None)
        files["compare.html"] = compare_page(records, dataframe, None, (), trends=True)
        files["trends.html"] = trends_page(records, dataframe, ())
        files["compare.csv"] = dataframe_csv(dataframe)
    written = [path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()]
    files[PAGE] = site_page(content, written)
    write_all(site, files)
    wrong = broken_links(site)
    if wrong:
        more = [f"… and {len(wrong) - _MAX_LINES} more"] if len(wrong) > _MAX_LINES else []
        raise ReportError([*wrong[:_MAX_LINES], *more], ENVIRONMENT)


def _run(options: argparse.Namespace) -> int:
    site = Path(options.site).resolve()
    if site.exists():
        raise ReportError(f"{one_line(site)} exists: name a folder that does not, or remove it", USAGE)
    address = options.address
    if address and not address.startswith(("https://", "http://")):
        raise ReportError("--address must begin with https://", USAGE)
    found = find_all([Path(root) for root in options.roots])
    if not found:
        roots = ", ".join(one_line(root) for root in options.roots)
        raise ReportError(f"{roots}: no campaign, audit or register of claims to show", USAGE)
    # A site is there as a whole or not at all.
    unfinished = site.with_name(f".{site.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        unfinished.mkdir(parents=True)
        builder = _Builder(unfinished, found)
        builder.build()
        entries, audits, claims = tuple(builder.entries), tuple(builder.audits), tuple(builder.claims)
        content = SiteContent(
            entries=entries,
            audits=audits,
            claims=claims,
            events=events(entries, audits, claims),
            left_out=tuple(builder.left_out),
            side_by_side=sum(bool(entry.record.rows) for entry in entries) > 1,
        )
        _write(unfinished, content, f"{address.rstrip('/')}/" if address else "")
        unfinished.rename(site)
    except OSError as error:
        raise ReportError(f"{one_line(site)} cannot be written: {error.strerror}", WRITE_FAILED) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    for line in builder.left_out:
        print(f"site: left out: {one_line(line)}", file=sys.stderr)
    print(one_line(site / PAGE, 4096))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program. Returns its exit code, see `--help`."""
    return run_program("site", lambda: _run(_parser().parse_args(arguments)))
