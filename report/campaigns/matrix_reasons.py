"""The reasons for which questions of the matrix do not apply to a target."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from report.analysis.campaign_analysis import Analysis
from report.analysis.summary import Summary
from report.campaigns.matrix_targets import Key, key_of, key_of_audited, shown_rows
from report.campaigns.questions import CHECKS, FAULT_FIGURES, OF_LIMITERS, RESTART
from report.results.generated.records import Audit
from report.results.load import SKIPPED
from report.sections.audit import findings_of
from report.sections.cpu import part_kinds


@dataclass(slots=True)
class Reasons:
    """The reasons that campaigns and audits give, of which the last one added counts."""

    _by_key: dict[tuple[Key, str], str] = field(default_factory=dict)
    """The reason by target and question."""
    _by_target_text: dict[tuple[str, str], str] = field(default_factory=dict)
    """The reason for which a plan skipped a target, by its text in commands and the question."""

    def add_campaign(self, analysis: Analysis) -> None:
        for row in shown_rows(analysis):
            key = key_of(row.summary.identity)
            for question, reason in _reasons_of_row(row.summary):
                self._by_key[key, question] = reason

        for skip in (analysis.campaign.manifest or {}).get("plan", {}).get("skips", ()):
            if skip["reason"].startswith(RESTART):
                for question in FAULT_FIGURES:
                    self._by_target_text[skip["asked"], question] = skip["reason"]

    def add_audit(self, audit: Audit) -> None:
        for audited in audit.targets:
            key = key_of_audited(audited.target)
            for check, finding in findings_of(audited).items():
                if check in CHECKS and finding.status == SKIPPED:
                    self._by_key[key, check] = finding.reason or ""

    def reason_for(self, key: Key, target_texts: Iterable[str], question: str) -> str:
        """The reason for which the question does not apply to a target with these texts in
        commands. Empty if it applies."""
        if reason := self._by_key.get((key, question)):
            return reason
        reasons = (self._by_target_text.get((text, question)) for text in target_texts)
        return next(filter(None, reasons), "")


def _reasons_of_row(summary: Summary) -> Iterator[tuple[str, str]]:
    """Questions that do not apply to the target of a row, each with the reason."""
    identity = summary.identity
    for part in {"service", "store"} - set(part_kinds(identity)):
        yield part, f"it has no {part}"
    if summary.reference:
        yield "ratio", "it is the reference"
    if identity.ceiling:
        for question in FAULT_FIGURES:
            yield question, "it has no store"
    if identity.decided_by == "nothing":
        for question in OF_LIMITERS:
            yield question, "it limits nothing"
