"""Builds every page of the report as one file, which needs no network and runs only its own
scripts."""

import base64
import hashlib
import re
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from report.base.errors import ENVIRONMENT, ReportError
from report.base.paths import PLOTLY_BUNDLE, STATIC, TEMPLATES
from report.sections.filters import counts_by_row

#: The scripts of every page: theme, tables that can be sorted and copied, and folded parts.
BASE_SCRIPTS: tuple[Path, ...] = tuple(
    STATIC / name for name in ("theme.js", "tables.js", "details.js")
)

#: The further scripts of a page with filters and charts.
CHART_SCRIPTS = (PLOTLY_BUNDLE, *(STATIC / name for name in ("filters.js", "charts.js")))


def _inline_script(path: Path) -> str:
    """The text of a script, which can stand in a page unchanged."""
    try:
        text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
    except OSError as error:
        text = f"{path.name} cannot be read ({error.strerror}): run ./scripts/setup.sh"
        raise ReportError(text, ENVIRONMENT) from error
    if "</script" in text.lower() or "<!--" in text:
        raise ReportError(
            f"{path.name} cannot stand in a page: it holds the end of a script", ENVIRONMENT
        )
    return text


def _policy(scripts: Sequence[str]) -> str:
    """The content security policy of a page.

    It admits these inline scripts, inline styles, and images that scripts make, and nothing
    else."""
    digests = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts
    ]
    admitted = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {admitted}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _with_rule_links(text: str, rules: Collection[str]) -> Markup:
    """The text with a link from each of these rules to its line on the page."""
    parts = re.split(r"\b(M\d+)\b", text)
    return Markup("").join(
        Markup('<a href="#rule-{0}">{0}</a>').format(part) if part in rules else part
        for part in parts
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["rules_linked"] = _with_rule_links
    environment.filters["by_row"] = counts_by_row
    environment.filters["drawn_in"] = lambda chart, charts: charts.get(chart, ())
    return environment


def render_template(
    name: str, *, styles: Sequence[Path] = (), scripts: Sequence[Path] = (), **context: Any
) -> str:
    """A page from a template that extends `base.html.j2`."""
    codes = [_inline_script(path) for path in (*BASE_SCRIPTS, *scripts)]
    sheets = [path.read_text(encoding="utf-8") for path in (STATIC / "base.css", *styles)]
    return (
        _environment()
        .get_template(name)
        .render(
            policy=_policy(codes),
            style=Markup("\n".join(sheets)),  # noqa: S704 (files of ours)
            scripts=[Markup(code) for code in codes],  # noqa: S704 (files of ours, admitted by hash)
            **context,
        )
    )
