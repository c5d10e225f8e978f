import type { Boundary } from "../../contract/boundary.js";
import type { Limits } from "../../contract/configuration.js";
import { sum } from "../../contract/numbers.js";
import type { Algorithm } from "../../contract/target.js";
import { type BoundaryRun, boundaryOf } from "../../judge/boundary/boundary.js";
import type { KeyDecisions } from "../../judge/boundary/key-decisions.js";
import type { TrafficProfile } from "../../traffic/types.js";
import type { DecisionColumns } from "./decision-log.js";

/**
 * The requests of each key of the traffic in the order of their sends, from the logs of all workers: their clock is the
 * same one.
 */
export function decisionsByKey(
  { binding, population }: Pick<TrafficProfile, "binding" | "population">,
  logs: readonly DecisionColumns[],
): KeyDecisions[] {
  const { requests } = population();
  /** Where each request of a key is: the log, and the row in it. */
  const places = requests.map((): { log: DecisionColumns; row: number }[] => []);
  for (const log of logs) for (const [row, which] of log.which.entries()) places[which]?.push({ log, row });
  return requests.map(([key], which) => {
    const ordered = (places[which] ?? []).sort(
      (one, other) => (one.log.sent_ms[one.row] ?? 0) - (other.log.sent_ms[other.row] ?? 0),
    );
    return {
      key,
      isAbove: which < (binding?.keysAbove ?? 0),
      sent_ms: Float64Array.from(ordered, ({ log, row }) => log.sent_ms[row] ?? 0),
      answered_ms: Float64Array.from(ordered, ({ log, row }) => log.answered_ms[row] ?? 0),
      outcome: Uint8Array.from(ordered, ({ log, row }) => log.outcome[row] ?? 0),
      wait_ms: Float32Array.from(ordered, ({ log, row }) => log.wait_ms[row] ?? Number.NaN),
    };
  });
}

/**
 * What a run with a binding quota admitted; undefined for other traffic, and where not every request was kept.
 * @param limits of the servers; undefined without a limiter
 */
export function boundaryFor(
  profile: TrafficProfile,
  logs: readonly DecisionColumns[],
  { limits, algorithm }: { limits?: Limits | undefined; algorithm?: Algorithm | undefined },
  span: Pick<BoundaryRun, "opened_ms" | "closed_ms" | "wall_offset_ms">,
): Boundary | undefined {
  if (!profile.binding || !limits || logs.length === 0 || sum(logs.map(({ missed }) => missed)) > 0)
    return undefined;
  return boundaryOf({
    ...span,
    keys: decisionsByKey(profile, logs),
    quota: Math.floor(limits.points / (limits.cost ?? 1)),
    window_s: limits.window_s,
    algorithm: algorithm ?? "fixed window",
  });
}
