"""The Markdown page that shows, for each target and each condition of the audits, the newest
finding, and below the table what each condition promises."""

from collections.abc import Iterator, Mapping, Sequence

from report.base.format import plural
from report.base.markdown import code, prose, table
from report.campaigns.questions import CHECKS
from report.results.generated.records import Audit, Check, Finding
from report.results.load import BROKEN, HOLDS, NOT_PROMISED, SKIPPED
from report.sections.audit import bounds, findings_of, verdict

Findings = Mapping[str, Mapping[str, Finding]]
"""The newest finding by target and check."""


def conditions_markdown(audits: Sequence[Audit]) -> str:
    """The whole page. `audits` must not be empty."""
    by_age = sorted(audits, key=lambda audit: audit.started_at)
    checks = {check.id: check for audit in by_age for check in audit.checks if check.id in CHECKS}
    algorithms = {
        audited.target.text: audited.target.algorithm or ""
        for audit in by_age
        for audited in audit.targets
    }
    findings: dict[str, dict[str, Finding]] = {}
    for audit in by_age:
        for audited in audit.targets:
            findings.setdefault(audited.target.text, {}).update(findings_of(audited))

    audited_checks = {name: checks[name] for name in CHECKS if name in checks}
    rows = [
        [
            code(target.replace(":standalone", "")),
            algorithms[target],
            *(_condition_cell(newest.get(name)) for name in audited_checks),
        ]
        for target, newest in sorted(findings.items())
    ]
    headings = [f"{CHECKS[name].name} {CHECKS[name].unit}" for name in audited_checks]
    return "\n".join(
        [
            "# Limiters under what breaks limits",
            "",
            f"From {plural(len(audits), 'audit')}, the newest of {by_age[-1].started_at[:10]}; ✓ kept, "
            "✗ broken, ○ not promised, with what was admitted of what the algorithm admits, – does not "
            "apply, ? not checked.",
            "",
            *table(["Target", "Promises", *headings], rows, len(headings) + 2),
            "",
            *_promises(audited_checks, findings),
            "",
        ]
    )


def _promises(checks: Mapping[str, Check], findings: Findings) -> Iterator[str]:
    """A line for each condition, with its promise and the reasons for which it does not apply to
    some targets."""
    for name, check in checks.items():
        check_findings = [newest[name] for newest in findings.values() if name in newest]
        statuses = {finding.status for finding in check_findings}
        is_promised = NOT_PROMISED not in statuses or statuses & {HOLDS, BROKEN}
        promise = check.promise if is_promised else f"Not promised: {check.promise}"
        line = f"- **{prose(check.title)}**: {prose(promise)}"
        reasons = sorted(
            {finding.reason or "" for finding in check_findings if finding.status == SKIPPED}
        )
        yield f"{line} Does not apply: {prose('; '.join(reasons))}." if reasons else line


def _condition_cell(finding: Finding | None) -> str:
    if finding is None:
        return ""

    fails = finding.status == BROKEN or (finding.status == NOT_PROMISED and not finding.holds)
    is_counted = not (finding.seen or "").startswith("not")
    admitted = bounds(finding) if fails and is_counted else ""
    ending = f" ({admitted})" if admitted else ""
    return f"{prose(verdict(finding))}{ending}"
