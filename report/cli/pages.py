"""What is published: the report of each campaign, a table of all, and at the root that which stands
for them: the standing campaign that a folder of results names, else the newest benchmark.

Results may come from anybody. Only documents that were checked are published as they are, and logs
as text: every page, table and picture is built here."""

import argparse
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup
from msgspec.structs import replace

from report.analysis.campaign_analysis import analyse
from report.base.errors import USAGE, WRITE_FAILED, ReportError, one_line
from report.base.files import write_all
from report.base.paths import STATIC
from report.base.terminal import run_program
from report.campaigns.build import STYLES, Listed
from report.campaigns.kinds import BENCHMARK, KINDS, campaign_kind
from report.campaigns.matrix import Matrix, Source, view_of
from report.campaigns.records import record_of
from report.cli.audit import PAGE as AUDIT_PAGE
from report.cli.audit import audit_files
from report.cli.claims import Attempt, Document, attempts_in, read_claims
from report.cli.claims_page import claims_page
from report.cli.generate import PAGE, report_files
from report.export.images import images
from report.html.template import render_template
from report.results.archives import found_campaigns
from report.results.load import AUDIT_FILE, CHECKSUMS, load_audit, load_campaign
from report.results.model import MANIFEST
from report.results.verdicts import VERDICTS

CAMPAIGNS, CLAIMS = "campaigns.html", "claims.html"
#: In a folder of results: the places of its standing campaigns, a line each.
STANDING = "standing.txt"


def standing_campaigns(root: Path) -> list[str]:
    """The addresses of the standing campaigns that a folder of results names."""
    path = root / STANDING
    if not path.is_file() or path.is_symlink():
        return []
    lines = [line.strip() for line in path.read_text("utf-8", errors="replace").splitlines()]
    return [f"{root.name}/{line}" for line in lines if line and not line.startswith("#")]


class _Site:
    def __init__(self, folder: Path, standing: Sequence[str], claims: Sequence[Document]) -> None:
        self._folder = folder
        self._standing = standing
        self._claims = claims
        self._attempts: dict[str, list[Attempt]] = {}
        """By the id of their claim."""
        self._kinds: dict[str, str] = {}
        """What each finished campaign is for, by its address."""
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
            raise ReportError(
                "; ".join(map(str, campaign.excluded)) or "there is no manifest", USAGE
            )
        start = campaign.manifest["started_at"]
        if self._starts.setdefault(start, address) != address:
            raise ReportError(
                f"it is also {self._starts[start]}: one campaign is shown once", USAGE
            )
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
        machine = (
            f"{campaign.manifest['machine']['cpu_model']}, {campaign.manifest['runtime']['id']}"
        )
        self._matrix.add_campaign(analysis, Source(start, machine, f"{link}/report/{PAGE}"))
        for claim in self._claims:
            self._attempts.setdefault(str(claim["id"]), []).extend(
                attempts_in(claim, address, analysis)
            )
        if campaign.manifest["status"] == "finished":
            self._kinds[address] = campaign_kind(campaign.manifest)
        names = [name for name in (PAGE, "summary.csv", "runs.csv") if name in files]
        self.listed.append((record, {name: f"{link}/report/{name}" for name in names}))
        self.left_out += [f"{address}: {each}" for each in campaign.excluded]

    def write(self) -> None:
        """The table, the claims and, at the root, the report that stands for all, with its
        tables."""
        self.listed.sort(key=lambda each: each[0].order, reverse=True)
        reports = {record.name: links[PAGE] for record, links in self.listed if PAGE in links}
        present = [address for address in self._standing if address in reports]
        self.left_out += [
            f"{address}: no such campaign" for address in self._standing if address not in present
        ]
        front = next(iter(present), self._newest(BENCHMARK))
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
            front=front,
            has_claims=bool(self._claims),
        )
        files = {CAMPAIGNS: table}
        if self._claims:
            files[CLAIMS] = claims_page(self._claims, self._attempts, reports)
        if front:
            files |= self._front(front, reports)
        else:
            files[PAGE] = table
        write_all(self._folder, files)

    def _newest(self, kind: str) -> str:
        """The address of the newest finished campaign of a kind; empty where there is none.

        Where a folder names its standing campaigns, its other benchmarks stand for nothing: they
        are attempts at claims, or earlier ones."""
        named = {address.split("/", 1)[0] for address in self._standing}
        for record, _ in self.listed:
            is_named = kind == BENCHMARK and record.name.split("/", 1)[0] in named
            if self._kinds.get(record.name) == kind and not is_named:
                return record.name
        return ""

    def _front(self, front: str, reports: Mapping[str, str]) -> dict[str, str]:
        """The files of the report that stands for all, with links to the others."""
        report = self._folder / front / "report"
        files = {
            path.name: path.read_text("utf-8") for path in report.glob("*.*") if path.is_file()
        }
        links = [
            ("All targets", f"{CAMPAIGNS}#matrix"),
            ("All campaigns", f"{CAMPAIGNS}#campaigns"),
        ]
        newest = [(f"Newest {kind}", self._newest(kind)) for kind in KINDS]
        links += [
            (text, reports[address])
            for text, address in newest
            if address in reports and address != front
        ]
        if self._claims:
            links.append(("Published claims", CLAIMS))
        if self.audits:
            links.append(("Audits", f"{CAMPAIGNS}#audits"))
        line = Markup("\n").join(
            Markup('<a href="{}">{}</a>').format(to, text) for text, to in links
        )
        # Seen from the root, runs lie in the campaign. Foreign text has no quotation marks.
        page = files[PAGE].replace('href="../', f'href="{quote(front)}/')
        published = f'<nav aria-label="Published">{line}</nav>'
        return files | {PAGE: page.replace("</header>", f"{published}\n</header>", 1)}


def _run(options: argparse.Namespace) -> int:
    folder, roots = Path(options.site).resolve(), [Path(root).resolve() for root in options.roots]
    if folder.exists():
        raise ReportError(
            f"{one_line(folder)} exists: name a folder that does not, or remove it", USAGE
        )
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
        standing = [address for root in roots for address in standing_campaigns(root)]
        claims = read_claims(Path(options.claims)) if Path(options.claims).is_dir() else []
        site = _Site(unfinished, standing, claims)
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
        raise ReportError(
            f"{one_line(folder)} cannot be written: {error.strerror}", WRITE_FAILED
        ) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    for line in site.left_out:
        print(f"pages: left out: {one_line(line)}", file=sys.stderr)
    print(one_line(folder / PAGE, 4096))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="report pages", description=__doc__, allow_abbrev=False)
    parser.add_argument("site", metavar="SITE", help="the folder to make")
    parser.add_argument(
        "roots", metavar="ROOT", nargs="+", help="a folder of results, e.g. ./results"
    )
    parser.add_argument(
        "--claims", metavar="DIR", default="claims", help="folder of the claims (./claims)"
    )
    return run_program("pages", lambda: _run(parser.parse_args(arguments)))
