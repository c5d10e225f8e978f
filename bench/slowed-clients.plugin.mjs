/**
 * A plugin for records of known differences: options that add CPU to every command of ioredis or iovalkey, and the
 * control `memory` under two names, ranked.
 */
const option = (id, us) => ({
  id,
  summary: us > 0 ? `every command costs ${us} µs more of the server's CPU` : "changes nothing",
  apply: (client) => ({
    ...client,
    async open(place, tuning) {
      const opened = await client.open(place, tuning);
      const { handle } = opened;
      const send = handle.sendCommand.bind(handle);
      const spinning = (...words) => {
        const until = performance.now() + us / 1000;
        while (performance.now() < until);
        return send(...words);
      };
      if (us > 0) handle.sendCommand = spinning;
      return opened;
    },
  }),
});

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
  options: [option("copy", 0), option("little", 1), option("much", 40)],
};
