"""What --output-format means: which files a report consists of, and how each is made."""

import json
from collections.abc import Callable, Mapping, Sequence

from report.analysis.summary import Summary
from report.export.action_benchmark import as_json, bigger_is_better, smaller_is_better
from report.export.runs_csv import runs_csv
from report.export.summary_csv import summary_csv
from report.export.summary_json import summary_document
from report.export.summary_markdown import summary_md
from report.html.page import render_page
from report.results.model import Campaign

PAGE = "index.html"

Make = Callable[[Campaign, Sequence[Summary]], str]


def _summary_json(campaign: Campaign, summaries: Sequence[Summary]) -> str:
    return json.dumps(summary_document(campaign, summaries, PAGE), ensure_ascii=False, indent=1) + "\n"


_MAKE: Mapping[str, Make] = {
    PAGE: render_page,
    "summary.csv": lambda _, summaries: summary_csv(summaries),
    "runs.csv": lambda _, summaries: runs_csv(summaries),
    "summary.md": summary_md,
    "summary.json": _summary_json,
    "benchmark-bigger-is-better.json": lambda _, summaries: as_json(bigger_is_better(summaries)),
    "benchmark-smaller-is-better.json": lambda _, summaries: as_json(smaller_is_better(summaries)),
}

#: Files by format. The page links to the tables, so they come with it.
FORMATS: Mapping[str, tuple[str, ...]] = {
    "html": (PAGE, "summary.csv", "runs.csv"),
    "csv": ("summary.csv", "runs.csv"),
    "md": ("summary.md",),
    "json": ("summary.json", "benchmark-bigger-is-better.json", "benchmark-smaller-is-better.json"),
    "all": tuple(_MAKE),
}


def outputs(campaign: Campaign, summaries: Sequence[Summary], chosen: str) -> dict[str, str]:
    """The files of a format with their texts.

    Raises:
        ReportError: exit code 3 when the chart library is not installed.
    """
    return {name: _MAKE[name](campaign, summaries) for name in FORMATS[chosen]}
