"""All claims with every attempt, as a table in Markdown."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from urllib.parse import quote

from report.base.markdown import code, prose, table
from report.claims.attempts import Attempt
from report.claims.compared_rows import Document
from report.claims.judgement import NOTHING_REFUTES, UNDECIDED

ABOUT = """A row is a comparison in one campaign; a comparison that no campaign measured has a row, too. The
ratio is the first target by the second. Its interval covers all comparisons of the claim in this campaign
together at 95 %. A claim is confirmed where the interval lies within its range, and refuted where it lies
beyond a wider range that was set before the data. Between the two, and where no such range was set, it is not
decided. Each row holds on the machine that it names. What each publication leaves open stands below the
table."""
_TITLE = """<!-- Written by `python3 report claims` from claims/*.yaml and the campaigns in results/. -->

# Published claims, and every attempt to measure them"""

#: The members of a claim that are printed below the table, with their titles.
_CAVEATS = {
    "refuted_by": "What would refute it",
    "measured_there": "Measured there",
    "not_said": "Not said there",
    "notes": "Note",
}
COLUMNS = (
    "Claim",
    "Source",
    "Compared",
    "Expected",
    "Ratio",
    "Verdict",
    "Date",
    "Load, duration",
    "Order",
    "Caps",
    "Machine",
    "Versions",
    "Campaign",
)
_VERDICT = COLUMNS.index("Verdict")


def claims_markdown(
    claims: Sequence[Document], attempts_of: Mapping[str, Sequence[Attempt]], notice: str
) -> tuple[str, int]:
    """The text of the page, and the number of rows of its table. The attempts are by the id of
    their claim. The notice stands above everything else unless it is empty."""
    rows: list[list[str]] = []
    rows_by_title: dict[str, list[list[str]]] = {}
    for claim in claims:
        claim_id = str(claim["id"])
        rows_of_claim = list(claim_rows(claim, attempts_of[claim_id]))
        rows += rows_of_claim
        rows_by_title.setdefault(_title_of(claim), []).extend(rows_of_claim)

    paragraphs = [_TITLE, f"**{notice}**", ABOUT] if notice else [_TITLE, ABOUT]
    lines = [
        "\n\n".join(paragraphs),
        "",
        *(_claim_line(title, rows) for title, rows in rows_by_title.items()),
        "",
        "## Every attempt",
        "",
        *table(COLUMNS, rows, len(COLUMNS)),
        *_caveat_section(claims),
        "",
    ]
    return "\n".join(lines), len(rows)


def _title_of(claim: Document) -> str:
    return f"{code(claim['id'])}: {prose(claim['says']['sentence'])}"


def _claim_line(title: str, rows: Sequence[Sequence[str]]) -> str:
    """The title of a claim, with how many of its rows have which verdict."""
    verdicts = Counter(row[_VERDICT].partition(":")[0] for row in rows)
    counts = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.most_common())
    return f"- {title} ({counts})"


def claim_rows(claim: Document, attempts: Sequence[Attempt]) -> Iterator[list[str]]:
    """The rows of a claim, whose cells are `COLUMNS` in Markdown."""
    head = [_title_of(claim), _source_link(claim)]
    command = claim.get("needs", f"ratelimit-bench run --config claims/{claim['file']}")
    verdict = f"{UNDECIDED}: it needs {prose(command, 1000)}"
    not_measured = ["", verdict, *[""] * (len(COLUMNS) - 6)]

    for expectation in claim["expects"]:
        described = [*head, _compared_text(expectation), _expected_text(expectation)]
        is_measured = False
        for place, attempted, cells in attempts:
            if attempted is expectation:
                is_measured = True
                yield [*described, *map(prose, cells), code(place)]
        if not is_measured:
            yield [*described, *not_measured]

    has_other_conditions = all(
        "other_conditions" in expectation for expectation in claim["expects"]
    )
    if "needs" in claim and has_other_conditions:
        yield [*head, "as published", "", *not_measured]


def _source_link(claim: Document) -> str:
    source = prose(claim["says"]["source"])
    address = claim["says"].get("address")
    return f"[{source}]({quote(address, safe=':/#?=&%')})" if address else source


def _compared_text(expectation: Document) -> str:
    names = [
        row if isinstance(row, str) else " ".join(map(str, row.values()))
        for row in expectation["named"]
    ]
    compared = " by ".join(map(code, names))
    other_conditions = expectation.get("other_conditions")
    return (
        f"{compared}; other conditions: {prose(other_conditions)}" if other_conditions else compared
    )


def _expected_text(expectation: Document) -> str:
    expected = expectation.get("is", _range_text(*expectation["range"]))
    text = f"{code(expectation['metric'])} {expected}, {_refuted_text(expectation['refutes'])}"
    if "published" in expectation:
        text += f", published {expectation['published']:g}"
    return text


def _range_text(low: float, high: float) -> str:
    if high == inf:
        return f"at least {low:g}"
    return f"{low:g} to {high:g}" if low else f"at most {high:g}"


def _refuted_text(refutes: tuple[float, float] | None) -> str:
    lowest, highest = refutes or (0, inf)
    bounds = []
    if lowest:
        bounds.append(f"below {lowest:g}")
    if highest < inf:
        bounds.append(f"above {highest:g}")
    return f"refuted {' or '.join(bounds)}" if bounds else NOTHING_REFUTES


def caveats_of(claim: Document) -> list[str]:
    """Texts about how the publication measured, what it does not say, and what would refute it."""
    return [
        f"{title}: {text}"
        for member, title in _CAVEATS.items()
        if member in claim
        for text in _caveat_texts(claim[member])
    ]


def _caveat_texts(caveat: str | Sequence[str] | Mapping[str, str]) -> Sequence[str]:
    if isinstance(caveat, Mapping):
        return [f"{name}: {text}" for name, text in caveat.items()]
    return [caveat] if isinstance(caveat, str) else caveat


def _caveat_section(claims: Sequence[Document]) -> Iterator[str]:
    yield from ("", "## What the publications leave open")
    for claim in claims:
        texts = caveats_of(claim)
        if texts:
            yield from ("", f"### {code(claim['id'])}", "")
            yield from (f"- {prose(text)}" for text in texts)
