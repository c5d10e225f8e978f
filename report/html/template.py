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

#: Styles and scripts of every page: theme, sortable tables, copying them, what is folded.
BASE_STYLES: tuple[Path, ...] = (STATIC / "base.css",)
BASE_SCRIPTS: tuple[Path, ...] = tuple(STATIC / name for name in ("theme.js", "tables.js", "details.js"))

#: What a page with filters and charts needs besides.
CHART_SCRIPTS: tuple[Path, ...] = (
    PLOTLY_BUNDLE,
    *(STATIC / name for name in ("filters.js", "charts.js", "cost.js")),
)


def _inline_script(path: Path) -> str:
    """A script's text, fit to stand in a page unchanged."""
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
    sheets = [path.read_text(encoding="utf-8") for path in (*BASE_STYLES, *styles)]
    return (
        _environment()
        .get_template(name)
        .render(
            policy=content_security_policy(codes),
            style=Markup("\n".join(sheets)),  # noqa: S704 (files of ours)
            scripts=[Markup(code) for code in codes],  # noqa: S704 (files of ours, admitted by hash)
            **context,
        )
    )
