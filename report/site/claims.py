"""Published claims as the page above all campaigns needs them, with how their verdicts changed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from report.analysis.campaign_analysis import Analysis
from report.analysis.claims import JudgedClaim, judged_claim
from report.results.claims import REPORT, ClaimsRegister
from report.sections.claims import MARKS, comparison_row, reason_text, sentence
from report.site.entry import ANY, Values
from report.statistics.claim_rule import UNMEASURED


@dataclass(frozen=True, slots=True)
class ClaimRow:
    id: str
    title: str
    source: str
    verdict: str
    mark: str
    kind: str
    measured: str
    """Ratios of what was claimed as it was published."""
    reason: str


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """A claim ends otherwise than before, since a campaign that was measured."""

    at: str
    claim: str
    title: str
    before: str
    after: str
    first: bool
    """No conclusion changed: the campaign was measured for the first time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimsEntry:
    address: str
    """Of its folder on the site, with a slash at its end."""
    sentence: str
    rows: tuple[ClaimRow, ...]
    measured: bool
    """Some claim was."""
    changes: tuple[VerdictChange, ...]

    @property
    def page(self) -> str:
        return f"{self.address}{REPORT}/index.html"

    @property
    def values(self) -> Values:
        return {**ANY, "campaign": "claims"}


#: Analyses by the folder of their campaign below that of the claims, with the time of each.
Measured = Mapping[str, tuple[str, Analysis]]


def claims_entry(
    register: ClaimsRegister, claims: Sequence[JudgedClaim], measured: Measured, address: str
) -> ClaimsEntry:
    """
    Args:
        claims: as they end now.
        measured: every campaign of claims that was measured, those that others have replaced, too.
    """
    return ClaimsEntry(
        address=address,
        sentence=sentence(claims),
        rows=tuple(map(_row, claims)),
        measured=any(each.verdict != UNMEASURED and each.comparisons for each in claims) and bool(measured),
        changes=tuple(_changes(register, measured)),
    )


def _row(found: JudgedClaim) -> ClaimRow:
    mark, kind = MARKS[found.verdict]
    rows = [comparison_row(each) for each in found.comparisons if each.claimed.as_published and each.ratio]
    return ClaimRow(
        found.claim.id,
        found.claim.title,
        found.claim.source.project,
        found.verdict,
        mark,
        kind,
        "; ".join(row.measured for row in rows),
        reason_text(found),
    )


def _campaign_of(folder: str) -> str:
    """`CAMPAIGN/STAMP` begins with the id of the campaign."""
    return Path(folder).parts[0]


def _changes(register: ClaimsRegister, measured: Measured) -> Iterator[VerdictChange]:
    """One after the other as the campaigns were measured."""
    known: dict[str, list[Analysis]] = {}
    verdicts: dict[str, str] = {claim.id: judged_claim(claim, {}).verdict for claim in register.claims}
    for folder, (at, analysis) in sorted(measured.items(), key=lambda each: (each[1][0], each[0])):
        id_ = _campaign_of(folder)
        first = id_ not in known
        known = {**known, id_: [analysis, *known.get(id_, [])]}
        for claim in register.claims:
            if all(each.campaign != id_ for each in claim.comparisons):
                continue
            after = judged_claim(claim, known).verdict
            if after != verdicts[claim.id]:
                yield VerdictChange(at, claim.id, claim.title, verdicts[claim.id], after, first)
                verdicts[claim.id] = after
