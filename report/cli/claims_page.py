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
from report.sections.section import Column, Section, Table, TableCell, TableGroup, TableRow

#: Where a row has its claim, the claim's source, and the campaign that made the attempt.
_CLAIM, _SOURCE, _CAMPAIGN = map(COLUMNS.index, ("Claim", "Source", "Campaign"))
#: The claim is a heading; its source comes last.
_SHOWN = [*(at for at in range(len(COLUMNS)) if at not in (_CLAIM, _SOURCE)), _SOURCE]


def claims_page(
    claims: Sequence[Document],
    attempts: Mapping[str, Sequence[Attempt]],
    reports: Mapping[str, str],
) -> str:
    """`attempts` by the id of their claim; `reports` are the addresses of campaigns' reports."""
    groups = tuple(_group(claim, attempts.get(str(claim["id"]), ()), reports) for claim in claims)
    columns = tuple(Column(COLUMNS[at], kind="text") for at in _SHOWN)
    table = Table("claim-rows", "", columns, groups, sortable=False)
    answer = f"{plural(len(claims), 'claim')}, {plural(len(table.rows), 'row')}"
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


def _group(claim: Document, attempts: Sequence[Attempt], reports: Mapping[str, str]) -> TableGroup:
    rows = tuple(_row(claim, cells, reports) for cells in claim_rows(claim, attempts))
    return TableGroup(rows, heading=str(claim["says"]["sentence"]), hint=str(claim["id"]))


def _row(claim: Document, cells: Sequence[str], reports: Mapping[str, str]) -> TableRow:
    """Cells are Markdown, in which foreign text holds no mark but that of code."""
    texts = [cell.replace("`", "") for cell in cells]
    texts[_SOURCE] = str(claim["says"]["source"])
    address = str(claim["says"].get("address", ""))
    links = {_SOURCE: address, _CAMPAIGN: reports.get(texts[_CAMPAIGN], "")}
    shown = (TableCell(texts[at], kind="text", link=links.get(at, "")) for at in _SHOWN)
    return TableRow("", tuple(shown))
