import type { Verdict } from "../contract/judgement.js";
import type { PrintedResult } from "../contract/result.js";
import { definedOnly } from "../kit/defined-only.js";
import { invalid, notApplicable, type Rule, rolesOf, suspect } from "./evidence.js";
import { decidingRoles, hostCpu, type Limit, limitFrom, machineLinks } from "./limit.js";
import { noRestart, nothingEvicted } from "./rules/fresh-state.js";
import { hostUndisturbed, nothingThrottled } from "./rules/host-load.js";
import { nothingOutsideOfProgram } from "./rules/outside.js";
import { ruleFindings, verdictOf } from "./rules.js";

export type PrintedEvidence = Omit<PrintedResult, "verdict" | "outcome" | "limited_by">;

type PrintedRule = Rule<PrintedEvidence>;

/** A program may start this much slower than it says that it ran, and its container with it. */
const START_S = 5;
const START_SHARE = 0.1;
/** Throughput and times are printed with two decimals. */
export const ROUNDING = 0.01;

/** M1: throughput × seconds are the operations that were sent, and those that the store counted. */
const operationsFollow: PrintedRule = {
  id: "M1",
  check({ operations, duration, program_s, calls, service }) {
    if (duration > program_s * (1 + ROUNDING))
      return invalid(
        `${operations.total} operations at the printed ${operations.per_second}/s take ${duration.toFixed(2)} s, but the program ended after ${program_s.toFixed(2)} s`,
      );
    const excess = calls ? calls.after - calls.before - operations.total : 0;
    if (calls && (excess < 0 || excess > (operations.more_at_most ?? 0)))
      return invalid(
        `${operations.total} operations were sent, the ${service ? "service" : "store"} counted ${calls.after - calls.before}`,
      );
    if (program_s > duration * (1 + START_SHARE) + START_S)
      return suspect(
        `the program ran for ${program_s.toFixed(2)} s, its printed throughput accounts for ${duration.toFixed(2)} s`,
      );
    if (!calls) return notApplicable("the store does not count calls by command");

    return undefined;
  },
};

/** M15: the CPU time of every role is known. */
const everyRoleRead: PrintedRule = {
  id: "M15",
  check({ store, service, resources }) {
    const nodes = store.external ? [] : store.nodes;
    const roles = nodes.map(({ role }) => role);
    if (service) roles.push(service.role);
    const missing = [...roles, "generator-1"].filter((role) => !resources[role]);
    if (missing.length === 0) return undefined;
    return suspect(`no CPU counters of ${missing.join(", ")}`);
  },
};

/** M19: versions are known from run time. */
const versionsSeen: PrintedRule = {
  id: "M19",
  check({ versions }) {
    if (versions.store && versions.program !== "unknown") return undefined;
    const part = versions.store ? "benchmark program" : "store";
    return notApplicable(`the ${part} reports no version`);
  },
};

const rules: readonly PrintedRule[] = [
  operationsFollow,
  nothingEvicted,
  nothingThrottled,
  { id: noRestart.id, check: (evidence) => noRestart.check({ ...evidence, consumers: [] }) },
  everyRoleRead,
  versionsSeen,
  hostUndisturbed,
  nothingOutsideOfProgram,
];

/**
 * Rules that need what no load program tells: each answer, its outcome and the time when it was
 * due.
 */
const RULES_OF_OUR_GENERATOR = [
  "M2",
  "M3",
  "M5",
  "M6",
  "M7",
  "M8",
  "M10",
  "M11",
  "M12",
  "M13",
  "M18",
  "M23",
  "M26",
  "M27",
];
const NOT_APPLICABLE = RULES_OF_OUR_GENERATOR.map((rule) => ({
  rule,
  ...notApplicable("a foreign program loads"),
}));

/** Judges a run whose figures a load program printed, by the rules that apply to it. */
export const judgePrinted = (evidence: PrintedEvidence): Verdict =>
  verdictOf([...ruleFindings(rules, evidence), ...NOT_APPLICABLE]);

export function limitOfPrinted(evidence: PrintedEvidence): Limit {
  return limitFrom([
    ...hostCpu(evidence),
    ...rolesOf(evidence, "generator").map(([, { cpu_percent }]) => ({
      resource: "generator" as const,
      used: cpu_percent / 100,
      text: `${evidence.program.id} used ${Math.round(cpu_percent)} % of one core`,
    })),
    ...machineLinks(evidence, evidence.program_s),
    ...decidingRoles(evidence),
  ]);
}

export function judgedPrinted(evidence: PrintedEvidence): PrintedResult {
  const verdict = judgePrinted(evidence);
  return definedOnly({
    ...evidence,
    limited_by: limitOfPrinted(evidence),
    verdict,
    outcome: verdict.status === "invalid" ? undefined : ("served" as const),
  });
}
