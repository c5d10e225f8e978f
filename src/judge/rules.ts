import type { Verdict } from "../contract/judgement.js";
import { definedOnly } from "../kit/defined-only.js";
import type { Evidence, Rule, RuleFinding } from "./evidence.js";
import {
  admissionsConserved,
  countsReconcile,
  somethingSent,
  throughputFollows,
} from "./rules/counting.js";
import { cleanStart, noRestart, nothingEvicted } from "./rules/fresh-state.js";
import { connectionsKept, generatorFree, generatorsAlike, littlesLaw } from "./rules/generator.js";
import { everyRoleRead, hostUndisturbed, nothingThrottled } from "./rules/host-load.js";
import { nothingOutside, withoutOutsideCause } from "./rules/outside.js";
import { latencyIsReal, scheduleKept, windowIsSteady } from "./rules/steady-load.js";
import {
  disclosed,
  mixAsPredicted,
  versionsSeen,
  workloadAsAsked,
} from "./rules/target-disclosure.js";

/**
 * The version of the rules by which a verdict was judged. Whoever changes a rule, or what a rule
 * makes of a result, takes the next number.
 *
 * Version 1 is that of results whose verdict states no version. Its rules changed from release to
 * release.
 *
 * In version 2, M26 finds a target that collapses in a round of few cycles, M36 exists, and M14
 * knows the quota of our own control group. A rule that needs what a result does not hold is not
 * checked.
 *
 * In version 3, late sends of a run of a load curve concern its latency alone.
 */
export const RULES_VERSION = 3;

export const rules: readonly Rule[] = [
  // First, because reports name the first reason.
  nothingOutside,
  throughputFollows,
  latencyIsReal,
  scheduleKept,
  generatorFree,
  connectionsKept,
  generatorsAlike,
  littlesLaw,
  countsReconcile,
  somethingSent,
  mixAsPredicted,
  workloadAsAsked,
  disclosed,
  cleanStart,
  nothingEvicted,
  nothingThrottled,
  noRestart,
  everyRoleRead,
  versionsSeen,
  hostUndisturbed,
  windowIsSteady,
  admissionsConserved,
];

/**
 * Judges a run by all rules. The orchestrator judges again after it has added the store's evidence.
 */
export const judgeRun = (evidence: Evidence): Verdict =>
  verdictOf(withoutOutsideCause(ruleFindings(rules, evidence)));

type NamedFinding = { rule: string } & RuleFinding;

export const ruleFindings = <Seen>(
  applied: readonly Rule<Seen>[],
  evidence: Seen,
): NamedFinding[] =>
  applied.flatMap(({ id, check }) => {
    const finding = check(evidence);
    return finding ? [{ rule: id, ...finding }] : [];
  });

/** The texts of the findings of one severity, with their rules. */
const textsOf = (findings: readonly NamedFinding[], severity: RuleFinding["severity"]) =>
  findings.flatMap((finding) =>
    finding.severity === severity ? [{ rule: finding.rule, text: finding.text }] : [],
  );

/** The status, which the gravest reason decides. */
function statusOf(reasons: Verdict["reasons"]): Verdict["status"] {
  if (reasons.some(({ severity }) => severity === "invalid")) return "invalid";
  return reasons.length > 0 ? "suspect" : "valid";
}

export function verdictOf(findings: readonly NamedFinding[]): Verdict {
  const reasons = findings.flatMap(({ rule, severity, text }) =>
    severity === "invalid" || severity === "suspect" ? [{ rule, severity, text }] : [],
  );
  const not_checked = textsOf(findings, "not checked");
  return definedOnly({
    rules_version: RULES_VERSION,
    status: statusOf(reasons),
    reasons,
    not_applicable: textsOf(findings, "not applicable"),
    not_checked: not_checked.length > 0 ? not_checked : undefined,
  });
}
