"""Audits of the first format, in which what nobody promises was kept or broken as a promise is."""

from collections import Counter
from collections.abc import Mapping

from msgspec import structs

from report.base.contract import generated
from report.results.records import Audit, AuditCounts, AuditTarget, Finding

FIRST, CURRENT = 1, 2

#: Why nobody promises what a check tries, by check and store.
_UNPROMISED: Mapping[str, Mapping[str, str]] = generated("unpromised")


def with_current_members(document: Mapping[str, object]) -> dict[str, object]:
    """A document of the first format with the members that it lacks: it has the current format's shape."""
    changed = {**document, "schema_version": CURRENT}
    if isinstance(counts := document.get("counts"), Mapping):
        changed["counts"] = {"consequences": 0, "not_promised": 0, **counts}
    return changed


def with_current_statuses(audit: Audit) -> Audit:
    """An audit of the first format: what nobody promises has the status that says so."""
    targets = [
        structs.replace(target, findings=[_finding(target, finding) for finding in target.findings])
        for target in audit.targets
    ]
    statuses = Counter(finding.status for target in targets for finding in target.findings)
    counts = AuditCounts(
        holds=statuses["holds"],
        broken=statuses["broken"],
        consequences=0,
        not_promised=statuses["not-promised"],
        skipped=statuses["skipped"],
        failed=statuses["failed"],
    )
    return structs.replace(audit, targets=targets, counts=counts)


def _finding(target: AuditTarget, finding: Finding) -> Finding:
    # A store may be named with its version.
    store = target.target.store.partition("~")[0]
    reason = _UNPROMISED.get(finding.check, {}).get(store)
    if reason is None or finding.status not in ("holds", "broken"):
        return finding
    notes = [reason, *(finding.notes or ())]
    return structs.replace(finding, status="not-promised", holds=finding.status == "holds", notes=notes)
