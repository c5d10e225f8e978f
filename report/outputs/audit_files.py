"""The files of an audit."""

from report.export.audit_markdown import audit_markdown
from report.html.page import audit_page
from report.results.generated.records import Audit

#: The page's name.
PAGE = "index.html"


def audit_files(audit: Audit) -> dict[str, str]:
    """The texts of the page and the Markdown, by the names of their files."""
    return {PAGE: audit_page(audit), "audit.md": audit_markdown(audit)}
