import { isCluster } from "../../../targets/topologies.js";
import type { Answers, AuditedSystem } from "../audited-system.js";
import { type Check, skipped } from "../check.js";
import { recoveryOutcome } from "../recovery.js";

const MOST_S = 10;
const KEYS = 12;
/** Requests while the store is away. */
const MEANWHILE = 5;

/** What became of requests that found no store. */
function outageNote(answers: Answers): string {
  const { admitted, all } = answers;
  const limited = answers.limited.length;
  if (admitted > 0) return `without its store it admits requests: ${admitted} of ${all.length}`;
  if (limited > 0) return `without its store it denies requests: ${limited} of ${all.length}`;
  return "without its store it fails requests";
}

async function restart(system: AuditedSystem): Promise<Answers> {
  const undo = await system.inject("restart", "store");
  const key = system.freshKey();
  const meanwhile = await system.send([{ after_ms: 0, keys: [key], count: MEANWHILE }]);
  await undo?.();
  return meanwhile;
}

export const storeRestart: Check = {
  id: "store-restart",
  title: "Store restart",
  promise: "When its store was killed and is back, a limiter decides again by itself.",
  matters:
    "Stores are restarted for every update. What happens while the store is away is told as a note.",
  needsOwnSystem: true,
  async run(system) {
    if (system.store.nodes.length === 0) return skipped("its counters are in the server's process");
    // Nodes in containers forget each other, and no cluster forms itself.
    if (isCluster(system.target.topology))
      return skipped(
        "a cluster never restarts as a whole: the check failover loses one of its nodes",
      );
    (await system.burst(system.freshKey(), 1)).requireDecided();
    const meanwhile = await restart(system);
    const promised = `it decides again within ${MOST_S} s of the store`;
    return recoveryOutcome(system, MOST_S, KEYS, promised, [outageNote(meanwhile)]);
  },
};
