"""index.html of an audit: targets by checks, and what was promised and seen."""

from report.base.paths import STATIC
from report.html.template import render_template
from report.results.records import Audit
from report.sections.audit import MARKS, details, rows, sentence


def audit_page(audit: Audit) -> str:
    """The page."""
    return render_template(
        "audit.html.j2",
        styles=(STATIC / "audit.css",),
        audit=audit,
        answer=sentence(audit),
        rows=rows(audit),
        details=[(check, details(audit, check)) for check in audit.checks],
        marks=MARKS,
        versions=[
            *(("ratelimit-bench", audit.harness), ("Node.js", audit.node)),
            *sorted(audit.programs.items()),
        ],
    )
