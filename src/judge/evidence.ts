import {
  type FaultEffect,
  type FaultKind,
  type FaultRecord,
  factsOfAction,
  faultKind,
} from "../contract/faults.js";
import type { MeasuredResult } from "../contract/result.js";

type Planned = Pick<Evidence, "faults">;

const withEffect = ({ faults = [] }: Planned, effect: FaultEffect, kind?: FaultKind): FaultRecord[] =>
  faults.filter(
    ({ action, roles }) =>
      factsOfAction(action).effects.includes(effect) &&
      (kind === undefined || roles.some((role) => faultKind({ role }) === kind)),
  );

export const hasEffect = (evidence: Planned, effects: readonly FaultEffect[], kind?: FaultKind): boolean =>
  effects.some((effect) => withEffect(evidence, effect, kind).length > 0);

export const wasEnded = (evidence: Planned, role: string): boolean =>
  withEffect(evidence, "ends").some(({ roles }) => roles.includes(role));

export const explained = (what: string): Finding => notApplicable(`${what}: a fault was planned`);

export const firstFaultS = ({ faults = [] }: Planned): number =>
  Math.min(
    ...faults.map(({ planned, injected }) => Math.min(planned.start_s, injected?.from_s ?? planned.start_s)),
  );

export type Evidence = Omit<MeasuredResult, "verdict">;

/** A broken or `not applicable` rule; one that holds has no finding. */
export type Finding = { severity: "invalid" | "suspect" | "not applicable"; text: string };

/** A rule of docs/methodology.md; it only uses the evidence. */
export type Rule<Seen = Evidence> = { id: string; check(evidence: Seen): Finding | undefined };

export const invalid = (text: string): Finding => ({ severity: "invalid", text });
export const suspect = (text: string): Finding => ({ severity: "suspect", text });
export const notApplicable = (text: string): Finding => ({ severity: "not applicable", text });
