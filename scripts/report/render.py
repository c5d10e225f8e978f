"""The page: one file that needs no network, and runs no script but its own."""

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from .answer import answers
from .at_rate import COLUMNS as RATE_COLUMNS
from .at_rate import rate_tables
from .charts import CHARTS
from .charts.base import DARK, chart_rows
from .compare import Cell, cells
from .environment import campaign_facts, external_notices, machine_facts, version_facts
from .errors import ENVIRONMENT, ReportError
from .loads import load_text, varying_parts
from .model import Campaign
from .notices import campaign_notices
from .paths import PLOTLY_BUNDLE, STATIC, TEMPLATES
from .runs import run_rows
from .script_calls import script_rows
from .summarize import Summary
from .tables import result_tables
from .thresholds import judgements

_FILTERS = ("client", "workload", "topology")


def _inline_script(path: Path) -> str:
    """A script's text, fit to stand in a page unchanged.

    Raises:
        ReportError: exit code 3 when it is not installed.
    """
    try:
        text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
    except OSError as error:
        raise ReportError(
            f"{path.name} cannot be read ({error.strerror}): run ./scripts/setup.sh", ENVIRONMENT
        ) from error
    if "</script" in text.lower() or "<!--" in text:
        raise ReportError(f"{path.name} cannot stand in a page: it holds the end of a script", ENVIRONMENT)
    return text


def script_hash(text: str) -> str:
    """What makes a Content-Security-Policy admit an inline script with exactly this text."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def content_security_policy(scripts: Sequence[str]) -> str:
    """Nothing from anywhere, but these inline scripts, inline styles, and images that scripts make."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(script_hash(script) for script in scripts)}",
            "style-src 'unsafe-inline'",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _page_order(found: Sequence[Cell], summaries: Sequence[Summary]) -> list[Summary]:
    """Cells in order, best first in each, then controls."""
    clients = [summary for cell in found for summary in cell.summaries]
    return [*clients, *(summary for summary in summaries if summary.identity.control)]


def _topology(summary: Summary) -> str:
    """What the filter compares; empty for controls, which stand beside every topology."""
    return "" if summary.identity.control else summary.identity.topology or "not known"


def _filter_values(summaries: Sequence[Summary]) -> dict[str, list[str]]:
    """What the filters offer; a filter with one value is left out."""
    values = {
        "client": {summary.identity.client for summary in summaries},
        "workload": {summary.identity.workload for summary in summaries},
        "topology": {_topology(summary) for summary in summaries} - {""},
    }
    return {name: sorted(values[name]) for name in _FILTERS if len(values[name]) > 1}


def _data(ordered: Sequence[Summary], figures: dict[str, Any]) -> dict[str, Any]:
    """What the page's script works on."""
    return {
        "dark": DARK,
        "figures": figures,
        "rows": {
            summary.id: {
                "client": summary.identity.client,
                "workload": summary.identity.workload,
                "topology": _topology(summary),
            }
            for summary in ordered
        },
    }


def _figures(ordered: Sequence[Summary]) -> dict[str, Any]:
    parts = varying_parts(ordered)
    texts = {summary.id: load_text(summary.identity, parts) for summary in ordered}
    rows = chart_rows(ordered, texts)
    built = {chart.id: chart.build(rows) for chart in CHARTS}
    return {name: figure for name, figure in built.items() if figure is not None}


def render_page(campaign: Campaign, summaries: Sequence[Summary]) -> str:
    """The whole page.

    Args:
        summaries: all rows, in the order of `summarize`.
    Raises:
        ReportError: exit code 3 when the chart library is not installed.
    """
    found = cells(summaries)
    ordered = _page_order(found, summaries)
    figures = _figures(ordered)
    scripts = [_inline_script(PLOTLY_BUNDLE), _inline_script(STATIC / "report.js")]
    controls = [summary for summary in ordered if summary.identity.control]
    manifest = campaign.manifest
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("page.html.j2").render(
        campaign=campaign,
        manifest=manifest,
        policy=content_security_policy(scripts),
        style=Markup((STATIC / "report.css").read_text(encoding="utf-8")),  # noqa: S704 (a file of ours)
        scripts=[Markup(script) for script in scripts],  # noqa: S704 (files of ours, admitted by hash)
        data=_data(ordered, figures),
        charts=[chart for chart in CHARTS if chart.id in figures],
        filters=_filter_values(ordered),
        answers=answers([cell for cell in found if not cell.identity.open_loop]),
        rate_tables=rate_tables(found),
        rate_columns=RATE_COLUMNS,
        thresholds=judgements(campaign, ordered),
        tables=result_tables(found, controls),
        runs=run_rows(ordered),
        run_count=len(campaign.runs),
        row_count=len(ordered),
        machine=machine_facts(campaign, ordered),
        facts=campaign_facts(campaign),
        versions=version_facts(ordered),
        scripts_ran=script_rows(ordered),
        external=[*campaign_notices(campaign), *external_notices(ordered)],
        notes=manifest["plan"]["notes"] if manifest else [],
        skips=manifest["plan"]["skips"] if manifest else [],
        conditions=manifest["conditions"] if manifest else [],
        not_applicable=sorted({entry for run in campaign.runs for entry in run.not_applicable}),
    )
