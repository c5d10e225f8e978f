"""Reads the campaigns of a folder one after the other.

`--compare-runs` writes pages and tables that put them side by side. `--extract-median` copies the
selected run of each configuration, chosen from the runs of all campaigns."""

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

#: Folders whose names begin like this hold copies of runs, which must not count twice.
MEDIANS = "median_results_"
STYLES = (STATIC / "campaigns.css",)
_REPORT = "report"
_MAX_LINES = 20

Listed = tuple[records.CampaignRecord, Mapping[str, str]]
"""A campaign, and the address of each file of its report by the name of the file."""

_DRIFT = (
    "These campaigns ran one after the other, not interleaved. What changed on the machine between them "
    "(temperature, other programs, updates) looks like a change of the software, so no ratio here has an "
    "interval or a verdict. To show a difference, measure both sides in one campaign."
)


def has_results(folder: Path) -> bool:
    """Whether the folder holds a JSON file besides the manifest, which could be a result."""
    names = [path.name for path in folder.iterdir() if path.suffix == ".json"]
    return any(name != MANIFEST and not name.startswith(".") for name in names)


def find_campaigns(root: Path) -> tuple[list[Path], list[Path]]:
    """Returns the campaigns directly below `root`, sorted by name, and the folders of campaigns
    that have no result yet because they were planned, are running or were aborted early. It does
    not follow links such as `latest`.

    Raises ReportError if `root` cannot be read or holds no campaign with a result."""
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
            if path.name == _REPORT:
                continue

            if has_results(path):
                campaigns.append(path)
            elif (path / MANIFEST).exists():
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


def _with_addresses(campaign: records.CampaignRecord) -> Listed:
    names = ("index.html", "summary.csv", "runs.csv", "summary.md", "summary.json")
    folder = quote(campaign.folder.name)
    addresses = {
        name: f"../{folder}/{_REPORT}/{name}"
        for name in names
        if (campaign.folder / _REPORT / name).is_file()
    }
    return campaign, addresses


@dataclass(slots=True)
class _CampaignsReport:
    """Collects the campaigns that were read and makes the files that compare them."""

    keep_going: bool
    baseline: str | None = None
    trends: bool = False
    campaigns: list[records.CampaignRecord] = field(default_factory=list)
    empty: Sequence[Path] = ()
    excluded: list[tuple[str, Excluded]] = field(default_factory=list)
    """Each with the name of the folder of its campaign."""
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    """One row for each campaign and configuration."""
    sections: Sequence[Section] = ()
    """The tables with campaigns side by side."""
    _folder_names: dict[str, str] = field(default_factory=dict)
    """The folder of each campaign by the name in its manifest, to read no campaign twice."""

    @property
    def exclusion_lines(self) -> list[str]:
        """One line for each excluded file or campaign."""
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

        first_folder = self._folder_names.setdefault(campaign.name, name)
        if first_folder != name:
            line = (
                f"manifest.json: $.campaign is also that of {first_folder}: "
                "one campaign is counted once"
            )
            self.excluded.append((name, Excluded("", line)))
            return

        self.excluded += [(name, entry) for entry in campaign.excluded]
        self.campaigns.append(records.record_of(campaign, summarize(campaign), folder))

    def find_baseline(self, name_or_path: str) -> str:
        """Returns the name of the baseline. A campaign outside of the folder is read and added.

        Raises ReportError where it is neither a campaign that was read nor a folder of one."""
        folder = Path(os.path.realpath(name_or_path))
        by_name = [
            campaign.name
            for campaign in self.campaigns
            if name_or_path in (campaign.name, campaign.campaign)
        ]
        by_path = [
            campaign.name
            for campaign in self.campaigns
            if Path(os.path.realpath(campaign.folder)) == folder
        ]
        if by_name or by_path:
            return [*by_name, *by_path][0]

        flag = f"--baseline {one_line(name_or_path, 80)}"
        if not folder.is_dir():
            names = ", ".join(campaign.name for campaign in self.campaigns[-10:])
            raise ReportError(f"{flag} is neither a campaign nor a folder: have {names}", USAGE)

        count_before = len(self.campaigns)
        self.add(folder)
        if len(self.campaigns) == count_before:
            raise ReportError(self.exclusion_lines[-_MAX_LINES:] or f"{flag} is no campaign", USAGE)
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
        listed = [_with_addresses(campaign) for campaign in reversed(self.campaigns)]
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
        shown_histories, hidden_count = histories(self.rows)
        numbers = records.place_numbers(self.campaigns)
        # The newest campaign of a place has most of it on record.
        environments = {numbers[campaign.name]: campaign.environment for campaign in self.campaigns}

        parts = []
        for place, environment in environments.items():
            place_histories = [history for history in shown_histories if history["place"] == place]
            if place_histories:
                parts.append((place, environment, place_histories))

        return self._page(
            "trends",
            styles=STYLES,
            parts=parts,
            left_out=hidden_count,
            count=len(shown_histories) + hidden_count,
        )

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
        """The texts of the files of this format, or of all, by file name."""
        self.campaigns.sort(key=lambda campaign: campaign.order)
        self.rows = rows.rows_of(records.placed_rows(self.campaigns), self.baseline)
        self.sections = sections(self.campaigns, self.rows, self.baseline)
        csv = {"compare.csv": lambda: rows.compare_csv(self.rows, self.baseline)}
        trends = {"trends.html": self.trends_page} if self.trends else {}
        writers: dict[str, dict[str, Callable[[], str]]] = {
            # The pages link to the table.
            "html": {"index.html": self.index, "compare.html": self.side_by_side, **trends, **csv},
            "csv": csv,
            "md": {"compare.md": self.markdown},
            "json": {"compare.json": self.json},
        }
        chosen = writers.values() if output_format == "all" else [writers[output_format]]
        return {name: write() for files in chosen for name, write in files.items()}


