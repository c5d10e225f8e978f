import type { Audit, AuditedTarget, CheckStatus, Finding } from "../../contract/audit.js";
import { counted, escapeControls, textTable } from "../ui/text.js";
import { isDefect } from "./audit-counts.js";
import { consequencesText } from "./consequences.js";

/** A finding on one line, e.g. `broken exact-burst: promised …; seen …`. */
export function findingText(finding: Finding): string {
  const { check, status, promised, seen, reason, consequence_of, notes = [] } = finding;
  const parts: string[] = [];
  if (consequence_of !== undefined) parts.push(`follows from ${consequence_of}`);
  if (promised !== undefined) parts.push(`promised ${promised}`);
  if (seen !== undefined) parts.push(`seen ${seen}`);
  if (reason !== undefined) parts.push(reason);
  parts.push(...notes);
  return `${status} ${check}: ${parts.join("; ")}`;
}

/** Lines on what was promised and seen, and on what follows from it. */
function detailLines({ target, findings }: AuditedTarget, finding: Finding): string[] {
  const { check, status, promised, seen, reason } = finding;
  const lines = [`${target.label}: ${check} ${status === "broken" ? "BROKEN" : status}`];
  if (promised !== undefined) lines.push(`  promised: ${promised}`);
  if (seen !== undefined) lines.push(`  seen:     ${seen}`);

  const consequences = consequencesText(findings, finding);
  if (consequences !== undefined) lines.push(`  ${consequences}`);
  if (reason !== undefined) lines.push(`  ${reason}`);
  return lines;
}

/** The row of a target in the table: how many promises it keeps, and which it breaks. */
function targetRow({ target, findings }: AuditedTarget): string[] {
  const withStatus = (status: CheckStatus) =>
    findings.filter((finding) => finding.status === status);
  const defects = findings.filter(isDefect).map(({ check }) => check);
  const failed = withStatus("failed").map(({ check }) => check);
  return [
    target.label,
    `${withStatus("holds").length} kept`,
    defects.length > 0 ? `broken: ${defects.join(", ")}` : "none broken",
    `${withStatus("not-promised").length} not promised`,
    `${withStatus("skipped").length} skipped`,
    failed.length > 0 ? `failed: ${failed.join(", ")}` : "",
  ];
}

/** Lines on what was seen in checks that do not hold, but that nobody promises. */
function unpromisedLines({ target, findings }: AuditedTarget): string[] {
  return findings
    .filter(({ status, holds }) => status === "not-promised" && !holds)
    .map(({ check, seen }) => `${target.label}: ${check} is not promised; seen: ${seen}`);
}

/** How many promises are kept, broken and not tried. */
export function summaryLine(counts: Audit["counts"]): string {
  const consequences =
    counts.consequences > 0
      ? ` (${counted(counts.consequences, "further check")} by the same)`
      : "";
  return [
    `${counted(counts.holds, "promise")} kept`,
    `${counts.broken} broken${consequences}`,
    `${counts.not_promised} not promised`,
    `${counts.skipped} skipped`,
    `${counts.failed} not checked`,
  ].join(", ");
}

/** A line for each target, and below them what was promised and seen where a promise is broken. */
export function auditLines({ targets, skips, counts }: Audit): string[] {
  const details = targets.flatMap((audited) =>
    audited.findings
      .filter((finding) => isDefect(finding) || finding.status === "failed")
      .flatMap((finding) => detailLines(audited, finding)),
  );
  const sections = [details, targets.flatMap(unpromisedLines)].filter((lines) => lines.length > 0);

  const lines = [
    ...textTable(targets.map(targetRow)),
    ...sections.flatMap((section) => ["", ...section]),
    ...skips.map(({ asked, reason }) => `skipped ${asked}: ${reason}`),
    "",
    summaryLine(counts),
  ];
  return lines.map(escapeControls);
}
