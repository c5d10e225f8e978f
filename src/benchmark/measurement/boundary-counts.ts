import type { Boundary } from "../../contract/boundary.js";
import type { Limits } from "../../contract/configuration.js";
import type { Algorithm } from "../../contract/target.js";
import type { KeyDecisions } from "../../judge/boundary/algorithms.js";
import { type BoundaryRun, boundaryOf } from "../../judge/boundary/boundary-findings.js";
import { sum } from "../../kit/numbers.js";
import type { TrafficProfile } from "../../traffic/traffic-types.js";
import type { DecisionColumns } from "./decision-log.js";

/** The requests of each key in the order of their sends. All workers share one clock. */
export function decisionsByKey(
  { binding, population }: Pick<TrafficProfile, "binding" | "population">,
  logs: readonly DecisionColumns[],
): KeyDecisions[] {
  const { requests } = population();
  const rows = sum(logs.map(({ which }) => which.length));
  const sent_ms = new Float64Array(rows);
  const answered_ms = new Float64Array(rows);
  const outcome = new Uint8Array(rows);
  const wait_ms = new Float32Array(rows);
  /** The first row of each request of the traffic, and the number of all rows. */
  const begins = new Uint32Array(requests.length + 1);

  for (const log of logs)
    for (const which of log.which) begins[which + 1] = (begins[which + 1] ?? 0) + 1;

  for (let which = 0; which < requests.length; which++)
    begins[which + 1] = (begins[which + 1] ?? 0) + (begins[which] ?? 0);

  const order = new Uint32Array(rows);
  const next = begins.slice();

  let base = 0;
  for (const log of logs) {
    sent_ms.set(log.sent_ms, base);
    answered_ms.set(log.answered_ms, base);
    outcome.set(log.outcome, base);
    wait_ms.set(log.wait_ms, base);
    for (const [row, which] of log.which.entries()) {
      const place = next[which] ?? 0;
      order[place] = base + row;
      next[which] = place + 1;
    }
    base += log.which.length;
  }

  return requests.map(([key], which) => {
    const ordered = order
      .slice(begins[which], begins[which + 1])
      .sort((a, b) => (sent_ms[a] ?? 0) - (sent_ms[b] ?? 0));
    return {
      key,
      isAbove: which < (binding?.keysAbove ?? 0),
      sent_ms: Float64Array.from(ordered, (row) => sent_ms[row] ?? 0),
      answered_ms: Float64Array.from(ordered, (row) => answered_ms[row] ?? 0),
      outcome: Uint8Array.from(ordered, (row) => outcome[row] ?? 0),
      wait_ms: Float32Array.from(ordered, (row) => wait_ms[row] ?? Number.NaN),
    };
  });
}

/**
 * What a run with a binding quota admitted. Undefined for other traffic, and where not all
 * requests were kept.
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
