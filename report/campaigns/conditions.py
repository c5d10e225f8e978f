"""Targets by the conditions of audits, each with the newest finding, and what each condition
promises."""

from collections.abc import Iterator, Mapping, Sequence

from report.base.format import plural
from report.base.markdown import code, prose, table
from report.campaigns.questions import CHECKS
from report.results.generated.records import Audit, Check, Finding
from report.results.load import BROKEN, HOLDS, NOT_PROMISED, SKIPPED
from report.sections.audit import bounds, findings_of, verdict

Findings = Mapping[str, Mapping[str, Finding]]
"""By target and check."""


def conditions_markdown(audits: Sequence[Audit]) -> str:
    by_age = sorted(audits, key=lambda audit: audit.started_at)
    checks = {check.id: check for audit in by_age for check in audit.checks if check.id in CHECKS}
    algorithms = {
        audited.target.text: audited.target.algorithm or ""
        for audit in by_age
        for audited in audit.targets
    }
    findings: dict[str, dict[str, Finding]] = {}
    for audited in (audited for audit in by_age for audited in audit.targets):
        findings.setdefault(audited.target.text, {}).update(findings_of(audited))
    made = {name: checks[name] for name in CHECKS if name in checks}
    rows = [
        [
            code(target.replace(":standalone", "")),
            algorithms[target],
            *(_condition_cell(newest.get(name)) for name in made),
        ]
        for target, newest in sorted(findings.items())
    ]
    heads = [f"{CHECKS[name].name} {CHECKS[name].unit}" for name in made]
    return "\n".join(
        [
            "# Limiters under what breaks limits",
            "",
            f"From {plural(len(audits), 'audit')}, the newest of {by_age[-1].started_at[:10]}; ✓ kept, "
            "✗ broken, ○ not promised, with what was admitted of what the algorithm admits, – does not "
            "apply, ? not checked.",
            "",
            *table(["Target", "Promises", *heads], rows, len(heads) + 2),
            "",
            *_promises(made, findings),
            "",
        ]
    )


def _promises(checks: Mapping[str, Check], findings: Findings) -> Iterator[str]:
    """What each condition promises, and why it does not apply to some."""
    for name, check in checks.items():
        of_check = [newest[name] for newest in findings.values() if name in newest]
        statuses = {finding.status for finding in of_check}
        is_promised = NOT_PROMISED not in statuses or statuses & {HOLDS, BROKEN}
        promise = check.promise if is_promised else f"Not promised: {check.promise}"
        line = f"- **{prose(check.title)}**: {prose(promise)}"
        reasons = sorted(
            {finding.reason or "" for finding in of_check if finding.status == SKIPPED}
        )
        yield f"{line} Does not apply: {prose('; '.join(reasons))}." if reasons else line


def _condition_cell(finding: Finding | None) -> str:
    if finding is None:
        return ""
    is_told = finding.status == BROKEN or (finding.status == NOT_PROMISED and not finding.holds)
    admitted = bounds(finding) if is_told and not (finding.seen or "").startswith("not") else ""
    return prose(verdict(finding)) + (f" ({admitted})" if admitted else "")
