"""Claims or questions with every attempt, as a page among those of all campaigns."""

from collections.abc import Mapping, Sequence

from report.base.format import plural
from report.base.paths import STATIC
from report.campaigns.build import STYLES
from report.claims.attempts import Attempt
from report.claims.claim_files import is_question
from report.claims.claim_verdict import claim_verdict
from report.claims.claims_table import (
    COLUMNS,
    QUESTION_COLUMNS,
    ClaimRow,
    answers,
    caveats_of,
    claim_rows,
)
from report.claims.claims_text import ABOUT, QUESTIONS_ABOUT
from report.claims.compared_rows import Document
from report.claims.register import Register
from report.html.template import render_template
from report.sections.section import Column, Section, Table, TableCell, TableGroup, TableRow

#: The titles of the two pages.
_CLAIMS = "Published claims"
_QUESTIONS = "Questions"


def claims_page(
    register: Register, attempts: Mapping[str, Sequence[Attempt]], reports: Mapping[str, str]
) -> str:
    """The page of published claims. `attempts` are by the id of their claim, and `reports` are the
    addresses of reports by the place of their campaign."""
    published = [claim for claim in register.claims if not is_question(claim)]
    paragraphs = tuple(filter(None, (register.notice, ABOUT)))
    return _page(_CLAIMS, published, attempts, reports, paragraphs, register.replies)


def questions_page(
    register: Register, attempts: Mapping[str, Sequence[Attempt]], reports: Mapping[str, str]
) -> str:
    """The page of questions, with the arguments of `claims_page`."""
    questions = [claim for claim in register.claims if is_question(claim)]
    return _page(_QUESTIONS, questions, attempts, reports, (QUESTIONS_ABOUT,), register.replies)


def _page(
    title: str,
    claims: Sequence[Document],
    attempts: Mapping[str, Sequence[Attempt]],
    reports: Mapping[str, str],
    paragraphs: Sequence[str],
    replies: Mapping[str, str],
) -> str:
    names = QUESTION_COLUMNS if title == _QUESTIONS else COLUMNS
    columns = tuple(Column(name, kind="text") for name in names)
    groups = tuple(_group(claim, attempts.get(str(claim["id"]), ()), reports) for claim in claims)
    table = Table("claim-rows", "", columns, groups, sortable=False)
    notes = []
    for claim in claims:
        reply = replies.get(str(claim["id"]), "")
        texts = [*caveats_of(claim), *([f"Reply: {reply}"] if reply else [])]
        notes += [f"{claim['id']}: {text}" for text in texts]

    word = "question" if title == _QUESTIONS else "claim"
    answer = f"{plural(len(claims), word)}, {plural(len(table.rows), 'row')}"
    section = Section(
        "claims", f"All {title.lower()}", answer, tables=(table,), notes=tuple(notes), open=True
    )
    return render_template(
        "published_claims.html.j2",
        styles=(*STYLES, STATIC / "report.css"),
        scripts=(STATIC / "filters.js",),
        data={"rows": []},
        title=title,
        paragraphs=paragraphs,
        section=section,
    )


def _group(claim: Document, attempts: Sequence[Attempt], reports: Mapping[str, str]) -> TableGroup:
    rows = claim_rows(claim, attempts)
    places = {attempt.place: reports.get(attempt.place, "") for attempt in attempts}
    cells = tuple(_row(row, places) for row in rows)
    if is_question(claim):
        answer = "; ".join(answers(claim, attempts)).replace("`", "")
        return TableGroup(cells, heading=str(claim["asks"]), hint=f"{claim['id']}: {answer}")

    says = claim["says"]
    verdict = claim_verdict(claim, attempts).text
    hint = f"{claim['id']}: {verdict} ({says['source']})"
    return TableGroup(cells, heading=str(says["sentence"]), hint=hint, link=str(says["address"]))


def _row(row: ClaimRow, reports: Mapping[str, str]) -> TableRow:
    """A row of the page. The cells are Markdown, in which the only mark of foreign text is that of
    code."""
    *texts, place = [cell.replace("`", "") for cell in row.cells]
    cells = [TableCell(text, kind="text") for text in texts]
    cells.append(TableCell(place, kind="text", link=reports.get(place, "")))
    return TableRow("", tuple(cells), anchor=row.anchor)
