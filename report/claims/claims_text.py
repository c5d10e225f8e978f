"""The pages of claims and of questions in Markdown."""

from collections.abc import Iterator, Mapping, Sequence

from report.base.markdown import code, prose, table
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
    commands_of,
    ranges,
    source_link,
)
from report.claims.compared_rows import Document
from report.claims.register import Register

ABOUT = """\
Each entry is a statement that its maker or another publication made, with one verdict. A row
below it is a comparison in one campaign, on the machine that it names. The ratio is the first
target by the second; its interval covers all comparisons of the claim in this campaign together
at 95 %. A row is confirmed where the interval lies within its range, and refuted where it lies
beyond a wider range; both were registered before the data. A precondition that does not hold,
such as a limit that belongs to the host, leaves "cannot be told here", which is a result, too.
Rows as published decide; our variations stand below them. A reply is printed beside the rows:
claims/replies/README.md says how."""
QUESTIONS_ABOUT = """\
Each entry is a question that users ask; nobody in particular published an answer. An answer is
a range of ratios, the first target by the second, and the machines that measured it. Where a
precondition does not hold, the reason stands in its place. Rows list every attempt with its
interval at 95 %."""

_CLAIMS_TITLE = "# Published claims, and every attempt to measure them"
_QUESTIONS_TITLE = "# Questions that users ask, and every attempt to answer them"
_WRITTEN = (
    "<!-- Written by `python3 report claims` from claims/*.yaml and the campaigns in results/. -->"
)


def claims_markdown(
    register: Register, attempts_of: Mapping[str, Sequence[Attempt]]
) -> tuple[str, int]:
    """The page of published claims, and the number of its rows. Attempts are by the id of their
    claim."""
    published = [claim for claim in register.claims if not is_question(claim)]
    notice = [f"**{register.notice}**"] if register.notice else []
    opening = [_WRITTEN, _CLAIMS_TITLE, *notice, ABOUT]
    return _page(opening, published, attempts_of, register.replies)


def questions_markdown(
    register: Register, attempts_of: Mapping[str, Sequence[Attempt]]
) -> tuple[str, int]:
    """The page of questions, and the number of its rows."""
    questions = [claim for claim in register.claims if is_question(claim)]
    opening = [_WRITTEN, _QUESTIONS_TITLE, QUESTIONS_ABOUT]
    return _page(opening, questions, attempts_of, register.replies)


def _page(
    opening: Sequence[str],
    claims: Sequence[Document],
    attempts_of: Mapping[str, Sequence[Attempt]],
    replies: Mapping[str, str],
) -> tuple[str, int]:
    summaries: list[str] = []
    sections: list[str] = []
    row_count = 0
    for claim in claims:
        claim_id = str(claim["id"])
        attempts = attempts_of.get(claim_id, ())
        rows = claim_rows(claim, attempts)
        summaries.append(f"- [{code(claim_id)}](#{claim_id}): {_summary(claim, attempts)}")
        sections += _section(claim, attempts, rows, replies.get(claim_id, ""))
        row_count += len(rows)
    blocks = [*opening, "\n".join(summaries)]
    return "\n\n".join(blocks) + "\n\n" + "\n".join(sections), row_count


def _summary(claim: Document, attempts: Sequence[Attempt]) -> str:
    """A statement with its verdict, or a question with its answers."""
    if is_question(claim):
        return f"{prose(claim['asks'])} {'; '.join(answers(claim, attempts))}"
    verdict = prose(claim_verdict(claim, attempts).text)
    return f"{prose(claim['says']['sentence'])} **{verdict}**"


def _section(
    claim: Document, attempts: Sequence[Attempt], rows: Sequence[ClaimRow], reply: str
) -> Iterator[str]:
    """The lines about a claim: what was said where, its verdict, and its attempts."""
    yield from (f"## {claim['id']}", "", *_head(claim, attempts), "")
    if reply:
        yield from (
            *(f"> {line}" for line in ["**Reply**", "", *map(prose, reply.splitlines())]),
            "",
        )

    columns = QUESTION_COLUMNS if is_question(claim) else COLUMNS
    parts = {
        "As published": [row for row in rows if not row.is_variation],
        "Our variations": [row for row in rows if row.is_variation],
    }
    if is_question(claim):
        parts = {"Attempts": list(rows)}
    for heading, rows_of_part in parts.items():
        if rows_of_part:
            cells = [
                (f'<a id="{row.anchor}"></a>[link](#{row.anchor})', *row.cells)
                for row in rows_of_part
            ]
            yield from (f"### {heading}: {code(claim['id'])}", "")
            yield from (*table(("Row", *columns), cells, len(columns) + 1), "")


def _head(claim: Document, attempts: Sequence[Attempt]) -> Iterator[str]:
    if is_question(claim):
        yield from (f"{prose(claim['asks'])}", "")
        yield from (f"- Answer: {answer}" for answer in answers(claim, attempts))
    else:
        verdict = prose(claim_verdict(claim, attempts).text)
        yield from (f"{prose(claim['says']['sentence'])} ({source_link(claim)})", "")
        yield f"- Verdict: **{verdict}**"
        date = claim["says"].get("date", "not said")
        yield f"- Published: {prose(date)}"
    yield from (f"- Range: {text}" for text in ranges(claim, attempts))
    yield from (f"- To measure it: {command}" for command in commands_of(claim))
    yield from (f"- {prose(text)}" for text in caveats_of(claim))
