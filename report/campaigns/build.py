"""--compare-runs: reads every campaign of a folder, one after the other, and writes what compares them."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from report.analysis.summary import summarize
from report.base.errors import USAGE, ReportError, one_line
from report.base.files import write_all
from report.campaigns.campaign_record import CampaignRecord, record_of
from report.campaigns.exports import compare_json, compare_markdown
from report.campaigns.find import REPORT, find_campaigns
from report.campaigns.pages import compare_page, index_page, trends_page
from report.campaigns.records import compare_csv, records_of
from report.results.load import load_campaign
from report.results.model import Excluded

_MAX_LINES = 20


@dataclass(frozen=True, slots=True)
class Options:
    root: Path
    trends: bool
    baseline: str | None
    """A campaign's name, or a path to one."""
    output_format: str
    keep_going: bool


class _Reader:
    def __init__(self, keep_going: bool) -> None:
        self._keep_going = keep_going
        self._seen: dict[str, str] = {}
        self.campaigns: list[CampaignRecord] = []
        self.lines: list[str] = []
        self.excluded: list[tuple[str, Excluded]] = []

    def add(self, folder: Path) -> None:
        name = one_line(folder.name)
        try:
            campaign = load_campaign(folder, keep_going=self._keep_going, series=False)
        except ReportError as error:
            if error.exit_code != USAGE:
                raise
            self.lines += [f"{name}/{line}" for line in error.lines]
            self.excluded += [(name, Excluded("", line)) for line in error.lines]
            return
        first = self._seen.setdefault(campaign.name, name)
        if first != name:
            line = f"manifest.json: $.campaign is also that of {first}: one campaign is counted once"
            self.lines.append(f"{name}/{line}")
            self.excluded.append((name, Excluded("", line)))
            return
        self.lines += [f"{name}/{entry}" for entry in campaign.excluded]
        self.excluded += [(name, entry) for entry in campaign.excluded]
        self.campaigns.append(record_of(campaign, summarize(campaign), folder))


def _find_baseline(asked: str, campaigns: list[CampaignRecord], reading: _Reader) -> str:
    """The baseline's name; a campaign outside of the folder is read and joins the others."""
    named = [each.name for each in campaigns if asked in (each.name, each.campaign)]
    if named:
        return named[0]
    folder = Path(os.path.realpath(asked))
    inside = [each.name for each in campaigns if Path(os.path.realpath(each.folder)) == folder]
    if inside:
        return inside[0]
    names = ", ".join(each.name for each in campaigns[-10:])
    if not folder.is_dir():
        raise ReportError(
            f"--baseline {one_line(asked, 80)} is neither a campaign nor a folder: have {names}", USAGE
        )
    before = len(reading.campaigns)
    reading.add(folder)
    if len(reading.campaigns) == before:
        raise ReportError(
            reading.lines[-_MAX_LINES:] or f"--baseline {one_line(asked, 80)} is no campaign", USAGE
        )
    return reading.campaigns[-1].name


def _files(asked: Options, reading: _Reader, empty: tuple[Path, ...], baseline: str | None) -> dict[str, str]:
    campaigns = sorted(reading.campaigns, key=lambda each: each.order)
    records, excluded = records_of(campaigns, baseline), reading.excluded
    make: dict[str, dict[str, Callable[[], str]]] = {
        "html": {
            "index.html": lambda: index_page(campaigns, empty, excluded, asked.trends),
            "compare.html": lambda: compare_page(campaigns, records, baseline, excluded, asked.trends),
        },
        "csv": {"compare.csv": lambda: compare_csv(records)},
        "md": {"compare.md": lambda: compare_markdown(campaigns, records, baseline, excluded)},
        "json": {"compare.json": lambda: compare_json(campaigns, records, baseline, excluded)},
    }
    if asked.trends:
        make["html"]["trends.html"] = lambda: trends_page(campaigns, records, excluded)
    # The pages link to the table.
    make["html"].update(make["csv"])
    chosen = make.values() if asked.output_format == "all" else [make[asked.output_format]]
    return {name: write() for files in chosen for name, write in files.items()}


def build_report(asked: Options) -> int:
    """Writes `<root>/report/` and prints the path of its first page."""
    root = Path(os.path.realpath(asked.root))
    found = find_campaigns(root)
    reading = _Reader(asked.keep_going)
    for folder in found.campaigns:
        reading.add(folder)
    baseline = None
    if asked.baseline is not None and (reading.campaigns or asked.keep_going):
        baseline = _find_baseline(asked.baseline, reading.campaigns, reading)
    if reading.lines and not (asked.keep_going and reading.campaigns):
        more = len(reading.lines) - _MAX_LINES
        raise ReportError(
            [*reading.lines[:_MAX_LINES], *([f"… and {more} more lines"] if more > 0 else [])], USAGE
        )
    files = _files(asked, reading, found.empty, baseline)
    write_all(root / REPORT, files)
    for line in reading.lines:
        print(f"generate_report: {line}: excluded", file=sys.stderr)
    print(root / REPORT / next(iter(files)))
    return USAGE if reading.lines else 0
