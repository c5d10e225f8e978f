"""What an audit of both sides shows: which promises a change broke, and which it keeps again."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from report.base.errors import USAGE, ReportError, one_line
from report.results.generated.records import Audit, AuditTarget, Finding
from report.results.load import BROKEN, FAILED, HOLDS
from report.sections.audit import findings_of
from report.statistics.gate import PromiseChangeKind


class PromiseChange(Struct, frozen=True):
    """A promise that does not hold on both sides."""

    check: str
    kind: PromiseChangeKind
    promise: str
    text: str
    """What was promised and seen, or why it could not be checked."""


def _target_of(audit: Audit, label: str) -> AuditTarget:
    for audited in audit.targets:
        if label in (audited.target.label, audited.target.text):
            return audited
    labels = ", ".join(one_line(audited.target.label) for audited in audit.targets)
    raise ReportError(
        f"--audit: {one_line(label)} is no target of the audit (it has {labels}): audit both sides",
        USAGE,
    )


def _kind_of(base: Finding | None, new: Finding) -> PromiseChangeKind | None:
    base_status = base.status if base else None
    if new.status == BROKEN:
        return "was broken before" if base_status == BROKEN else "broke"
    if new.status == FAILED:
        # What could not be checked on either side shows nothing about the change.
        return None if base_status == FAILED else "not checked"
    return "holds now" if new.status == HOLDS and base_status == BROKEN else None


def promise_changes(audit: Audit, base_label: str, new_label: str) -> tuple[PromiseChange, ...]:
    """The promises of the checks that differ between two targets of an audit, or that both break.

    A broken promise that follows from another one is listed only where the base breaks that other
    one, too. Raises ReportError when the audit lacks one of the targets."""
    base_findings, new_findings = (
        findings_of(_target_of(audit, label)) for label in (base_label, new_label)
    )
    return tuple(_changes(audit, base_findings, new_findings))


def _changes(
    audit: Audit, base_findings: Mapping[str, Finding], new_findings: Mapping[str, Finding]
) -> Iterator[PromiseChange]:
    promises = {check.id: check.promise for check in audit.checks}
    for check, finding in new_findings.items():
        base = base_findings.get(check)
        kind = _kind_of(base, finding)
        if kind is None or _is_told_by_its_cause(finding, base_findings):
            continue
        changed = base if kind == "holds now" and base else finding
        text = (
            changed.reason or ""
            if changed.status == FAILED
            else f"promised {changed.promised or '?'}, seen {changed.seen or '?'}"
        )
        yield PromiseChange(check, kind, promises.get(check, ""), text)


def _is_told_by_its_cause(finding: Finding, base_findings: Mapping[str, Finding]) -> bool:
    """Whether the finding follows from another one, which the base did not have."""
    if not finding.consequence_of:
        return False
    cause = base_findings.get(finding.consequence_of)
    return cause is None or cause.status != BROKEN
