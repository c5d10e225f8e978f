import {
  type FaultEffect,
  type FaultKind,
  type FaultRecord,
  factsOfAction,
  faultKind,
} from "../contract/faults.js";
import { type Evidence, type Finding, notApplicable } from "./evidence.js";

type Planned = Pick<Evidence, "faults">;

/** The faults of a run that have an effect. @param kind only those done to roles of that kind */
const withEffect = ({ faults = [] }: Planned, effect: FaultEffect, kind?: FaultKind): FaultRecord[] =>
  faults.filter(
    ({ action, roles }) =>
      factsOfAction(action).effects.includes(effect) &&
      (kind === undefined || roles.some((role) => faultKind({ role }) === kind)),
  );

/** Whether a planned fault has one of these effects. */
export const hasEffect = (evidence: Planned, effects: readonly FaultEffect[], kind?: FaultKind): boolean =>
  effects.some((effect) => withEffect(evidence, effect, kind).length > 0);

/** Whether a planned fault ended the process of that role. */
export const wasEnded = (evidence: Planned, role: string): boolean =>
  withEffect(evidence, "ends").some(({ roles }) => roles.includes(role));

/** Why a rule does not judge what a planned fault explains. @param what it would have judged */
export const explained = (what: string): Finding => notApplicable(`${what}: a fault was planned`);

/** Seconds from the opening of the window to its first fault; infinite without one. */
export const firstFaultS = ({ faults = [] }: Planned): number =>
  Math.min(
    ...faults.map(({ planned, injected }) => Math.min(planned.start_s, injected?.from_s ?? planned.start_s)),
  );
