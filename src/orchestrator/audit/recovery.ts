import { setTimeout as delay } from "node:timers/promises";
import type { AuditedSystem } from "./audited-system.js";
import { admittedRanges } from "./expected.js";

const EVERY_MS = 100;
/** Requests at once on a key, in quotas, once it decides again. */
const QUOTAS = 5;

/** How a limiter came back after something broke. */
export interface Recovery {
  decides: boolean;
  /** Whether each key then got exactly its quota. */
  isExact: boolean;
  text: string;
}

/**
 * Asks for fresh keys until all of them are decided, and then whether their quota is exact.
 * @param keys how many at once: in a cluster they reach every shard
 */
export async function recoveryOf(system: AuditedSystem, most_s: number, keys: number): Promise<Recovery> {
  const began = performance.now();
  const passed_s = () => (performance.now() - began) / 1000;
  const fresh = (count: number) =>
    system.send(Array.from({ length: keys }, () => ({ after_ms: 0, keys: [system.freshKey()], count })));
  let failed = 0;
  for (;;) {
    const answers = await fresh(1);
    failed += answers.failed.length;
    if (answers.failed.length === 0) break;
    if (passed_s() > most_s) {
      const [first] = answers.failed;
      const last = `${first?.status ?? first?.error ?? "no answer"}`;
      return {
        decides: false,
        isExact: false,
        text: `${failed} requests failed in ${passed_s().toFixed(1)} s, the last with ${last}`,
      };
    }
    await delay(EVERY_MS);
  }
  const after_s = passed_s();
  const { points } = system.limits;
  const bursts = await fresh(QUOTAS * points);
  const counts = Array.from({ length: keys }, (_, group) => {
    const answers = bursts.ofGroup(group);
    const [range] = admittedRanges(system.algorithm, system.limits, [answers.burst]);
    const isExact = range !== undefined && answers.admitted >= range.least && answers.admitted <= range.most;
    return { admitted: answers.admitted, isExact: isExact || system.metEdge(answers) };
  });
  const wrong = counts.filter(({ isExact }) => !isExact).map(({ admitted }) => admitted);
  const fails = failed === 0 ? "no request failed" : `${failed} requests failed first`;
  return {
    decides: true,
    isExact: wrong.length === 0,
    text: `it decides after ${after_s.toFixed(1)} s, ${fails}; then ${wrong.length === 0 ? `exactly ${points}` : wrong.join(", ")} admitted of a quota of ${points}`,
  };
}
