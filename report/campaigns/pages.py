"""The pages over several campaigns."""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import pandas as pd

from report.base.paths import STATIC
from report.campaigns.digest import Digest, store_notices
from report.campaigns.history import History, histories
from report.campaigns.tables import Section, sections
from report.html.template import render_template
from report.results.model import Excluded

STYLES = (STATIC / "campaigns.css",)

DRIFT = (
    "These campaigns ran one after the other, not interleaved. What changed on the machine between them "
    "(temperature, other programs, updates) looks like a change of the software, so no ratio here has an "
    "interval or a verdict. To show a difference, measure "
    "both sides in one campaign."
)


def _links(digest: Digest) -> dict[str, str]:
    """Addresses of what a campaign's own report holds, relative to the folder of the report on several."""
    report = digest.folder / "report"
    base = f"../{quote(digest.folder.name)}/report"
    names = ("index.html", "summary.csv", "runs.csv", "summary.md", "summary.json")
    return {name: f"{base}/{name}" for name in names if (report / name).is_file()}


def compare_page(
    digests: Sequence[Digest],
    dataframe: pd.DataFrame,
    baseline: str | None,
    excluded: Sequence[tuple[str, Excluded]],
    trends: bool,
) -> str:
    """compare.html: campaigns side by side.

    Raises:
        ReportError: exit code 3 when a script of the page is not installed.
    """
    found: tuple[Section, ...] = sections(digests, dataframe, baseline)
    return render_template(
        "compare.html.j2",
        styles=STYLES,
        sections=found,
        campaigns=digests,
        baseline=baseline,
        excluded=excluded,
        drift=DRIFT,
        stores=store_notices(digests),
        by_hand=sum(digest.by_hand for digest in digests),
        trends=trends,
    )


def trends_page(
    digests: Sequence[Digest], dataframe: pd.DataFrame, excluded: Sequence[tuple[str, Excluded]]
) -> str:
    """trends.html: the history of each configuration, a machine and runtime after the other."""
    found, left_out = histories(dataframe)
    places = list(dict.fromkeys(digest.place for digest in digests))
    by_place: dict[int, list[History]] = {}
    for history in found:
        by_place.setdefault(history.place, []).append(history)
    parts = [(number, places[number - 1], members) for number, members in sorted(by_place.items())]
    return render_template(
        "trends.html.j2",
        styles=STYLES,
        parts=parts,
        left_out=left_out,
        count=len(found) + left_out,
        campaigns=digests,
        excluded=excluded,
        drift=DRIFT,
    )


def index_page(
    digests: Sequence[Digest], empty: Sequence[Path], excluded: Sequence[tuple[str, Excluded]], trends: bool
) -> str:
    """index.html: all campaigns, the newest first."""
    return render_template(
        "campaigns.html.j2",
        styles=STYLES,
        campaigns=[(digest, dict(digest.place), _links(digest)) for digest in reversed(digests)],
        empty=[path.name for path in empty],
        excluded=excluded,
        trends=trends,
    )
