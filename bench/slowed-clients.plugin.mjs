/**
 * A plugin for records of known differences: options that add CPU to commands of ioredis or iovalkey, and the control
 * `memory` under two names, ranked.
 */

/** Spins for so many microseconds. */
const spin = (us) => {
  const until = performance.now() + us / 1000;
  while (performance.now() < until);
};

/** A client without a command for so long was idle. */
const IDLE_MS = 20;
const SLOW_AFTER_IDLING_MS = 50;

/** Returns a function that spins in the first 50 ms after the client was idle (M33). */
function spinAfterIdling(us) {
  let last_ms = 0;
  let awoke_ms = 0;
  return () => {
    const now_ms = performance.now();
    if (now_ms - last_ms > IDLE_MS) awoke_ms = now_ms;
    last_ms = now_ms;
    if (now_ms - awoke_ms < SLOW_AFTER_IDLING_MS) spin(us);
  };
}

const option = (id, summary, newDelay) => ({
  id,
  summary,
  apply: (client) => ({
    ...client,
    async open(place, tuning) {
      const opened = await client.open(place, tuning);
      const { handle } = opened;
      const send = handle.sendCommand.bind(handle);
      const delay = newDelay?.();
      const delayed = (...words) => {
        delay();
        return send(...words);
      };
      if (delay) handle.sendCommand = delayed;
      return opened;
    },
  }),
});

const slowed = (id, us) =>
  option(id, `every command costs ${us} µs more of the server's CPU`, () => () => spin(us));

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
    option("unchanged", "changes nothing"),
    slowed("little", 1),
    slowed("much", 40),
    // About a fifth of the time of a request at full load.
    option(
      "after-idling",
      "every command costs 12 µs more of the server's CPU in the first 50 ms after idling",
      () => spinAfterIdling(12),
    ),
  ],
};
