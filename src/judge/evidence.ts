import type { FaultEffect } from "../contract/fault-actions.js";
import { type FaultKind, propertiesOfAction } from "../contract/fault-actions.js";
import { type FaultRecord, faultKind } from "../contract/fault-schemas.js";
import type { MeasuredResult } from "../contract/result.js";
import type { MeasuredKind } from "../contract/role.js";

type Planned = Pick<Evidence, "faults">;

/** The planned faults that have an effect, on roles of a kind if one is named. */
const withEffect = (
  { faults = [] }: Planned,
  effect: FaultEffect,
  kind?: FaultKind,
): FaultRecord[] =>
  faults.filter(
    ({ action, roles }) =>
      propertiesOfAction(action).effects.includes(effect) &&
      (kind === undefined || roles.some((role) => faultKind({ role }) === kind)),
  );

/** Whether a planned fault has one of these effects. */
export const hasEffect = (
  evidence: Planned,
  effects: readonly FaultEffect[],
  kind?: FaultKind,
): boolean => effects.some((effect) => withEffect(evidence, effect, kind).length > 0);

/** Whether a planned fault ended the process of a role. */
export const wasEnded = (evidence: Planned, role: string): boolean =>
  withEffect(evidence, "ends").some(({ roles }) => roles.includes(role));

/** The finding of a rule that does not judge what a planned fault explains. */
export const explained = (subject: string): RuleFinding =>
  notApplicable(`${subject}: a fault was planned`);

/**
 * The seconds from the opening of the window to the first fault, or infinity without a
 * fault.
 */
export const firstFaultS = ({ faults = [] }: Planned): number =>
  Math.min(
    ...faults.map(({ planned, injected }) =>
      Math.min(planned.start_s, injected?.from_s ?? planned.start_s),
    ),
  );

export type Evidence = Omit<MeasuredResult, "verdict">;

/** Returns the measured roles of a kind, each with its id and its resources. */
export const rolesOf = ({ resources }: Pick<Evidence, "resources">, kind: MeasuredKind) =>
  Object.entries(resources).filter(([, roleUsage]) => roleUsage.kind === kind);

/**
 * What a rule says about a run: it is broken, or says nothing. A rule that holds has no finding.
 * One that is `not applicable` does not concern such a run. One that is `not checked` does, but the
 * result is older than the evidence that the rule needs.
 */
export type RuleFinding = {
  severity: "invalid" | "suspect" | "not applicable" | "not checked";
  text: string;
};

/** A rule of docs/rules.md; it only uses the evidence. */
export type Rule<Seen = Evidence> = { id: string; check(evidence: Seen): RuleFinding | undefined };

export const invalid = (text: string): RuleFinding => ({ severity: "invalid", text });
export const suspect = (text: string): RuleFinding => ({ severity: "suspect", text });
export const notApplicable = (text: string): RuleFinding => ({ severity: "not applicable", text });
/**
 * The finding of a rule whose evidence this result does not hold. A rule that needs new
 * evidence begins with `if (evidence.member === undefined) return notChecked("what it is")`: the
 * member is optional in the contract, because older results lack it, and every new result has it.
 */
export const notChecked = (missing: string): RuleFinding => ({
  severity: "not checked",
  text: `the result does not hold ${missing}`,
});
