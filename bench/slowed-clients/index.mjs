/**
 * A plugin for records of known differences: options that add CPU to commands of ioredis or iovalkey, and the control
 * `memory` under two names, ranked.
 */
import { delayed, spin, spinAfterIdling } from "./planted-options.mjs";

const slowed = (id, us) =>
  delayed(id, `every command costs ${us} µs more of the server's CPU`, () => () => spin(us));

const memory = (id) => ({
  id,
  stores: ["memory"],
  topologies: ["none"],
  control: false,
  survivesStoreRestart: true,
  survivesScriptFlush: true,
  limiter: "rate-limiter-flexible",
  flexible: { className: "RateLimiterMemory" },
  autoPipelining: () => "it has no connection",
  open: async () => ({
    handle: undefined,
    settings: {},
    storeVersion: async () => undefined,
    shardKeys: async () => ["preload"],
    close: async () => {},
  }),
});

export default {
  clients: [memory("memory-a"), memory("memory-b")],
  options: [
    { id: "unchanged", summary: "changes nothing", apply: (client) => client },
    slowed("little", 1),
    slowed("much", 40),
    // About a fifth of the time of a request at full load.
    delayed(
      "after-idling",
      "every command costs 12 µs more of the server's CPU in the first 50 ms after idling",
      () => spinAfterIdling(12),
    ),
  ],
};
