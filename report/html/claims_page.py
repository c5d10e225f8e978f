"""index.html of the claims: each with its verdict, then what it was compared by."""

from collections.abc import Sequence

from report.analysis.claims import JudgedClaim
from report.base.paths import STATIC
from report.html.template import render_template
from report.results.claims import ClaimsRegister
from report.sections.claims import (
    COLUMNS,
    MARKS,
    campaigns_of,
    comparison_row,
    reason_text,
    sentence,
    source_text,
    step_rows,
)


def claims_page(claims: Sequence[JudgedClaim], register: ClaimsRegister) -> str:
    """The page.

    Raises:
        ReportError: exit code 3 when a script of the page is not installed.
    """
    return render_template(
        "claims.html.j2",
        styles=(STATIC / "claims.css",),
        register=register,
        answer=sentence(claims),
        marks=MARKS,
        columns=COLUMNS,
        claims=[
            {
                "found": each,
                "claim": each.claim,
                "source": source_text(each.claim.source),
                "mark": MARKS[each.verdict],
                "reason": reason_text(each),
                "rows": [comparison_row(compared) for compared in each.comparisons],
                "steps": step_rows(each),
                "campaigns": campaigns_of(each, register),
            }
            for each in claims
        ],
    )
