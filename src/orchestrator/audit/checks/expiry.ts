import { setTimeout as delay } from "node:timers/promises";
import { sum } from "../../../kit/numbers.js";
import type { AuditedSystem } from "../audited-system.js";
import { type Check, outcomeOf, skipped } from "../check.js";

/** Enough for their memory to stand out from buffers and tables. */
const KEYS = 5_000;
/** Two windows, and this time for clocks of whole seconds. */
const LONGER_MS = 1_300;
/** Share of the memory that may stay: tables shrink later than their keys go. */
const MOST_LEFT = 0.5;

/**
 * Memory that the store counts itself and frees as keys end; undefined for one that waits with it.
 */
async function usedBytes({ store, target }: AuditedSystem): Promise<number | undefined> {
  if (target.store === "memcached") return undefined;
  const readings = (await store.perform(["read"]))?.readings ?? [];
  const bytes = readings.flatMap(({ used_memory_bytes }) => used_memory_bytes ?? []);
  return bytes.length > 0 && bytes.length === readings.length ? sum(bytes) : undefined;
}

export const expiry: Check = {
  id: "expiry",
  title: "Expiry",
  promise:
    "Two windows after the last request no key is left in the store, and its memory is back.",
  matters: "Keys are as many as there are visitors: a store that keeps them is full one day.",
  async run(system) {
    const stored = async () => (await system.store.perform(["stored-keys"]))?.stored;
    if ((await stored()) === undefined) return skipped("its store does not list keys");
    const before = await usedBytes(system);
    (await system.onFreshKeys(KEYS)).requireDecided();
    const full = await usedBytes(system);
    // On a slow machine the first keys end before the last ones are sent: what grew says nothing
    // then.
    const wasFull = ((await stored())?.keys ?? 0) >= MOST_LEFT * KEYS;
    await delay(2 * system.window_ms + LONGER_MS);
    const left = await stored();
    const after = await usedBytes(system);
    const keys = left?.keys ?? 0;
    const known = wasFull && before !== undefined && full !== undefined && after !== undefined;
    const grown = known ? full - before : 0;
    const kept = known ? after - before : 0;
    const memory =
      known && grown > 0
        ? `, ${Math.max(0, Math.round((100 * kept) / grown))} % of their memory`
        : "";
    return outcomeOf(
      keys === 0 && !(known && grown > 0 && kept > MOST_LEFT * grown),
      `of ${KEYS} keys none is left after ${(2 * system.window_ms + LONGER_MS) / 1000} s${known ? `, at most ${100 * MOST_LEFT} % of their memory` : ""}`,
      `${keys} keys${memory}${keys > 0 ? `; ${left?.without_end} of them without an end, e.g. ${JSON.stringify(left?.examples[0]?.slice(0, 80))}` : ""}`,
    );
  },
};
