import { findTopology } from "../../../targets/resolve.js";
import { type Check, skipped } from "../check.js";
import { recoveryOutcome } from "../recovery.js";

/** A cluster notices the loss after its node time-out of 5 s, and votes. */
const MOST_S = 30;
/** Enough to reach every shard. */
const KEYS = 24;

export const failover: Check = {
  id: "failover",
  title: "Failover",
  promise:
    "When a primary is lost and its replica takes over, a limiter decides on all keys again.",
  matters:
    "It is what replicas are for: a client that does not follow fails a part of all users for good.",
  needsOwnSystem: true,
  async run(system) {
    const { id, replicas } = findTopology(system.target.topology);
    if (replicas === 0) return skipped(`${id} has no replica that could take over`);
    (await system.burst(system.freshKey(), 1)).requireDecided();
    await system.inject("kill", "store-1");
    return recoveryOutcome(system, MOST_S, KEYS, `it decides on all keys within ${MOST_S} s`);
  },
};
