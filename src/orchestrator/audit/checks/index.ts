import type { Check } from "../check.js";
import { blockTime } from "./block-time.js";
import { burstFactor } from "./burst-factor.js";
import { clocksApart } from "./clocks-apart.js";
import { endlessKey } from "./endless-key.js";
import { eviction } from "./eviction.js";
import { exactBurst, exactBurstOnServers } from "./exact-burst.js";
import { expiry } from "./expiry.js";
import { failover } from "./failover.js";
import { headers } from "./headers.js";
import { hostileKeys } from "./hostile-keys.js";
import { ipv6Prefix } from "./ipv6-prefix.js";
import { longRunRate } from "./long-run-rate.js";
import { scriptFlush } from "./script-flush.js";
import { severalDescriptors } from "./several-descriptors.js";
import { storeRestart } from "./store-restart.js";
import { windowEdge } from "./window-edge.js";

/** All checks in the order of reports. Checks that share a system are made in this order, too. */
export const checks: readonly Check[] = [
  exactBurst,
  exactBurstOnServers,
  windowEdge,
  burstFactor,
  longRunRate,
  severalDescriptors,
  blockTime,
  expiry,
  endlessKey,
  scriptFlush,
  storeRestart,
  failover,
  ...clocksApart,
  eviction,
  ipv6Prefix,
  headers,
  hostileKeys,
];
