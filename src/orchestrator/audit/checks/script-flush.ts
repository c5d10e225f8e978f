import { type Check, skipped } from "../check.js";
import { recoveryOutcome } from "../recovery.js";

const MOST_S = 10;
/** The number of keys, which is enough to reach every shard of a cluster. */
const KEYS = 12;

export const scriptFlush: Check = {
  id: "script-flush",
  title: "Script flush",
  promise: "A limiter whose scripts and functions are gone from the store loads them again.",
  matters:
    "An operator's SCRIPT FLUSH, or a failover, must not fail every request until the servers are started again.",
  needsOwnSystem: true,
  async run(system) {
    const { store } = system;
    (await system.burst(system.freshKey(), 1)).requireDecided();
    const readings = (await store.perform(["read"]))?.readings ?? [];
    if (!readings.some(({ script_calls = {} }) => Object.keys(script_calls).length > 0))
      return skipped("its limiter runs no script in the store");
    await system.inject("flush-scripts", "store");
    return recoveryOutcome(system, MOST_S, KEYS, `it decides again within ${MOST_S} s`);
  },
};
