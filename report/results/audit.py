"""Loads an audit: what limiters promise against what they do."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from report.base.errors import USAGE, FieldError, ReportError, one_line
from report.base.files import read_document
from report.results import records
from report.results.records import Check
from report.results.validate import MAX_DOCUMENT_BYTES, parse_json, validate_audit

AUDIT_FILE = "audit.json"

HOLDS = "holds"
BROKEN = "broken"
SKIPPED = "skipped"
FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    status: str
    promised: str
    seen: str
    reason: str
    notes: tuple[str, ...]
    limits: str
    """E.g. `20 points in 2 s`."""
    admissions: records.Admissions | None = None
    """Of a check that counts them."""


@dataclass(frozen=True, slots=True)
class Target:
    label: str
    text: str
    client: str
    store: str
    topology: str
    limiter: str
    algorithm: str
    decided_by: str
    findings: Mapping[str, Finding]


@dataclass(frozen=True, slots=True)
class Audit:
    name: str
    started_at: str
    command: str
    runtime: str
    versions: tuple[tuple[str, str], ...]
    checks: tuple[Check, ...]
    targets: tuple[Target, ...]
    skips: tuple[tuple[str, str], ...]
    counts: Mapping[str, int]


def _limits(limits: records.Limits | None) -> str:
    if limits is None:
        return ""
    block = f", then a block of {limits.block_s} s" if limits.block_s else ""
    return f"{limits.points} points in {limits.window_s} s{block}"


def _finding(finding: records.Finding) -> Finding:
    return Finding(
        status=finding.status,
        promised=finding.promised or "",
        seen=finding.seen or "",
        reason=finding.reason or "",
        notes=tuple(finding.notes or ()),
        limits=_limits(finding.limits),
        admissions=finding.admissions,
    )


def _target(audited: records.AuditTarget) -> Target:
    target = audited.target
    return Target(
        label=target.label,
        text=target.text,
        client=target.client,
        store=target.store,
        topology=target.topology,
        limiter=target.limiter,
        algorithm=target.algorithm or "",
        decided_by=target.decided_by or "",
        findings={finding.check: _finding(finding) for finding in audited.findings},
    )


def load_audit(folder: Path) -> Audit:
    """Reads `audit.json` of a folder.

    Raises:
        ReportError: exit code 2 when it is missing or not what the contract says, naming the field."""
    path = folder / AUDIT_FILE
    try:
        document = validate_audit(parse_json(read_document(path, MAX_DOCUMENT_BYTES)))
    except OSError as error:
        raise ReportError(f"{one_line(path)} cannot be read: {error.strerror}", USAGE) from error
    except FieldError as error:
        raise ReportError(f"{one_line(path)}: {error}", USAGE) from error
    versions = [("ratelimit-bench", document.harness), ("Node.js", document.node)]
    return Audit(
        name=document.audit,
        started_at=document.started_at,
        command=document.command,
        runtime=document.runtime,
        versions=(*versions, *sorted(document.programs.items())),
        checks=tuple(document.checks),
        targets=tuple(_target(target) for target in document.targets),
        skips=tuple((skip.asked, skip.reason) for skip in document.skips),
        counts=msgspec.structs.asdict(document.counts),
    )
