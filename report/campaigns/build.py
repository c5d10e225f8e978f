"""--compare-runs reads every campaign of a folder, one after the other, and writes what compares
them;
--extract-median copies the selected run of each configuration over all of them."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from report.analysis.summary import summarize
from report.base.csv_text import picked
from report.base.errors import ENVIRONMENT, USAGE, ReportError, one_line
from report.base.files import json_text, read_document, write_all
from report.base.markdown import code, prose, within
from report.base.paths import STATIC
from report.campaigns import records, rows
from report.campaigns.tables import histories, sections
from report.export.summary_markdown import MAX_BYTES, section_blocks
from report.html.template import render_template
from report.results.load import load_campaign
from report.results.model import MANIFEST, Excluded, Run
from report.results.validate import MAX_DOCUMENT_BYTES
from report.sections.section import Section
from report.statistics.run_samples import select_run

#: How folders with copied runs begin, which must not count twice.
MEDIANS = "median_results_"
STYLES = (STATIC / "campaigns.css",)
_REPORT = "report"
_MAX_LINES = 20

Listed = tuple[records.CampaignRecord, Mapping[str, str]]
"""With the addresses of what its own report holds, by name."""

_DRIFT = (
    "These campaigns ran one after the other, not interleaved. What changed on the machine between them "
    "(temperature, other programs, updates) looks like a change of the software, so no ratio here has an "
    "interval or a verdict. To show a difference, measure both sides in one campaign."
)


def has_results(folder: Path) -> bool:
    """A file beside the manifest could be a result."""
    names = [path.name for path in folder.iterdir() if path.suffix == ".json"]
    return any(name != MANIFEST and not name.startswith(".") for name in names)


def find_campaigns(root: Path) -> tuple[list[Path], list[Path]]:
    """The campaigns right below `root` by name, and those without any result: planned, running or
    aborted early. Links, as `latest`, are passed by."""
    if not root.is_dir():
        raise ReportError(
            f"{one_line(root)} is not a folder: give one of campaigns, e.g. ./results", USAGE
        )
    path = root
    campaigns = []
    empty = []
    try:
        for path in sorted(root.iterdir()):
            if path.is_symlink() or not path.is_dir() or path.name.startswith((".", MEDIANS)):
                continue
            if path.name != _REPORT and has_results(path):
                campaigns.append(path)
            elif path.name != _REPORT and (path / MANIFEST).exists():
                empty.append(path)
    except OSError as error:
        raise ReportError(
            f"{one_line(path)} cannot be read: {error.strerror}", ENVIRONMENT
        ) from error
    if not campaigns:
        raise ReportError(
            f"{one_line(root)} holds no campaign with a result: nothing to compare", USAGE
        )
    return campaigns, empty


def _listed(campaign: records.CampaignRecord) -> Listed:
    names = ("index.html", "summary.csv", "runs.csv", "summary.md", "summary.json")
    there = [name for name in names if (campaign.folder / _REPORT / name).is_file()]
    return campaign, {name: f"../{quote(campaign.folder.name)}/{_REPORT}/{name}" for name in there}


@dataclass(slots=True)
class _Several:
    """What was read, and each file that is made of it."""

    keep_going: bool
    baseline: str | None = None
    trends: bool = False
    campaigns: list[records.CampaignRecord] = field(default_factory=list)
    empty: Sequence[Path] = ()
    excluded: list[tuple[str, Excluded]] = field(default_factory=list)
    """With the name of the campaign's folder."""
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    """One for each campaign and configuration."""
    sections: Sequence[Section] = ()
    """Campaigns side by side."""
    _seen: dict[str, str] = field(default_factory=dict)

    @property
    def lines(self) -> list[str]:
        return [f"{name}/{entry if entry.file else entry.text}" for name, entry in self.excluded]

    def add(self, folder: Path) -> None:
        name = one_line(folder.name)
        try:
            campaign = load_campaign(folder, keep_going=self.keep_going, series=False)
        except ReportError as error:
            if error.exit_code != USAGE:
                raise
            self.excluded += [(name, Excluded("", line)) for line in error.lines]
            return
        first = self._seen.setdefault(campaign.name, name)
        if first != name:
            line = (
                f"manifest.json: $.campaign is also that of {first}: one campaign is counted once"
            )
            self.excluded.append((name, Excluded("", line)))
            return
        self.excluded += [(name, entry) for entry in campaign.excluded]
        self.campaigns.append(records.record_of(campaign, summarize(campaign), folder))

    def find_baseline(self, asked: str) -> str:
        """Its name; a campaign outside of the folder is read and joins the others."""
        folder = Path(os.path.realpath(asked))
        by_name = [
            campaign.name
            for campaign in self.campaigns
            if asked in (campaign.name, campaign.campaign)
        ]
        by_place = [
            campaign.name
            for campaign in self.campaigns
            if Path(os.path.realpath(campaign.folder)) == folder
        ]
        if by_name or by_place:
            return [*by_name, *by_place][0]
        flag = f"--baseline {one_line(asked, 80)}"
        count = len(self.campaigns)
        if not folder.is_dir():
            names = ", ".join(campaign.name for campaign in self.campaigns[-10:])
            raise ReportError(f"{flag} is neither a campaign nor a folder: have {names}", USAGE)
        self.add(folder)
        if len(self.campaigns) == count:
            raise ReportError(self.lines[-_MAX_LINES:] or f"{flag} is no campaign", USAGE)
        return self.campaigns[-1].name

    def _page(self, template: str, **context: Any) -> str:
        return render_template(
            f"{template}.html.j2",
            campaigns=self.campaigns,
            excluded=self.excluded,
            drift=_DRIFT,
            trends=self.trends,
            **context,
        )

    def index(self) -> str:
        listed = [_listed(campaign) for campaign in reversed(self.campaigns)]
        empty = [path.name for path in self.empty]
        return self._page("campaigns", styles=STYLES, listed=listed, empty=empty)

    def side_by_side(self) -> str:
        return self._page(
            "compare",
            styles=(*STYLES, STATIC / "report.css"),
            sections=self.sections,
            row_colours={},
            charts={},
            baseline=self.baseline,
            stores=tuple(rows.store_notices(self.rows)),
            by_hand=sum(campaign.by_hand for campaign in self.campaigns),
        )

    def trends_page(self) -> str:
        drawn, left_out = histories(self.rows)
        numbers = records.place_numbers(self.campaigns)
        # The newest campaign of a place has most of it on record.
        environments = {numbers[campaign.name]: campaign.environment for campaign in self.campaigns}
        members = {
            place: [history for history in drawn if history["place"] == place]
            for place in environments
        }
        parts = [
            (place, environments[place], of_place)
            for place, of_place in members.items()
            if of_place
        ]
        count = len(drawn) + left_out
        return self._page("trends", styles=STYLES, parts=parts, left_out=left_out, count=count)

    def json(self) -> str:
        return json_text(
            {
                "schema": "ratelimit-bench/compare",
                "schema_version": 1,
                "baseline": self.baseline,
                "campaigns": [
                    {
                        **picked(campaign, "name", "started_at", "status"),
                        "place": dict(campaign.environment),
                        "software": dict(campaign.software),
                        **picked(campaign, "runs", "valid_runs", "counted_runs"),
                    }
                    for campaign in self.campaigns
                ],
                "notices": list(rows.store_notices(self.rows)),
                "excluded": [
                    {"campaign": name, **picked(entry, "file", "text")}
                    for name, entry in self.excluded
                ],
                "rows": rows.compare_records(self.rows, self.baseline),
            }
        )

    def markdown(self) -> str:
        excluded = [f"- Excluded: {code(name)}, {prose(entry)}" for name, entry in self.excluded]
        blocks = [
            ["## Campaigns side by side"],
            [_DRIFT],
            *([prose(text)] for text in rows.store_notices(self.rows)),
            *([[f"Baseline: {code(self.baseline)}."]] if self.baseline else []),
            *([excluded] if excluded else []),
            *(block for section in self.sections for block in section_blocks(section)),
        ]
        return within(blocks, MAX_BYTES, "More was left out here: compare.csv holds every row.")

    def files(self, output_format: str) -> dict[str, str]:
        self.campaigns.sort(key=lambda campaign: campaign.order)
        self.rows = rows.rows_of(records.placed_rows(self.campaigns), self.baseline)
        self.sections = sections(self.campaigns, self.rows, self.baseline)
        csv = {"compare.csv": lambda: rows.compare_csv(self.rows, self.baseline)}
        trends = {"trends.html": self.trends_page} if self.trends else {}
        make: dict[str, dict[str, Callable[[], str]]] = {
            # The pages link to the table.
            "html": {"index.html": self.index, "compare.html": self.side_by_side, **trends, **csv},
            "csv": csv,
            "md": {"compare.md": self.markdown},
            "json": {"compare.json": self.json},
        }
        chosen = make.values() if output_format == "all" else [make[output_format]]
        return {name: write() for files in chosen for name, write in files.items()}


