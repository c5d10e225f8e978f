import { propertiesOfAction } from "../../contract/fault-actions.js";
import type { FaultRecord } from "../../contract/fault-schemas.js";
import type { MeasuredResult } from "../../contract/result.js";
import type { Timeline } from "../../contract/timeline.js";
import { faultFigures, type PredictedAdmissions, sliceAt } from "../../judge/figures-of-faults.js";
import { sum } from "../../kit/numbers.js";
import { findProfile } from "../../traffic/lookup.js";
import { warmupPhases } from "../../traffic/outcome-mix.js";
import {
  canNotBeUsedUp,
  isReplayed,
  type LoadPhase,
  predictAdmitted,
  restartedAt,
} from "../../traffic/prediction.js";

type FaultRun = Pick<
  MeasuredResult,
  "timeline" | "faults" | "samples" | "configuration" | "warmup" | "counts"
>;

export function faultFiguresOf(run: FaultRun): MeasuredResult["fault_figures"] {
  const { timeline, faults, samples } = run;
  if (!timeline || !faults) return undefined;
  return faultFigures({
    timeline,
    faults,
    samples,
    predicted: predictedAdmissions(run, timeline, faults),
  });
}

/**
 * The admissions of the model from each fault to the next, of the answered requests, because failed
 * ones use no quota. They are null for quotas that cannot be used up, and undefined where the run
 * has no quota.
 */
function predictedAdmissions(
  { configuration, warmup, counts }: FaultRun,
  timeline: Timeline,
  faults: readonly FaultRecord[],
): (PredictedAdmissions | null | undefined)[] {
  if (!configuration || configuration.target.limiter === "none") return faults.map(() => undefined);
  const { limits, traffic, target } = configuration;
  if (canNotBeUsedUp(limits, warmup.requests + counts.sent)) return faults.map(() => null);

  const profile = findProfile(traffic);
  const { opens_s } = timeline;
  const phases = loadOf(warmup, timeline);
  const load = isReplayed(configuration.load)
    ? restartedAt(opens_s - warmup.lead_in.took_s, phases)
    : phases;
  const began_at_s = Date.parse(timeline.opened_at) / 1000 - opens_s;
  // Admissions are known by slice.
  const sliceStart = (s: number) => opens_s + (sliceAt(s, timeline) * timeline.width_ms) / 1000;
  const starts = faults.flatMap(({ injected }) => injected?.from_s ?? []);
  return faults.map(({ injected, action }) => {
    if (!injected) return undefined;
    const from_s = sliceStart(injected.from_s) - 1e-9;
    const ends_s =
      sliceStart(Math.min(...starts.filter((start) => start > injected.from_s))) - 1e-9;
    const until = { opens_s, load: load.filter(({ begins_s }) => begins_s < ends_s), began_at_s };
    const admitted = (lost: { lost_s?: number }) =>
      predictAdmitted(profile, limits, until, { from_s, ...lost }, target.algorithm);
    const counters_kept = admitted({});
    if (!propertiesOfAction(action).effects.includes("forgets")) return { counters_kept };
    // A fault that was injected a hair before its slice takes nothing that the slice does not
    // count.
    const lost_s = Math.max(from_s, opens_s + injected.from_s);
    return { counters_kept, counters_lost: admitted({ lost_s }) };
  });
}

function loadOf(warmup: FaultRun["warmup"], timeline: Timeline): LoadPhase[] {
  const { opens_s, allowed, limited, width_ms } = timeline;
  const phasesWithin = allowed.map((count, index) => ({
    begins_s: opens_s + (index * width_ms) / 1000,
    length_s: width_ms / 1000,
    requests: sum([count, limited[index] ?? 0]),
  }));
  return [...warmupPhases(warmup, opens_s), ...phasesWithin].filter((phase) => phase.requests > 0);
}