def build_report(
    root: Path,
    trends: bool = False,
    baseline: str | None = None,
    form: str = "all",
    keep_going: bool = False,
    program: str = "generate_report",
) -> int:
    """Writes `<root>/report/`, prints the path of its first page and returns the exit code.

    A baseline is a name or a path. Raises ReportError if a file or a campaign is excluded, unless
    `keep_going` is set and some campaign remains."""
    root = Path(os.path.realpath(root))
    folders, empty = find_campaigns(root)

    report = _CampaignsReport(keep_going, trends=trends, empty=empty)
    for folder in folders:
        report.add(folder)
    if baseline is not None and (report.campaigns or keep_going):
        report.baseline = report.find_baseline(baseline)

    lines = report.exclusion_lines
    if lines and not (keep_going and report.campaigns):
        more = len(lines) - _MAX_LINES
        ending = [f"… and {more} more lines"] if more > 0 else []
        raise ReportError([*lines[:_MAX_LINES], *ending], USAGE)

    files = report.files(form)
    write_all(root / _REPORT, files)
    for line in lines:
        print(f"{program}: {line}: excluded", file=sys.stderr)
    print(root / _REPORT / next(iter(files)))
    return USAGE if lines else 0


def results_root(folder: Path) -> Path:
    """The folder of campaigns: `folder`, or the one that holds it if it is a campaign."""
    path = Path(os.path.realpath(folder))
    is_campaign = path.is_dir() and ((path / MANIFEST).exists() or has_results(path))
    return path.parent if is_campaign else path


def extract_median_runs(folder: Path, keep_going: bool, program: str) -> Path:
    """Copies the selected run of each configuration, over all campaigns, into a new folder and
    returns it.

    A configuration with a single run that counts has no median and is not copied. Raises
    ReportError for fewer than two campaigns, and if no configuration has two runs."""
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
    for runs_with_paths in runs.values():
        selected = select_run(run for run, _ in runs_with_paths)
        if selected is None:
            continue

        path = next(path for run, path in runs_with_paths if run is selected)
        source = f"{path.parent.name}/{path.name}"
        count = len(runs_with_paths)
        if count < 2:
            print(f"{program}: {one_line(source)}: the only run, left out", file=sys.stderr)
            continue

        # Settings that no name shows can give two configurations one name.
        copy_name = path.name if path.name not in texts else f"{path.parent.name}_{path.name}"
        texts[copy_name] = read_document(path, MAX_DOCUMENT_BYTES).decode()
        throughput = f"{selected.requests_per_second:.1f}/s"
        lines.append(f"{copy_name}: median of {count} runs, {throughput}, from {source}")

    if not texts:
        raise ReportError(f"{one_line(root)}: no configuration has two runs that count", USAGE)
    medians = root / f"{MEDIANS}{datetime.now(UTC):%Y%m%d_%H%M%S}"
    write_all(medians, texts | {"median_extraction_summary.txt": "\n".join(lines) + "\n"})
    return medians
