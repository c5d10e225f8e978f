import { setTimeout as delay } from "node:timers/promises";
import type { AuditedSystem } from "./audited-system.js";
import { type CheckOutcome, outcomeOf } from "./check.js";
import { admittedRanges } from "./expected.js";

const EVERY_MS = 100;
/** Requests at once on a key, in quotas, once it decides again. */
const QUOTAS = 5;

/**
 * After something broke asks for fresh keys until all of them are decided, and then whether their
 * quota is exact.
 * @param keys how many at once: in a cluster they reach every shard @param promised what it does
 *   within `most_s`
 */
export async function recoveryOutcome(
  system: AuditedSystem,
  most_s: number,
  keys: number,
  promised: string,
  notes?: readonly string[],
): Promise<CheckOutcome> {
  const { points } = system.limits;
  const outcome = (holds: boolean, seen: string) =>
    outcomeOf(holds, `${promised}, and exactly ${points} are admitted`, seen, notes);
  const began = performance.now();
  const passed_s = () => (performance.now() - began) / 1000;
  const fresh = (count: number) =>
    system.send(
      Array.from({ length: keys }, () => ({ after_ms: 0, keys: [system.freshKey()], count })),
    );
  let failed = 0;
  for (;;) {
    const answers = await fresh(1);
    failed += answers.failed.length;
    if (answers.failed.length === 0) break;
    if (passed_s() > most_s) {
      const [first] = answers.failed;
      const last = first?.status ?? first?.error ?? "no answer";
      return outcome(
        false,
        `${failed} requests failed in ${passed_s().toFixed(1)} s, the last with ${last}`,
      );
    }
    await delay(EVERY_MS);
  }
  const after_s = passed_s();
  const bursts = await fresh(QUOTAS * points);
  const counts = Array.from({ length: keys }, (_, group) => {
    const answers = bursts.ofGroup(group);
    const [range] = admittedRanges(system.algorithm, system.limits, [answers.burst]);
    const isExact =
      range !== undefined && answers.admitted >= range.least && answers.admitted <= range.most;
    return { admitted: answers.admitted, isExact: isExact || system.metEdge(answers) };
  });
  const wrong = counts.filter(({ isExact }) => !isExact).map(({ admitted }) => admitted);
  const fails = failed === 0 ? "no request failed" : `${failed} requests failed first`;
  const admitted = wrong.length === 0 ? `exactly ${points}` : wrong.join(", ");
  return {
    ...outcome(
      wrong.length === 0,
      `it decides after ${after_s.toFixed(1)} s, ${fails}; then ${admitted} admitted of a quota of ${points}`,
    ),
    countsBursts: true,
  };
}
