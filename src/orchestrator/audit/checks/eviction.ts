import { setTimeout as delay } from "node:timers/promises";
import type { AdmissionBounds } from "../../../contract/audit.js";
import type { Limits } from "../../../contract/configuration.js";
import type { Algorithm } from "../../../contract/target.js";
import { sum } from "../../../kit/numbers.js";
import { findStore } from "../../../targets/resolve.js";
import { findEngine } from "../../../targets/stores/engines.js";
import { type Answers, type AuditedSystem, NotChecked } from "../audited-system.js";
import { admissionsOutcome, type Check } from "../check.js";
import { admittedRanges } from "../expected.js";

const KEYS = 10;
/** The requests at once on each key, in quotas. */
const QUOTAS = 2;

/** How long the keys stay unused. The store counts that in seconds. */
const UNUSED_MS = 1_200;

/** So many keys that nobody has used before are sent at a time. */
const FRESH_KEYS = 2_000;
const MOST_TIMES = 8;

/**
 * So many keys must be dropped until the store comes to those that were longest unused, because it
 * only looks at some of all keys.
 */
const EVICTED = 1_000;
const MOST_TRIES = 3;

/**
 * How many requests on used-up keys were admitted again, in all. Both answers have a group for each
 * key, in the same order.
 */
export function admittedAgain(
  algorithm: Algorithm,
  limits: Limits,
  [before, after]: readonly [Answers, Answers],
  keys: number,
): AdmissionBounds {
  const ranges = Array.from({ length: keys }, (_, group) => {
    const bursts = [before.ofGroup(group).burst, after.ofGroup(group).burst];
    const [, rangeAfter] = admittedRanges(algorithm, limits, bursts);
    return rangeAfter;
  });
  return {
    seen: after.admitted,
    least: sum(ranges.map((range) => range?.least ?? 0)),
    most: sum(ranges.map((range) => range?.most ?? 0)),
  };
}

/** Fills the store until it drops keys. @returns how many it dropped */
async function pushOut(system: AuditedSystem): Promise<number> {
  await system.store.inject({ action: "fill-memory", evicts: true });
  const readEvicted = async (): Promise<number> => {
    const readings = (await system.store.perform(["read"]))?.readings ?? [];
    return sum(readings.map(({ evicted_keys = 0 }) => evicted_keys));
  };

  const evictedBefore = await readEvicted();
  for (let times = 1; ; times++) {
    const { failed, all } = await system.onFreshKeys(FRESH_KEYS);
    const dropped = (await readEvicted()) - evictedBefore;
    if (dropped >= EVICTED) return dropped;
    if (times === MOST_TIMES)
      throw new NotChecked(
        `the store dropped ${dropped} keys where ${EVICTED} had to go; ${failed.length} of the last ${all.length} requests failed`,
      );
  }
}

export const eviction: Check = {
  id: "eviction",
  title: "Eviction",
  promise:
    "A used-up quota stays used up when the store is full and drops the keys that were longest unused.",
  matters:
    "At its memory limit a store with volatile-lru forgets counters without an error: who brings many keys gets new quotas.",
  unpromisedReason: () => "no limiter promises what its store has dropped",
  limits: "long",
  needsOwnSystem: true,
  unsupportedReason({ store }) {
    const { engine } = findStore(store);
    if (engine === undefined) return "its counters are in the server's process";
    return findEngine(engine).faults["fill-memory"] === true
      ? undefined
      : "its store has no policy of eviction that can be chosen while it runs";
  },
  async run(system) {
    const { limits, algorithm } = system;
    for (let tries = 1; ; tries++) {
      const groups = Array.from({ length: KEYS }, () => ({
        after_ms: 0,
        keys: [system.freshKey()],
        count: QUOTAS * limits.points,
      }));
      const before = (await system.send(groups)).requireDecided();
      await delay(UNUSED_MS);
      const dropped = await pushOut(system);
      const after = (await system.send(groups)).requireDecided();
      if (system.metEdge(before.with(after)) && tries < MOST_TRIES) continue;
      return admissionsOutcome(
        admittedAgain(algorithm, limits, [before, after], KEYS),
        { promised: ` of ${after.all.length} on ${KEYS} used-up keys` },
        [`the store dropped ${dropped} keys`],
      );
    }
  },
};
