import type { Verdict } from "../contract/result.js";
import type { Evidence, Finding, Rule } from "./evidence.js";
import { admissionsConserved } from "./rules/admissions.js";
import { countsReconcile, somethingSent, throughputFollows } from "./rules/counting.js";
import { cleanStart, noRestart, nothingEvicted } from "./rules/fresh-state.js";
import { connectionsKept, generatorFree, littlesLaw } from "./rules/generator.js";
import { generatorsAlike } from "./rules/generators.js";
import { hostUndisturbed } from "./rules/host.js";
import { latencyIsReal } from "./rules/latency.js";
import { mixAsPredicted } from "./rules/outcome-mix.js";
import { everyRoleRead, nothingThrottled } from "./rules/resources.js";
import { scheduleKept } from "./rules/schedule.js";
import { windowIsSteady } from "./rules/steadiness.js";
import { disclosed, versionsSeen } from "./rules/target-disclosure.js";
import { workloadAsAsked } from "./rules/workload.js";

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

export const findingsOf = <Seen>(
  those: readonly { id: string; check(evidence: Seen): Finding | undefined }[],
  evidence: Seen,
): RuleFinding[] =>
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
