"""The published claims with every attempt, as a page among those of all campaigns."""

from collections.abc import Mapping, Sequence

from report.base.format import plural
from report.base.paths import STATIC
from report.campaigns.build import STYLES
from report.cli.claims import (
    ABOUT,
    COLUMNS,
    WITHDRAWN,
    Attempt,
    Document,
    caveats_of,
    claim_rows,
)
from report.html.template import render_template
from report.sections.section import Column, Section, TableCell, TableRow, table_of

#: Where a row has its claim's source, and the campaign that made the attempt.
_SOURCE, _CAMPAIGN = COLUMNS.index("Source"), COLUMNS.index("Campaign")


def claims_page(
    claims: Sequence[Document], attempts: Mapping[str, Sequence[Attempt]], reports: Mapping[str, str]
) -> str:
    """`attempts` by the id of their claim; `reports` are the addresses of campaigns' reports."""
    rows = [
        _row(claim, cells, reports)
        for claim in claims
        for cells in claim_rows(claim, attempts.get(str(claim["id"]), ()))
    ]
    columns = [Column(name, kind="text") for name in COLUMNS]
    table = table_of("claim-rows", columns, rows)
    answer = f"{plural(len(claims), 'claim')}, {plural(len(rows), 'row')}"
    notes = tuple(f"{claim['id']}: {text}" for claim in claims for text in caveats_of(claim))
    section = Section("claims", "All claims", answer, tables=(table,), notes=notes, open=True)
    return render_template(
        "published_claims.html.j2",
        styles=(*STYLES, STATIC / "report.css"),
        scripts=(STATIC / "filters.js",),
        data={"rows": []},
        paragraphs=(WITHDRAWN, ABOUT),
        section=section,
    )


def _row(claim: Document, cells: Sequence[str], reports: Mapping[str, str]) -> TableRow:
    """Cells are Markdown, in which foreign text holds no mark but that of code."""
    texts = [cell.replace("`", "") for cell in cells]
    texts[_SOURCE] = str(claim["says"]["source"])
    links = {
        _SOURCE: str(claim["says"].get("address", "")),
        _CAMPAIGN: reports.get(texts[_CAMPAIGN], ""),
    }
    return TableRow(
        "", tuple(TableCell(text, kind="text", link=links.get(at, "")) for at, text in enumerate(texts))
    )
