"""What is published: a table of all campaigns, the report of each, and the newest report at the root.

Results may come from anybody. Only documents that were checked are published as they are, and logs as text:
every page, table and picture is built here."""

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from msgspec.structs import replace

from report.analysis.campaign_analysis import analyse
from report.base.errors import USAGE, WRITE_FAILED, ReportError, one_line
from report.base.files import write_all
from report.base.paths import STATIC
from report.base.terminal import run_program
from report.campaigns.build import STYLES, Listed
from report.campaigns.matrix import Matrix, Source, view_of
from report.campaigns.records import record_of
from report.cli.audit import PAGE as AUDIT_PAGE
from report.cli.audit import audit_files
from report.cli.generate import PAGE, report_files
from report.export.images import images
from report.html.template import render_template
from report.results.archives import found_campaigns
from report.results.load import AUDIT_FILE, CHECKSUMS, load_audit, load_campaign
from report.results.model import MANIFEST
from report.results.verdicts import VERDICTS

CAMPAIGNS = "campaigns.html"


class _Site:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._starts: dict[str, str] = {}
        self.listed: list[Listed] = []
        self.audits: list[tuple[str, str]] = []
        """Name and address of each."""
        self.left_out: list[str] = []
        self._matrix = Matrix()

    def add(self, address: str, folder: Path) -> None:
        """A campaign or an audit."""
        target, link = self._folder / address, quote(address)
        if not (folder / MANIFEST).is_file():
            audit = load_audit(folder)
            files = audit_files(audit)
            target.mkdir(parents=True)
            shutil.copyfile(folder / AUDIT_FILE, target / AUDIT_FILE)
            write_all(target, files)
            self.audits.append((address, f"{link}/{AUDIT_PAGE}"))
            self._matrix.add_audit(audit, f"{link}/{AUDIT_PAGE}")
            return
        campaign = load_campaign(folder, keep_going=True)
        if campaign.manifest is None:
            raise ReportError("; ".join(map(str, campaign.excluded)) or "there is no manifest", USAGE)
        start = campaign.manifest["started_at"]
        if self._starts.setdefault(start, address) != address:
            raise ReportError(f"it is also {self._starts[start]}: one campaign is shown once", USAGE)
        analysis = analyse(campaign)
        files = report_files(analysis, "all")
        target.mkdir(parents=True)
        verdicts = [VERDICTS] if campaign.judged_again else []
        files_of_runs = [run.file for run in (*campaign.counted, *campaign.beside)]
        for name in [MANIFEST, *verdicts, *files_of_runs]:
            (target / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(folder / name, target / name)
        for path in (*folder.glob("*.log"), folder / CHECKSUMS):
            if path.is_file() and not path.is_symlink():
                (target / path.name).write_text(path.read_text("utf-8", errors="replace"), "utf-8")
        write_all(target / "report", files)
        write_all(target / "report" / "images", images(analysis)[0])
        record = replace(record_of(campaign, analysis.summaries, folder), name=address)
        machine = f"{campaign.manifest['machine']['cpu_model']}, {campaign.manifest['runtime']['id']}"
        self._matrix.add_campaign(analysis, Source(start, machine, f"{link}/report/{PAGE}"))
        names = [name for name in (PAGE, "summary.csv", "runs.csv") if name in files]
        self.listed.append((record, {name: f"{link}/report/{name}" for name in names}))
        self.left_out += [f"{address}: {each}" for each in campaign.excluded]

    def write(self) -> None:
        """The table and, at the root, the newest report with its tables."""
        self.listed.sort(key=lambda each: each[0].order, reverse=True)
        newest = self.listed[0][0].name if self.listed else ""
        matrix = view_of(self._matrix)
        table = render_template(
            "published.html.j2",
            styles=(*STYLES, STATIC / "report.css"),
            scripts=(STATIC / "filters.js",),
            data={"rows": matrix.rows},
            matrix=matrix,
            listed=self.listed,
            audits=sorted(self.audits, reverse=True),
            left_out=self.left_out,
            newest=PAGE if newest else "",
        )
        files = {CAMPAIGNS: table}
        if newest:
            report = self._folder / newest / "report"
            files |= {path.name: path.read_text("utf-8") for path in report.glob("*.*") if path.is_file()}
            # Seen from the root, runs lie in the campaign. Foreign text has no quotation marks.
            page = files[PAGE].replace('href="../', f'href="{quote(newest)}/')
            files[PAGE] = page.replace("<nav ", f'<p><a href="{CAMPAIGNS}">All campaigns</a></p>\n<nav ', 1)
        else:
            files[PAGE] = table
        write_all(self._folder, files)


def _run(options: argparse.Namespace) -> int:
    folder, roots = Path(options.site).resolve(), [Path(root).resolve() for root in options.roots]
    if folder.exists():
        raise ReportError(f"{one_line(folder)} exists: name a folder that does not, or remove it", USAGE)
    for root in roots:
        if not root.is_dir():
            raise ReportError(f"{one_line(root)} is no folder: give one of results", USAGE)
    if len({root.name for root in roots}) < len(roots):
        raise ReportError("two of these folders have one name: rename one of them", USAGE)
    # The site is there as a whole or not at all.
    unfinished = folder.with_name(f".{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        unfinished.mkdir(parents=True)
        site = _Site(unfinished)
        for root in roots:
            with found_campaigns(root, MANIFEST, AUDIT_FILE) as found:
                for place, source, wrong in found:
                    address = f"{root.name}/{place}".removesuffix("/.")
                    try:
                        if wrong:
                            raise ReportError(wrong, USAGE)
                        site.add(address, source)
                    except ReportError as error:
                        if error.exit_code != USAGE:
                            raise
                        more = f", and {len(error.lines) - 1} more" if len(error.lines) > 1 else ""
                        site.left_out.append(f"{address}: {error.lines[0]}{more}")
        if not site.listed and not site.audits:
            raise ReportError("none of these folders holds a campaign that can be read", USAGE)
        site.write()
        unfinished.rename(folder)
    except OSError as error:
        raise ReportError(f"{one_line(folder)} cannot be written: {error.strerror}", WRITE_FAILED) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    for line in site.left_out:
        print(f"pages: left out: {one_line(line)}", file=sys.stderr)
    print(one_line(folder / PAGE, 4096))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="report pages", description=__doc__, allow_abbrev=False)
    parser.add_argument("site", metavar="SITE", help="the folder to make")
    parser.add_argument("roots", metavar="ROOT", nargs="+", help="a folder of results, e.g. ./results")
    return run_program("pages", lambda: _run(parser.parse_args(arguments)))
