"""The published site: the report of each campaign, a table of all campaigns, and at the root the
report that stands for them. This is the standing campaign that a folder of results names, else the
newest benchmark.

Results may come from anybody. Documents are published as they are only after they were checked,
logs are published as text, and every page, table and picture is built here."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup
from msgspec.structs import replace

from report.analysis.campaign_analysis import Analysis, analyse
from report.base.errors import USAGE, ReportError
from report.base.files import write_all
from report.base.paths import STATIC
from report.campaigns.build import STYLES, Listed
from report.campaigns.kinds import BENCHMARK, KINDS, campaign_kind
from report.campaigns.matrix import Matrix
from report.campaigns.matrix_answers import Source
from report.campaigns.matrix_view import view_of
from report.campaigns.records import record_of
from report.claims.attempts import Attempt, attempts_in
from report.claims.claims_page import claims_page, questions_page
from report.claims.register import Register
from report.export.images import images
from report.html.template import render_template
from report.outputs.audit_files import PAGE as AUDIT_PAGE
from report.outputs.audit_files import audit_files
from report.outputs.campaign_files import PAGE, campaign_files
from report.results.load import AUDIT_FILE, CHECKSUMS, load_audit, load_campaign
from report.results.model import MANIFEST, Campaign
from report.results.verdicts import VERDICTS

CAMPAIGNS = "campaigns.html"
CLAIMS = "claims.html"
QUESTIONS = "questions.html"


class Site:
    """The site in a folder. Campaigns and audits are added one by one, then the pages about all of
    them are written."""

    def __init__(self, folder: Path, standing: Sequence[str], register: Register) -> None:
        """`standing` are the addresses of the standing campaigns."""
        self._folder = folder
        self._standing = standing
        self._register = register
        self._attempts: dict[str, list[Attempt]] = {}
        """The attempts by the id of their claim."""
        self._kinds: dict[str, str] = {}
        """The kind of each finished campaign, by its address."""
        self._address_of_start: dict[str, str] = {}
        """The address of the campaign that began at this time."""
        self._matrix = Matrix()
        self._listed: list[Listed] = []
        self._audits: list[tuple[str, str]] = []
        """The name and address of each audit."""
        self.left_out: list[str] = []
        """A line for each campaign or audit that is not on the site, with the reason."""

    @property
    def is_empty(self) -> bool:
        return not self._listed and not self._audits

    def add(self, address: str, folder: Path) -> None:
        """Publishes a campaign or an audit at this address.

        Raises ReportError if it cannot be read, or is on the site already."""
        if (folder / MANIFEST).is_file():
            self._add_campaign(address, folder)
        else:
            self._add_audit(address, folder)

    def _add_audit(self, address: str, folder: Path) -> None:
        audit = load_audit(folder)
        files = audit_files(audit)
        target = self._folder / address
        target.mkdir(parents=True)
        shutil.copyfile(folder / AUDIT_FILE, target / AUDIT_FILE)
        write_all(target, files)

        link = f"{quote(address)}/{AUDIT_PAGE}"
        self._audits.append((address, link))
        self._matrix.add_audit(audit, link)

    def _add_campaign(self, address: str, folder: Path) -> None:
        campaign = load_campaign(folder, keep_going=True)
        manifest = campaign.manifest
        if manifest is None:
            reasons = "; ".join(map(str, campaign.excluded))
            raise ReportError(reasons or "there is no manifest", USAGE)
        start = manifest["started_at"]
        first_address = self._address_of_start.setdefault(start, address)
        if first_address != address:
            raise ReportError(f"it is also {first_address}: one campaign is shown once", USAGE)

        analysis = analyse(campaign)
        files = campaign_files(analysis, "all")
        target = self._folder / address
        target.mkdir(parents=True)
        _copy_documents(campaign, folder, target)
        write_all(target / "report", files)
        write_all(target / "report" / "images", images(analysis)[0])

        link = f"{quote(address)}/report"
        machine = f"{manifest['machine']['cpu_model']}, {manifest['runtime']['id']}"
        self._matrix.add_campaign(analysis, Source(start, machine, f"{link}/{PAGE}"))
        self._add_attempts(address, analysis)
        if manifest["status"] == "finished":
            self._kinds[address] = campaign_kind(manifest)

        record = replace(record_of(campaign, analysis.summaries, folder), name=address)
        names = [name for name in (PAGE, "summary.csv", "runs.csv") if name in files]
        self._listed.append((record, {name: f"{link}/{name}" for name in names}))
        self.left_out += [f"{address}: {excluded}" for excluded in campaign.excluded]

    def _add_attempts(self, address: str, analysis: Analysis) -> None:
        for claim in self._register.claims:
            attempts = self._attempts.setdefault(str(claim["id"]), [])
            attempts += attempts_in(claim, address, analysis, self._register.history)

    def write(self) -> None:
        """Writes the table, the claims and, at the root, the report that stands for all
        campaigns."""
        self._listed.sort(key=lambda listed: listed[0].order, reverse=True)
        reports = {record.name: links[PAGE] for record, links in self._listed if PAGE in links}
        front = self._front_address(reports)

        table = self._table(front)
        files = {CAMPAIGNS: table}
        if self._register.claims:
            files[CLAIMS] = claims_page(self._register, self._attempts, reports)
            files[QUESTIONS] = questions_page(self._register, self._attempts, reports)
        if front:
            files |= self._front_files(front, reports)
        else:
            files[PAGE] = table
        write_all(self._folder, files)

    def _front_address(self, reports: Mapping[str, str]) -> str:
        """The address of the campaign that stands for all others; empty where there is none."""
        present = [address for address in self._standing if address in reports]
        self.left_out += [
            f"{address}: no such campaign" for address in self._standing if address not in present
        ]
        return present[0] if present else self._newest(BENCHMARK)

    def _table(self, front: str) -> str:
        matrix = view_of(self._matrix)
        return render_template(
            "published.html.j2",
            styles=(*STYLES, STATIC / "report.css"),
            scripts=(STATIC / "filters.js",),
            data={"rows": matrix.rows},
            matrix=matrix,
            listed=self._listed,
            audits=sorted(self._audits, reverse=True),
            left_out=self.left_out,
            front=front,
            has_claims=bool(self._register.claims),
        )

    def _newest(self, kind: str) -> str:
        """The address of the newest finished campaign of a kind; empty where there is none.

        Where a folder names its standing campaigns, its other benchmarks are left out, because they
        are attempts at claims or earlier benchmarks."""
        named_roots = {address.split("/", 1)[0] for address in self._standing}
        for record, _ in self._listed:
            is_named = kind == BENCHMARK and record.name.split("/", 1)[0] in named_roots
            if self._kinds.get(record.name) == kind and not is_named:
                return record.name
        return ""

    def _front_files(self, front: str, reports: Mapping[str, str]) -> dict[str, str]:
        """The files of the report that stands for all, with links to the other pages."""
        report = self._folder / front / "report"
        files = {
            path.name: path.read_text("utf-8") for path in report.glob("*.*") if path.is_file()
        }
        # Links to runs must lead from the root into the campaign. Foreign text has no quotation
        # marks, so this replaces only links of the page.
        page = files[PAGE].replace('href="../', f'href="{quote(front)}/')
        links = Markup("\n").join(
            Markup('<a href="{}">{}</a>').format(address, text)
            for text, address in self._front_links(front, reports)
        )
        navigation = f'<nav aria-label="Published">{links}</nav>'
        files[PAGE] = page.replace("</header>", f"{navigation}\n</header>", 1)
        return files

    def _front_links(self, front: str, reports: Mapping[str, str]) -> list[tuple[str, str]]:
        """Texts and addresses of the site's other pages."""
        links = [
            ("All targets", f"{CAMPAIGNS}#matrix"),
            ("All campaigns", f"{CAMPAIGNS}#campaigns"),
        ]
        for kind in KINDS:
            address = self._newest(kind)
            if address in reports and address != front:
                links.append((f"Newest {kind}", reports[address]))
        if self._register.claims:
            links += [("Published claims", CLAIMS), ("Questions", QUESTIONS)]
        if self._audits:
            links.append(("Audits", f"{CAMPAIGNS}#audits"))
        return links


def _copy_documents(campaign: Campaign, folder: Path, target: Path) -> None:
    """Copies documents that were checked as they are, and logs as text."""
    names = [MANIFEST]
    if campaign.judged_again:
        names.append(VERDICTS)
    names += [run.file for run in (*campaign.counted, *campaign.beside)]
    for name in names:
        (target / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(folder / name, target / name)

    for path in (*folder.glob("*.log"), folder / CHECKSUMS):
        if path.is_file() and not path.is_symlink():
            text = path.read_text("utf-8", errors="replace")
            (target / path.name).write_text(text, "utf-8")
