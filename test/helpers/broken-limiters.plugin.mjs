/**
 * A plugin with limiters that each break a promise, for clients with the methods of ioredis. `whole` keeps them all: the
 * others differ from it in what their names say.
 */

/** A fixed window from the first hit, with a block, that repairs a key without an end. */
const SCRIPT = `
local points, window, block = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local once, renewed = ARGV[4] == "true", ARGV[5] == "true"
local used = redis.call("INCR", KEYS[1])
local left = redis.call("PTTL", KEYS[1])
if left < 0 and (used == 1 or not once) then
  redis.call("PEXPIRE", KEYS[1], window)
  left = window
end
if block > 0 and used > points and (renewed or used == points + 1) then
  redis.call("PEXPIRE", KEYS[1], block)
  left = block
end
return {used, left}`;

const ALLOWED = { outcome: "allowed" };

/** @param decide gives what is used and how many milliseconds are left */
const limiterOf = (points, limit, decide, msBeforeNext = (left) => left) => ({
  consume: (key) =>
    decide(key).then(
      ([used, left]) =>
        used <= points
          ? ALLOWED
          : { outcome: "limited", limit, remaining: 0, msBeforeNext: msBeforeNext(left) },
      (error) => ({ outcome: "failed", error }),
    ),
});

/** The script's limiter with differences. */
const scripted =
  ({ windowFactor = 1, once = false, renewed = false, keyOf = (key) => key, msBeforeNext } = {}) =>
  (redis, { points, window_s, block_s }, prefix, quota) =>
    limiterOf(
      quota,
      points,
      (key) => {
        const words = [quota, 1000 * window_s * windowFactor, 1000 * block_s, once, renewed].map(
          String,
        );
        return redis.eval(SCRIPT, 1, `${prefix}:${keyOf(key)}`, ...words);
      },
      msBeforeNext,
    );

/** Admits one request more in each window. */
const offByOne = (redis, limits, prefix, quota) =>
  scripted()(redis, limits, prefix, quota === 0 ? 0 : quota + 1);

/** Reads, decides, and then writes, without an end. */
const readThenWrite = (redis, { points, window_s }, prefix, quota) =>
  limiterOf(quota, points, async (key) => {
    const used = Number(await redis.get(`${prefix}:${key}`)) + 1;
    await redis.set(`${prefix}:${key}`, used);
    return [used, 1000 * window_s];
  });

/** Relies on the script being in the store for ever. */
const scriptOnce = (redis, { points, window_s, block_s }, prefix, quota) => {
  const loaded = redis.script("LOAD", SCRIPT);
  loaded.catch(() => {});
  return limiterOf(quota, points, async (key) =>
    redis.evalsha(
      await loaded,
      1,
      `${prefix}:${key}`,
      ...[quota, 1000 * window_s, 1000 * block_s, false, false].map(String),
    ),
  );
};

/** Gives up for good once the store has failed. */
const givesUp = (redis, limits, prefix, quota) => {
  const whole = scripted()(redis, limits, prefix, quota);
  let failed;
  return {
    async consume(key) {
      if (failed) return failed;
      const decision = await whole.consume(key);
      if (decision.outcome === "failed") failed = decision;
      return decision;
    },
  };
};

/** Admits a request when any of its keys has points left. */
const anyKey = (redis, limits, prefix) => {
  const whole = scripted()(redis, limits, prefix, limits.points);
  const consumes = { calls: 0, allowed: 0, limited: 0, failed: 0 };
  return {
    consumes,
    async consume(keys) {
      const all = typeof keys === "string" ? [keys] : keys;
      const decisions = await Promise.all(all.map((key) => whole.consume(key)));
      for (const { outcome } of decisions) consumes[outcome]++;
      consumes.calls += all.length;
      return decisions.find(({ outcome }) => outcome === "allowed") ?? decisions[0];
    },
  };
};

/**
 * Every limiter by its id: how it is made, and what it declares. The careless one sets an end but once, renews blocks, cuts
 * keys and names no wait: no check meets more than one of these.
 */
const LIMITERS = {
  whole: { make: scripted() },
  "off-by-one": { make: offByOne },
  "read-then-write": { make: readThenWrite, block: false },
  "short-window": { make: scripted({ windowFactor: 0.5 }) },
  "not-a-log": { make: scripted(), algorithm: "sliding log", block: false },
  "any-key": { make: anyKey, isWhole: true, block: false },
  careless: {
    make: scripted({
      once: true,
      renewed: true,
      keyOf: (key) => key.slice(0, 255),
      msBeforeNext: () => 0,
    }),
  },
  "script-once": { make: scriptOnce, block: false },
  "gives-up": { make: givesUp, block: false },
};

export default {
  limiters: Object.entries(LIMITERS).map(
    ([id, { make, algorithm = "fixed window", block = true, isWhole }]) => ({
      id,
      algorithm,
      unsupportedReason: ({ block_s }) =>
        block_s > 0 && !block ? `${id} does not support a block` : undefined,
      async create({ handle }, _client, limits, prefix) {
        if (isWhole) return make(handle, limits, prefix);
        const [standard, exhausted] = [limits.points, 0].map((quota) =>
          make(handle, limits, prefix, quota),
        );
        return { version: "1.0.0", standard, exhausted };
      },
    }),
  ),
  options: Object.keys(LIMITERS).map((id) => ({
    id,
    summary: `the limiter ${id}`,
    apply(client) {
      if (client.handleApi !== "ioredis")
        return { skip: `${client.id} has not the methods of ioredis` };
      const { flexible, sameScript, unsupportedReason, ...rest } = client;
      return { ...rest, stores: ["redis", "valkey"], limiter: id };
    },
  })),
};
