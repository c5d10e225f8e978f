"""The published claims with every attempt, as a page among those of all campaigns."""

from collections.abc import Mapping, Sequence

from report.base.format import plural
from report.base.paths import STATIC
from report.campaigns.build import STYLES
from report.claims.attempts import Attempt
from report.claims.claims_table import ABOUT, COLUMNS, caveats_of, claim_rows
from report.claims.compared_rows import Document
from report.html.template import render_template
from report.sections.section import Column, Section, Table, TableCell, TableGroup, TableRow

_CLAIM = COLUMNS.index("Claim")
_SOURCE = COLUMNS.index("Source")
_CAMPAIGN = COLUMNS.index("Campaign")

#: The places of the columns in a row in the order of the page, where the claim is a heading and its
#: source comes last.
_SHOWN = [place for place in range(len(COLUMNS)) if place not in (_CLAIM, _SOURCE)]
_SHOWN.append(_SOURCE)


def claims_page(
    claims: Sequence[Document],
    attempts: Mapping[str, Sequence[Attempt]],
    reports: Mapping[str, str],
    notice: str,
) -> str:
    """The page of all claims. `attempts` are by the id of their claim, and `reports` are the
    addresses of reports by the place of their campaign. The page begins with the notice unless it
    is empty."""
    groups = tuple(_group(claim, attempts.get(str(claim["id"]), ()), reports) for claim in claims)
    columns = tuple(Column(COLUMNS[place], kind="text") for place in _SHOWN)
    table = Table("claim-rows", "", columns, groups, sortable=False)
    answer = f"{plural(len(claims), 'claim')}, {plural(len(table.rows), 'row')}"
    notes = tuple(f"{claim['id']}: {text}" for claim in claims for text in caveats_of(claim))
    section = Section("claims", "All claims", answer, tables=(table,), notes=notes, open=True)
    return render_template(
        "published_claims.html.j2",
        styles=(*STYLES, STATIC / "report.css"),
        scripts=(STATIC / "filters.js",),
        data={"rows": []},
        paragraphs=(notice, ABOUT) if notice else (ABOUT,),
        section=section,
    )


def _group(claim: Document, attempts: Sequence[Attempt], reports: Mapping[str, str]) -> TableGroup:
    rows = tuple(_row(claim, cells, reports) for cells in claim_rows(claim, attempts))
    return TableGroup(rows, heading=str(claim["says"]["sentence"]), hint=str(claim["id"]))


def _row(claim: Document, cells: Sequence[str], reports: Mapping[str, str]) -> TableRow:
    """A row of the page. The cells are Markdown, in which the only mark of foreign text is that of
    code."""
    texts = [cell.replace("`", "") for cell in cells]
    texts[_SOURCE] = str(claim["says"]["source"])
    links = {
        _SOURCE: str(claim["says"].get("address", "")),
        _CAMPAIGN: reports.get(texts[_CAMPAIGN], ""),
    }
    page_cells = [
        TableCell(texts[place], kind="text", link=links.get(place, "")) for place in _SHOWN
    ]
    return TableRow("", tuple(page_cells))
