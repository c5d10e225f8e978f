import type { Verdict } from "../contract/result.js";
import type { Evidence, Finding, Rule } from "./evidence.js";
import { admissionsConserved, countsReconcile, somethingSent, throughputFollows } from "./rules/counting.js";
import { cleanStart, noRestart, nothingEvicted } from "./rules/fresh-state.js";
import { connectionsKept, generatorFree, generatorsAlike, littlesLaw } from "./rules/generator.js";
import { everyRoleRead, hostUndisturbed, nothingThrottled } from "./rules/host.js";
import { latencyIsReal, scheduleKept, windowIsSteady } from "./rules/steadiness.js";
import { disclosed, mixAsPredicted, versionsSeen, workloadAsAsked } from "./rules/target-disclosure.js";

export const rules: readonly Rule[] = [
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
export const judge = (evidence: Evidence): Verdict => verdictOf(findingsOf(rules, evidence));

type RuleFinding = { rule: string } & Finding;

export const findingsOf = <Seen>(those: readonly Rule<Seen>[], evidence: Seen): RuleFinding[] =>
  those.flatMap(({ id, check }) => {
    const finding = check(evidence);
    return finding ? [{ rule: id, ...finding }] : [];
  });

export function verdictOf(findings: readonly RuleFinding[]): Verdict {
  const reasons = findings.flatMap(({ rule, severity, text }) =>
    severity === "not applicable" ? [] : [{ rule, severity, text }],
  );
  return {
    status: reasons.some(({ severity }) => severity === "invalid")
      ? "invalid"
      : reasons.length > 0
        ? "suspect"
        : "valid",
    reasons,
    not_applicable: findings.flatMap(({ rule, severity, text }) =>
      severity === "not applicable" ? [{ rule, text }] : [],
    ),
  };
}
