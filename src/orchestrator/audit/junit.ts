import type { Audit, AuditedTarget, Finding } from "../../contract/audit.js";
import { sum } from "../../kit/numbers.js";
import { isDefect } from "./audit-counts.js";

/** Characters that no XML document can contain. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are meant
const NOT_IN_XML = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/gu;

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
};

const escaped = (text: string): string =>
  text.replaceAll(NOT_IN_XML, "\ufffd").replaceAll(/[&<>"\n]/g, (one) => ESCAPES[one] as string);

/**
 * An audit as JUnit's XML: a suite for each target and a case for each check. A broken promise is a
 * failure, and a check that could not be made an error. What follows from another defect, what
 * nobody promises and what does not apply is skipped.
 */
export function junitText({ targets }: Audit): string {
  const suites = targets.map(suiteText);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="ratelimit-bench audit">\n${suites.join("")}</testsuites>\n`;
}

function suiteText({ target, findings }: AuditedTarget): string {
  const failures = findings.filter(isDefect).length;
  const errors = findings.filter(({ status }) => status === "failed").length;
  const skipped = findings.filter((finding) => skipOf(finding) !== undefined).length;
  const seconds = sum(findings.map((finding) => finding.seconds));
  const counts = `tests="${findings.length}" failures="${failures}" errors="${errors}" skipped="${skipped}"`;
  const cases = findings.map((finding) => caseText(target.label, finding));
  return `<testsuite name="${escaped(target.label)}" ${counts} time="${seconds.toFixed(1)}">\n${cases.join("")}</testsuite>\n`;
}

function caseText(label: string, finding: Finding): string {
  const head = `<testcase classname="${escaped(label)}" name="${finding.check}" time="${finding.seconds.toFixed(1)}"`;
  const inside = resultText(finding);
  return inside === undefined ? `${head}/>\n` : `${head}>${inside}</testcase>\n`;
}

function resultText(finding: Finding): string | undefined {
  const { status, reason = "", defect, seen = "", promised = "" } = finding;
  if (status === "failed") return `<error message="${escaped(reason)}"/>`;

  const skip = skipOf(finding);
  if (skip !== undefined) return `<skipped message="${escaped(skip)}"/>`;
  if (!isDefect(finding)) return undefined;

  const message = `promised ${promised}; seen ${seen}`;
  return `<failure type="${defect ?? "broken"}" message="${escaped(message)}">${escaped(sequenceText(finding))}</failure>`;
}

/** Why a check says nothing about a promise; undefined where it does. */
function skipOf({ status, reason = "", seen = "", consequence_of }: Finding): string | undefined {
  if (consequence_of !== undefined) return `follows from ${consequence_of}`;
  if (status === "skipped") return reason;
  return status === "not-promised" ? `not promised; seen: ${seen}` : undefined;
}

/** What was sent and came back, a line for each step. */
const sequenceText = ({ steps = [] }: Finding): string =>
  steps.map(({ sent, answered }, index) => `${index + 1}. ${sent}: ${answered}`).join("\n");