def build_report(
    root: Path,
    trends: bool = False,
    baseline: str | None = None,
    form: str = "all",
    keep_going: bool = False,
) -> int:
    """Writes `<root>/report/` and prints the path of its first page. A baseline is a name or a
    path."""
    root = Path(os.path.realpath(root))
    folders, empty = find_campaigns(root)
    several = _Several(keep_going, trends=trends, empty=empty)
    for folder in folders:
        several.add(folder)
    if baseline is not None and (several.campaigns or keep_going):
        several.baseline = several.find_baseline(baseline)
    lines = several.lines
    if lines and not (keep_going and several.campaigns):
        more = len(lines) - _MAX_LINES
        raise ReportError(
            [*lines[:_MAX_LINES], *([f"… and {more} more lines"] if more > 0 else [])], USAGE
        )
    files = several.files(form)
    write_all(root / _REPORT, files)
    for line in lines:
        print(f"generate_report: {line}: excluded", file=sys.stderr)
    print(root / _REPORT / next(iter(files)))
    return USAGE if lines else 0


def results_root(folder: Path) -> Path:
    """The folder of campaigns: `folder`, or the one that holds it if it is a campaign."""
    path = Path(os.path.realpath(folder))
    is_campaign = path.is_dir() and ((path / MANIFEST).exists() or has_results(path))
    return path.parent if is_campaign else path


