import type { RunningPart } from "../../../runtimes/runtime-types.js";
import type { RawRun, ReadyRun, RunListener } from "../execute-run.js";
import type { RequestedRun, RunSettings } from "../run-settings.js";

export type RoundMember = { request: RequestedRun; listener: RunListener };

export type RoundEnd = { raw: RawRun } | { error: unknown };

/** A run of a target of a round, which the target's parts serve. */
export interface RunOfTarget {
  settings: RunSettings;
  listener: RunListener;
}

/**
 * A target whose parts are up, with its place among those of the round, from 0. In a load curve it has
 * several runs, and otherwise one.
 */
export interface RoundTarget extends ReadyRun {
  index: number;
  runs: readonly RunOfTarget[];
}

/** A generator of a round, with the targets that it loads. */
export interface StartedGenerator<Target extends RoundTarget = RoundTarget> {
  part: RunningPart;
  targets: readonly Target[];
}

export const runsOfTargets = (targets: readonly RoundTarget[]): RunOfTarget[] =>
  targets.flatMap(({ runs }) => runs);
