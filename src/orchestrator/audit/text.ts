import type { Audit, CheckStatus, Finding } from "../../contract/audit.js";
import { counted, escapeControls, textTable } from "../ui/text.js";

const MARKS: Readonly<Record<CheckStatus, string>> = {
  holds: "holds",
  broken: "BROKEN",
  skipped: "–",
  failed: "failed",
};

const detailLines = (target: string, { check, status, promised, seen, reason }: Finding): string[] => [
  `${target}: ${check} ${MARKS[status]}`,
  ...(promised === undefined ? [] : [`  promised: ${promised}`]),
  ...(seen === undefined ? [] : [`  seen:     ${seen}`]),
  ...(reason === undefined ? [] : [`  ${reason}`]),
];

/** A line for each target, and below them what was promised and seen where a promise is broken. */
export function auditLines({ targets, skips, counts }: Audit): string[] {
  const rows = targets.map(({ target, findings }) => {
    const of = (status: CheckStatus) => findings.filter((each) => each.status === status);
    const broken = of("broken").map(({ check }) => check);
    const failed = of("failed").map(({ check }) => check);
    return [
      target.label,
      `${of("holds").length} hold`,
      broken.length > 0 ? `broken: ${broken.join(", ")}` : "none broken",
      `${of("skipped").length} skipped`,
      failed.length > 0 ? `failed: ${failed.join(", ")}` : "",
    ];
  });
  const details = targets.flatMap(({ target, findings }) =>
    findings
      .filter(({ status }) => status === "broken" || status === "failed")
      .flatMap((finding) => detailLines(target.label, finding)),
  );
  return [
    ...textTable(rows),
    ...(details.length > 0 ? ["", ...details] : []),
    ...skips.map(({ asked, reason }) => `skipped ${asked}: ${reason}`),
    "",
    `${counted(counts.holds, "promise")} kept, ${counts.broken} broken, ${counts.skipped} skipped, ${counts.failed} not checked`,
  ].map(escapeControls);
}
