"""What every page of the report is made of: one file, no network, no script but its own."""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from report.base.errors import ENVIRONMENT, ReportError
from report.base.paths import PLOTLY_BUNDLE, STATIC, TEMPLATES
from report.sections.filters import counts_by_row

#: Scripts of every page: theme, sortable tables, copying them, what is folded.
BASE_SCRIPTS: tuple[Path, ...] = tuple(
    STATIC / name for name in ("theme.js", "tables.js", "details.js")
)

#: What a page with filters and charts needs besides.
CHART_SCRIPTS = (PLOTLY_BUNDLE, *(STATIC / name for name in ("filters.js", "charts.js")))


def _inline_script(path: Path) -> str:
    """A script's text, fit to stand in a page unchanged."""
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
    """Nothing from anywhere, but these inline scripts, inline styles, and images that scripts
    make."""
    digests = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts
    ]
    admitted = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {admitted}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
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
