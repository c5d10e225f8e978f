import type { StoreEvidence, StoreReading } from "../../../contract/store.js";

/** What a reading counts of all who use the store. */
const COUNTS = [
  "decisions",
  "script_calls",
  "keys",
  "expired_keys",
  "used_memory_bytes",
  "connections_received",
  "cpu_user_us",
  "cpu_system_us",
] as const satisfies (keyof StoreReading)[];

function withoutCounts(reading: StoreReading): StoreReading {
  const kept = { ...reading };
  for (const name of COUNTS) delete kept[name];
  return kept;
}

/**
 * The evidence of an external store that several targets use by turns. Its counters have the load of
 * all of them, so what a run of one target cost the store and how often it asked it is not known.
 */
export function withoutSharedCounts(store: StoreEvidence): StoreEvidence {
  const nodes = store.nodes.map(({ role, at_start, at_end }) => ({
    role,
    at_start: withoutCounts(at_start),
    at_end: withoutCounts(at_end),
  }));
  return { ...store, nodes };
}