def extract_median_runs(folder: Path, keep_going: bool) -> Path:
    """Copies the selected run of each configuration, over all campaigns, into a new folder and
    returns it.

    A configuration with a single run that counts has no median and is left out. Raises ReportError
    for fewer than two campaigns, and when no configuration has two runs."""
    root = results_root(folder)
    folders, _ = find_campaigns(root)
    if len(folders) < 2:
        raise ReportError(
            f"{one_line(root)} holds one campaign: --extract-median takes two or more", USAGE
        )
    runs: dict[str, list[tuple[Run, Path]]] = {}
    for campaign_folder in folders:
        campaign = load_campaign(campaign_folder, keep_going=keep_going, series=False)
        for run in campaign.counted:
            if run.eligible and not run.identity.faults:
                runs.setdefault(run.identity.key, []).append((run, campaign_folder / run.file))
    texts: dict[str, str] = {}
    lines = [f"{len(folders)} campaigns, {len(runs)} configurations"]
    for runs_of_one in runs.values():
        selected = select_run(run for run, _ in runs_of_one)
        if selected is None:
            continue
        place = next(path for run, path in runs_of_one if run is selected)
        name = f"{place.parent.name}/{place.name}"
        if len(runs_of_one) < 2:
            print(f"generate_report: {one_line(name)}: the only run, left out", file=sys.stderr)
            continue
        # Settings that no name shows can give two configurations one name.
        kept = place.name if place.name not in texts else f"{place.parent.name}_{place.name}"
        texts[kept] = read_document(place, MAX_DOCUMENT_BYTES).decode()
        lines.append(
            f"{kept}: median of {len(runs_of_one)} runs, {selected.requests_per_second:.1f}/s, from {name}"
        )
    if not texts:
        raise ReportError(f"{one_line(root)}: no configuration has two runs that count", USAGE)
    medians = root / f"{MEDIANS}{datetime.now(UTC):%Y%m%d_%H%M%S}"
    write_all(medians, texts | {"median_extraction_summary.txt": "\n".join(lines) + "\n"})
    return medians
