import type { Limits, Load } from "../contract/configuration.js";
import type { ConsumerEvidence } from "../contract/consumer-evidence.js";
import type { Counts, Slices } from "../contract/request-outcomes.js";
import type { MeasuredResult } from "../contract/result.js";
import type { Algorithm } from "../contract/target.js";
import { definedOnly } from "../kit/defined-only.js";
import { rounded, sum } from "../kit/numbers.js";
import { findProfile } from "./lookup.js";
import {
  canNotBeUsedUp,
  isReplayed,
  type LoadPhase,
  predictLimitedShare,
  restartedAt,
} from "./prediction.js";

type Warmup = Pick<MeasuredResult["warmup"], "took_s" | "requests" | "lead_in" | "closed">;

/** The share of limited answers may be off by this much (M10). */
const TOLERANCE = 0.01;
/** Sampling allows this many standard deviations more, where answers are few. */
const DEVIATIONS = 4;

/**
 * What the consumers report of their limiter, with their counters before any load and after the
 * last answer.
 */
interface PredictedConsumers {
  limits?: Limits | undefined;
  algorithm?: Algorithm | undefined;
  at_start: readonly ConsumerEvidence["at_start"][];
  at_end: readonly ConsumerEvidence["at_end"][];
}

interface MeasuredWindow {
  /** When the window opened, in wall-clock time. */
  opened_at: Date;
  /** Seconds from the first request of the warm-up to the opening. It is 0 without a warm-up. */
  opens_s: number;
  slices: Slices;
  /** Load between the warm-up and the lead-in, which other runs of the same target made. */
  loadBefore?: readonly LoadPhase[];
}

/**
 * Returns the load before the window, in phases.
 * @param opens_s seconds from the first request to the opening of the window
 */
export function warmupPhases(
  { took_s, requests, lead_in, closed = { took_s: 0, requests: 0 } }: Warmup,
  opens_s: number,
): LoadPhase[] {
  return [
    { begins_s: 0, length_s: closed.took_s, requests: closed.requests },
    {
      begins_s: closed.took_s,
      length_s: took_s - lead_in.took_s - closed.took_s,
      requests: requests - lead_in.requests - closed.requests,
    },
    { begins_s: opens_s - lead_in.took_s, length_s: lead_in.took_s, requests: lead_in.requests },
  ];
}

/**
 * Returns the load as it was, in phases, because the rate of a warm-up is not that of the window,
 * and the counters were read between them.
 */
function loadOf(
  warmup: Warmup,
  { opens_s, slices, loadBefore = [] }: MeasuredWindow,
  load: Load | undefined,
): LoadPhase[] {
  const width_s = slices.width_ms / 1000;
  const windowPhases = slices.allowed.map((allowed, index) => ({
    begins_s: opens_s + index * width_s,
    length_s: width_s,
    requests: allowed + (slices.limited[index] ?? 0) + (slices.failed[index] ?? 0),
  }));
  const phases = [...warmupPhases(warmup, opens_s), ...loadBefore, ...windowPhases];
  const sent = phases
    .filter((phase) => phase.requests > 0)
    .toSorted((earlier, later) => earlier.begins_s - later.begins_s);
  return isReplayed(load) ? restartedAt(opens_s - warmup.lead_in.took_s, sent) : sent;
}

/**
 * Returns the share of limited answers to expect under the limits. It is undefined without a
 * limiter.
 */
export function predictionFor(
  { traffic, load }: { traffic: string; load?: Load | undefined },
  warmup: Warmup,
  { limits, algorithm, at_start, at_end }: PredictedConsumers,
  counts: Counts,
  window: MeasuredWindow,
): MeasuredResult["prediction"] {
  const total = counts.allowed + counts.limited;
  if (!limits || total === 0) return undefined;

  const observation = definedOnly({
    opens_s: window.opens_s,
    load: loadOf(warmup, window, load),
    connections: load?.model === "closed" ? load.connections : undefined,
    began_at_s: window.opened_at.getTime() / 1000 - window.opens_s,
  });
  const limited_share = predictLimitedShare(findProfile(traffic), limits, observation, algorithm);
  const deviation = Math.sqrt((limited_share * (1 - limited_share)) / total);
  const requests =
    sum(at_end.map((usage) => usage.requests)) - sum(at_start.map((usage) => usage.requests));

  return {
    limited_share: rounded(limited_share, 6),
    seen_share: rounded(counts.limited / total, 6),
    tolerance: rounded(Math.max(TOLERANCE, DEVIATIONS * deviation), 6),
    // Without a used-up quota the traffic alone decides the outcome.
    basis: canNotBeUsedUp(limits, requests) ? "traffic" : "limits",
  };
}
