"""The rows of claims and questions: a row for each attempt, with cells in Markdown."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from urllib.parse import quote

from msgspec import Struct

from report.base.format import decimals, plural
from report.base.markdown import code, prose
from report.claims.across_machines import AcrossMachines
from report.claims.attempts import Attempt
from report.claims.claim_files import is_question
from report.claims.claim_verdict import over_machines
from report.claims.compared_rows import Document
from report.claims.criterion import Bounds, Criterion
from report.claims.judgement import CANNOT_BE_TOLD, Verdict

NOTHING_REFUTES = "nothing refutes it"

COLUMNS = (
    "Compared",
    "Expected",
    "Ratio",
    "Verdict",
    "Sides met in",
    "Date",
    "Load, duration",
    "Order",
    "Caps",
    "Machine",
    "Versions",
    "Command",
    "Campaign",
)
QUESTION_COLUMNS = tuple(name for name in COLUMNS if name != "Expected")

_MAX_COMMAND_CHARACTERS = 1000

#: The folders of an absolute path: a slash that follows no part of a name, up to the last one.
_FOLDERS = re.compile(r"(?<![\w./:…-])/(?:[^\s/'\",=]+/)+")


class ClaimRow(Struct, frozen=True):
    """An attempt at a comparison, or a comparison that no campaign measured."""

    anchor: str
    """What links to this row end with. It stays as long as claim, comparison and campaign do."""
    cells: tuple[str, ...]
    """The cells of `COLUMNS`, or of `QUESTION_COLUMNS` for a question, in Markdown."""
    is_variation: bool
    """Whether we varied what the publication did."""


def claim_rows(claim: Document, attempts: Sequence[Attempt]) -> list[ClaimRow]:
    """The rows of a claim: as published first, then our variations."""
    rows = []
    for number, expectation in enumerate(claim["expects"]):
        of_comparison = [attempt for attempt in attempts if attempt.comparison == number]
        for attempt in of_comparison:
            rows.append(_row(claim, expectation, attempt))
        if not of_comparison:
            rows.append(_row(claim, expectation, None))
    return sorted(rows, key=lambda row: row.is_variation)


def portable(command: str) -> str:
    """The command without the folders of the machine that measured: what is in them is named, and a
    reader has it elsewhere."""
    return _FOLDERS.sub("…/", command)


def _row(claim: Document, expectation: Document, attempt: Attempt | None) -> ClaimRow:
    described = [_compared_text(expectation, attempt)]
    if not is_question(claim):
        described.append(_expected_text(expectation))
    cells = _measured_cells(attempt) if attempt else _unmeasured_cells(claim, expectation)
    return ClaimRow(
        anchor=_anchor(claim, expectation, attempt.place if attempt else ""),
        cells=(*described, *cells),
        is_variation="other_conditions" in expectation,
    )


def _measured_cells(attempt: Attempt) -> list[str]:
    measured = attempt.measured
    verdict = "; ".join(filter(None, (attempt.verdict.text, attempt.superseded)))
    texts = [
        measured.text if measured else "",
        verdict,
        measured.evidence.met if measured else "",
        attempt.date,
        attempt.load,
        attempt.order,
        attempt.caps,
        f"{attempt.machine}, {attempt.runtime}",
        attempt.versions,
    ]
    command = code(portable(attempt.command), _MAX_COMMAND_CHARACTERS)
    return [*map(prose, texts), command, code(attempt.place)]


def _unmeasured_cells(claim: Document, expectation: Document) -> list[str]:
    verdict = Verdict(CANNOT_BE_TOLD, "not measured").text
    blank = [""] * (len(COLUMNS) - COLUMNS.index("Verdict") - 3)
    return ["", verdict, *blank, _command_of(expectation["file"]), ""]


def commands_of(claim: Document) -> list[str]:
    """The commands that measure the claim, and what else would tell it."""
    files = dict.fromkeys(
        [claim["file"], *(expectation["file"] for expectation in claim["expects"])]
    )
    commands = [_command_of(file) for file in files] if claim["expects"] else []
    return (
        [*commands, prose(claim["needs"], _MAX_COMMAND_CHARACTERS)]
        if "needs" in claim
        else commands
    )


def _command_of(file: str) -> str:
    return code(f"ratelimit-bench run --config claims/{file}")


def _anchor(claim: Document, expectation: Document, place: str) -> str:
    of, against = expectation["named"]
    text = json.dumps([expectation["metric"], of, against], sort_keys=True)
    comparison = hashlib.sha256(text.encode()).hexdigest()[:8]
    stamp = place.rpartition("/")[2]
    parts = (str(claim["id"]), comparison, stamp)
    return quote("-".join(filter(None, parts)), safe="")


def source_link(claim: Document) -> str:
    says = claim["says"]
    address = quote(says["address"], safe=":/#?=&%")
    return f"[{prose(says['source'])}]({address})"


def _compared_text(expectation: Document, attempt: Attempt | None = None) -> str:
    names = [
        row if isinstance(row, str) else " ".join(map(str, row.values()))
        for row in expectation["named"]
    ]
    parts = [f"{code(expectation['metric'])} of {' by '.join(map(code, names))}"]
    if attempt and attempt.measured and attempt.measured.source:
        parts.append(f"read from {prose(attempt.measured.source)}")
    if "other_conditions" in expectation:
        parts.append(f"other conditions: {prose(expectation['other_conditions'])}")
    return "; ".join(parts)


def _expected_text(expectation: Document) -> str:
    criterion: Criterion = expectation["criterion"]
    parts = [_range_text(criterion.confirms), _refuted_text(criterion.refutes)]
    if criterion.attainable:
        parts.append(f"attainable {_range_text(criterion.attainable)}")
    if "published" in expectation:
        parts.append(f"published {expectation['published']:g}")
    return ", ".join(parts)


def _range_text(bounds: Bounds) -> str:
    low, high = bounds
    if high == inf:
        return f"at least {low:g}"
    return f"{low:g} to {high:g}" if low else f"at most {high:g}"


def _refuted_text(refutes: Bounds | None) -> str:
    lowest, highest = refutes or (0, inf)
    bounds = []
    if lowest:
        bounds.append(f"below {lowest:g}")
    if highest < inf:
        bounds.append(f"above {highest:g}")
    return f"refuted {' or '.join(bounds)}" if bounds else NOTHING_REFUTES


def answers(claim: Document, attempts: Sequence[Attempt]) -> Iterator[str]:
    """The answer to each comparison of a question: its range and its machines, or why it cannot be
    told."""
    for number, expectation in enumerate(claim["expects"]):
        compared = _compared_text(expectation)
        across = over_machines(attempts, number)
        if across:
            yield f"{compared}: {across_text(across)}"
            continue
        standing = [
            attempt
            for attempt in attempts
            if attempt.comparison == number and not attempt.superseded
        ]
        reason = standing[-1].verdict.first_reason if standing else "not measured"
        yield f"{compared}: {prose(Verdict(CANNOT_BE_TOLD, reason).text)}"


def ranges(claim: Document, attempts: Sequence[Attempt]) -> Iterator[str]:
    """What the attempts that count measured at each comparison, over the machines."""
    for number, expectation in enumerate(claim["expects"]):
        across = over_machines(attempts, number)
        if across:
            yield f"{_compared_text(expectation)}: {across_text(across)}"


def across_text(across: AcrossMachines) -> str:
    """A range such as `0.73–0.77× on 1 machine`, or a prediction from five machines on."""
    low = decimals(across.low, 2)
    high = decimals(across.high, 2)
    ends = f"{low}×" if low == high else f"{low}–{high}×"
    machines = plural(across.machines, "machine")
    if across.predicted:
        return f"{ends} predicted for another machine, from {machines}"
    return f"{ends} on {machines}"


#: The members of a claim that are printed beside its rows, with their titles.
_CAVEATS = {
    "refuted_by": "What would refute it",
    "measured_there": "Measured there",
    "not_said": "Not said there",
    "notes": "Note",
}


def caveats_of(claim: Document) -> list[str]:
    """Texts about how the publication measured, what it does not say, what would refute it, and
    what explains what was measured here."""
    caveats = [
        f"{title}: {text}"
        for member, title in _CAVEATS.items()
        if member in claim
        for text in _caveat_texts(claim[member])
    ]
    explanations = [entry["explained"] for entry in claim["expects"] if "explained" in entry]
    caveats += [
        f"Explained: {explanation['by']}; measured: {explanation['measured']}"
        for explanation in explanations
    ]
    return list(dict.fromkeys(caveats))


def _caveat_texts(caveat: str | Sequence[str] | Mapping[str, str]) -> Sequence[str]:
    if isinstance(caveat, Mapping):
        return [f"{name}: {text}" for name, text in caveat.items()]
    return [caveat] if isinstance(caveat, str) else caveat
