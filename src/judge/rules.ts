import type { Verdict } from "../contract/result.js";
import type { Evidence, Finding, Rule } from "./evidence.js";
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
 * What a verdict was judged by. A change of a rule, or of what a rule makes of a result, takes the
 * next number.
 *
 * 1 — the rules of results whose verdict states no version; they changed from release to release 2
 * — M26 finds a target that collapses in a round of few cycles; M36; M14 knows the quota of our own
 * control group;
 *     what a result does not hold is not checked
 */
export const RULES_VERSION = 2;

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

/** By all rules. The orchestrator judges again after it has added the store's evidence. */
export const judge = (evidence: Evidence): Verdict =>
  verdictOf(withoutOutsideCause(findingsOf(rules, evidence)));

type RuleFinding = { rule: string } & Finding;

export const findingsOf = <Seen>(those: readonly Rule<Seen>[], evidence: Seen): RuleFinding[] =>
  those.flatMap(({ id, check }) => {
    const finding = check(evidence);
    return finding ? [{ rule: id, ...finding }] : [];
  });

/** The rules that said nothing about a run, and why. */
const textsOf = (findings: readonly RuleFinding[], severity: Finding["severity"]) =>
  findings.flatMap((finding) =>
    finding.severity === severity ? [{ rule: finding.rule, text: finding.text }] : [],
  );

export function verdictOf(findings: readonly RuleFinding[]): Verdict {
  const reasons = findings.flatMap(({ rule, severity, text }) =>
    severity === "invalid" || severity === "suspect" ? [{ rule, severity, text }] : [],
  );
  const status = reasons.some(({ severity }) => severity === "invalid")
    ? "invalid"
    : reasons.length > 0
      ? "suspect"
      : "valid";
  const not_checked = textsOf(findings, "not checked");
  return {
    rules_version: RULES_VERSION,
    status,
    reasons,
    not_applicable: textsOf(findings, "not applicable"),
    ...(not_checked.length > 0 ? { not_checked } : {}),
  };
}
