"""The attempts of campaigns at a claim.

A campaign is an attempt at a comparison if it holds both rows that the claim compares."""

from collections.abc import Sequence

from msgspec import Struct

from report.analysis import machines
from report.analysis.campaign_analysis import Analysis
from report.analysis.summary import Row
from report.analysis.texts import caps_text
from report.base.format import plural
from report.claims.claim_files import is_question
from report.claims.compared_rows import Document, find_row
from report.claims.judgement import (
    ANSWERED,
    CANNOT_BE_TOLD,
    Measured,
    Verdict,
    claimed_by,
    judge,
    measure_against_published,
    measure_rows,
)
from report.claims.preconditions import unmet
from report.claims.registered import History, is_registered


class Attempt(Struct, frozen=True, kw_only=True):
    """A comparison of a claim in one campaign."""

    place: str
    """The place of the campaign below the folder of results."""
    comparison: int
    """The number of the comparison among those that the claim `expects`, from 0."""
    measured: Measured | None
    """None if a foreign program measured one side alone."""
    verdict: Verdict
    machine: str
    """What tells the machine from others, as text."""
    superseded: str = ""
    """By what a later attempt replaces it, and why. Empty where it stands."""
    date: str
    load: str
    order: str
    caps: str
    runtime: str
    versions: str
    command: str


def attempts_in(claim: Document, place: str, analysis: Analysis, history: History) -> list[Attempt]:
    """The comparisons of a claim that the campaign at this place measured."""
    rows_of = {}
    for number, expectation in enumerate(claim["expects"]):
        rows = _rows_of(expectation, analysis)
        if rows:
            rows_of[number] = rows

    return [
        _attempt(claim, number, place, analysis, rows, len(rows_of), history)
        for number, rows in rows_of.items()
    ]


def _rows_of(expectation: Document, analysis: Analysis) -> list[Row]:
    """The row and its base, or the row alone where the base is a published figure.

    It is empty where the campaign has not measured one of them."""
    rows = []
    for side in (expectation["of"], expectation["against"]):
        if "published" in side:
            continue
        row = find_row(analysis, side)
        if row is None:
            return []
        rows.append(row)
    return rows


def _attempt(
    claim: Document,
    number: int,
    place: str,
    analysis: Analysis,
    rows: Sequence[Row],
    family: int,
    history: History,
) -> Attempt:
    expectation = claim["expects"][number]
    manifest: Document = analysis.campaign.manifest or {}
    if len(rows) == 1:
        published = expectation["against"]["published"]
        measured: Measured | None = measure_against_published(analysis, rows[0], published)
    else:
        row, base = rows
        measured = measure_rows(expectation, analysis, row, base, family)

    caps_by_hash = {
        entry["hash"]: entry["configuration"].get("caps", {})
        for entry in manifest["plan"]["configurations"]
    }
    caps = caps_by_hash[rows[0].identity.configuration_hash]
    runtime = manifest["runtime"]
    return Attempt(
        place=place,
        comparison=number,
        measured=measured,
        verdict=_verdict(claim, expectation, measured, manifest, history),
        machine=", ".join(machines.key_texts(manifest["machine"]).values()),
        superseded=_superseded_text(claim, place),
        date=manifest["started_at"][:10],
        load=_load_text(rows),
        order=manifest["plan"]["order"],
        caps=caps_text(caps) if runtime["caps_applied"] else "none",
        runtime=runtime["id"],
        versions="; ".join(dict.fromkeys(map(_versions_text, rows))),
        command=manifest["command"],
    )


def _verdict(
    claim: Document,
    expectation: Document,
    measured: Measured | None,
    manifest: Document,
    history: History,
) -> Verdict:
    """The verdict on a statement. A question has none but the reasons for which there is no
    answer."""
    if measured is None:
        return Verdict(CANNOT_BE_TOLD, "one side measured alone")
    if is_question(claim):
        reasons = unmet(measured.evidence, claimed_by(claim, expectation))
        return Verdict(CANNOT_BE_TOLD, "; ".join(reasons)) if reasons else Verdict(ANSWERED)
    registered = is_registered(claim, expectation, manifest, history)
    return judge(claim, expectation, measured, registered=registered)


def _superseded_text(claim: Document, place: str) -> str:
    """The claim names the campaigns that others supersede by the end of their places."""
    for entry in claim.get("superseded", ()):
        if any(place.endswith(campaign) for campaign in entry["campaigns"]):
            return f"superseded by {entry['by']}: {entry['why']}"
    return ""


def _load_text(rows: Sequence[Row]) -> str:
    """Layer, load and duration of the first row, and the number of suspect runs of all rows."""
    identity = rows[0].identity
    if identity.rate_per_second:
        load = f"{identity.rate_per_second:g}/s"
    else:
        load = plural(identity.connections, "connection")
    parts = [
        identity.layer,
        identity.workload,
        identity.traffic,
        load,
        identity.extent_text,
        plural(len(rows[0].runs), "run"),
    ]

    runs = [run for row in rows for run in row.runs]
    suspect = sum(run.verdict == "suspect" for run in runs)
    if suspect:
        parts.append(f"{suspect} of {len(runs)} suspect")
    return ", ".join(parts)


def _versions_text(row: Row) -> str:
    version_of = {part: version for run in row.runs for part, version in run.versions.items()}
    identity = row.identity
    names = {
        "client": identity.client,
        "limiter": identity.limiter,
        "store": identity.store,
        "node": "Node",
    }
    return ", ".join(
        f"{name} {version_of[part]}" for part, name in names.items() if part in version_of
    )
