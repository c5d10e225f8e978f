import type { Audit, AuditedTarget, Finding } from "../../../contract/audit.js";
import { escapeControls, textTable } from "../../ui/text.js";
import { isDefect } from "../audit-counts.js";
import { summaryLine } from "../audit-text.js";

const WORDS = {
  holds: "holds",
  broken: "does not hold",
  "not-promised": "told",
  skipped: "not applicable",
  failed: "not checked",
} as const;

/** The row of a check in the table. */
const rowOf = ({ check, status, seen, reason }: Finding): string[] => [
  check,
  WORDS[status],
  seen ?? reason ?? "",
];

/** What was sent, came back and was promised, step by step. */
function sequenceLines({ steps = [] }: Finding): string[] {
  return steps.flatMap(({ sent, answered, promised }, index) => {
    const lines = [`    ${index + 1}. sent ${sent}`, `       came back: ${answered}`];
    return promised === undefined ? lines : [...lines, `       promised: ${promised}`];
  });
}

/** What mends it, and by which setting of which library. */
function remedyLines({ remedy }: Finding): string[] {
  if (!remedy) return [];
  const settings = Object.entries(remedy.settings).map(([library, setting]) => [
    `    ${library}`,
    setting,
  ]);
  return [`  to mend it: ${remedy.advice}`, ...textTable(settings)];
}

const defectLines = (finding: Finding): string[] => [
  `${finding.check} DOES NOT HOLD: ${finding.defect ?? ""}`,
  `  promised: ${finding.promised ?? ""}`,
  `  seen:     ${finding.seen ?? ""}`,
  ...sequenceLines(finding),
  ...remedyLines(finding),
];

function linesOf({ target, findings, api }: AuditedTarget): string[] {
  const defects = findings.filter(isDefect).flatMap(defectLines);
  const notes = findings.flatMap(({ check, notes = [] }) =>
    notes.map((note) => `${check}: ${note}`),
  );
  return [
    `${target.label}: ${api?.requests ?? 0} requests`,
    ...textTable(findings.map(rowOf)),
    ...[defects, notes].flatMap((lines) => (lines.length > 0 ? ["", ...lines] : [])),
  ];
}

/** A table of the checks of an API, and below it the sequences that show what does not hold. */
export const apiAuditLines = ({ targets, counts }: Audit): string[] =>
  [...targets.flatMap(linesOf), "", summaryLine(counts)].map(escapeControls);
