import { setTimeout as delay } from "node:timers/promises";
import type { AuditedSystem } from "./audited-system.js";
import { type CheckOutcome, outcomeOf } from "./check.js";
import { admittedRanges } from "./expected.js";

const INTERVAL_MS = 100;

/** The requests at once on a key, in quotas, once the limiter decides again. */
const QUOTAS = 5;

/**
 * Sends requests on fresh keys after a fault until all of them are decided, and then checks that the
 * quota of fresh keys is exact.
 * @param keys the number of keys at once, which reach every shard of a cluster
 * @param promised a text on what the target promises within `most_s`
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
  const sendOnFreshKeys = (count: number) =>
    system.send(
      Array.from({ length: keys }, () => ({ after_ms: 0, keys: [system.freshKey()], count })),
    );
  let failed = 0;
  for (;;) {
    const answers = await sendOnFreshKeys(1);
    failed += answers.failed.length;
    if (answers.failed.length === 0) break;
    if (passed_s() > most_s) {
      const [first] = answers.failed;
      const failure = first?.status ?? first?.error ?? "no answer";
      return outcome(
        false,
        `${failed} requests failed in ${passed_s().toFixed(1)} s, the last with ${failure}`,
      );
    }
    await delay(INTERVAL_MS);
  }
  const after_s = passed_s();
  const bursts = await sendOnFreshKeys(QUOTAS * points);
  const counts = Array.from({ length: keys }, (_, group) => {
    const answers = bursts.ofGroup(group);
    const [range] = admittedRanges(system.algorithm, system.limits, [answers.burst]);
    const isExact =
      range !== undefined && answers.admitted >= range.least && answers.admitted <= range.most;
    return { admitted: answers.admitted, isExact: isExact || system.metEdge(answers) };
  });

  const wrongCounts = counts.filter(({ isExact }) => !isExact).map(({ admitted }) => admitted);
  const failures = failed === 0 ? "no request failed" : `${failed} requests failed first`;
  const admitted = wrongCounts.length === 0 ? `exactly ${points}` : wrongCounts.join(", ");
  return {
    ...outcome(
      wrongCounts.length === 0,
      `it decides after ${after_s.toFixed(1)} s, ${failures}; then ${admitted} admitted of a quota of ${points}`,
    ),
    countsBursts: true,
  };
}
