"""--extract-median: the median run of each configuration across campaigns, in a folder of its own."""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from report.base.errors import USAGE, ReportError, one_line
from report.base.files import read_document, write_all
from report.campaigns.find import MEDIANS, find_campaigns, has_results
from report.results.load import load_campaign
from report.results.model import MANIFEST, Run
from report.results.validate import MAX_DOCUMENT_BYTES
from report.statistics.runs import select_median_run

_SUMMARY = "median_extraction_summary.txt"


def results_root(folder: Path) -> Path:
    """The folder of campaigns: `folder`, or the one that holds it if it is a campaign."""
    path = Path(os.path.realpath(folder))
    is_campaign = path.is_dir() and ((path / MANIFEST).exists() or has_results(path))
    return path.parent if is_campaign else path


def extract_median_runs(folder: Path, keep_going: bool) -> Path:
    """Copies the median run of each configuration, over all campaigns, into `median_results_<time>`.

    A configuration with a single run that counts has no median and is left out.

    Returns:
        The new folder.
    Raises:
        ReportError: exit code 2 for fewer than two campaigns, or when no configuration has two runs; also
            see `load_campaign`.
    """
    root = results_root(folder)
    found = find_campaigns(root).campaigns
    if len(found) < 2:
        raise ReportError(f"{one_line(root)} holds one campaign: --extract-median takes two or more", USAGE)
    runs: dict[str, list[tuple[Run, Path]]] = {}
    for each in found:
        campaign = load_campaign(each, keep_going=keep_going, series=False)
        for run in (*campaign.runs, *campaign.operations):
            if run.eligible:
                runs.setdefault(run.identity.key, []).append((run, each / run.file))
    texts: dict[str, str] = {}
    lines = [f"{len(found)} campaigns, {len(runs)} configurations"]
    for members in runs.values():
        median = select_median_run(run for run, _ in members)
        if median is None:
            continue
        place = next(path for run, path in members if run is median)
        name = f"{place.parent.name}/{place.name}"
        if len(members) < 2:
            print(f"generate_report: {one_line(name)}: the only run, left out", file=sys.stderr)
            continue
        # Settings that no name shows can give two configurations one name.
        kept = place.name if place.name not in texts else f"{place.parent.name}_{place.name}"
        texts[kept] = read_document(place, MAX_DOCUMENT_BYTES).decode()
        lines.append(
            f"{kept}: median of {len(members)} runs, {median.requests_per_second:.1f}/s, from {name}"
        )
    if not texts:
        raise ReportError(f"{one_line(root)}: no configuration has two runs that count", USAGE)
    medians = root / f"{MEDIANS}{datetime.now(UTC):%Y%m%d_%H%M%S}"
    write_all(medians, texts | {_SUMMARY: "\n".join(lines) + "\n"})
    return medians
