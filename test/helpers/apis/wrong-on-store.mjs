import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { admit, keyOfClient, routeOf, serve, settings, wholeSeconds } from "./http-api.mjs";

/**
 * APIs that count in the store at STORE_PORT. Each differs from the first, which is right, in what
 * DEFECT says.
 */
const SCRIPT = `
local used = redis.call("INCR", KEYS[1])
if used == 1 then redis.call("PEXPIRE", KEYS[1], ARGV[1]) end
return {used, redis.call("PTTL", KEYS[1])}`;

const WORK_MS = 50;

/** A store that does not answer is an error soon. */
const IMPATIENT = { commandTimeout: 300, maxRetriesPerRequest: 0, enableOfflineQueue: false };

const RIGHT = {
  connection: IMPATIENT,
  decide: countFirst,
  failed: (response) => response.writeHead(503).end("the limiter's store does not answer\n"),
};

const DEFECTS = {
  // What a restart of its store loses, this API has forgotten.
  "forgets-after-restart": {},
  "check-then-act": { decide: readThenCount },
  "counts-after-answer": {
    decide: readThenWork,
    answered: (key) => void count(key).catch(() => {}),
  },
  "fails-open": { failed: admit },
  "fails-closed": {
    failed: (response) =>
      response.writeHead(429, { "retry-after": "1" }).end("too many requests\n"),
  },
  // It waits for a store for ever.
  "hangs-with-store": { connection: { maxRetriesPerRequest: null } },
};

const { connection, ...limiter } = { ...RIGHT, ...DEFECTS[process.env.DEFECT] };
const store = new Redis(Number(process.env.STORE_PORT), "127.0.0.1", {
  ...connection,
  retryStrategy: () => 100,
});
store.on("error", () => {});
await once(store, "ready");

const count = (key) => store.eval(SCRIPT, 1, key, settings.window_ms);

const decisionOf = (used, left_ms) => ({ admitted: used <= settings.quota, used, left_ms });

async function countFirst(key) {
  return decisionOf(...(await count(key)));
}

/** Other requests read while this one works, before it has counted. */
async function readThenCount(key) {
  const decision = await readThenWork(key);
  if (decision.admitted) await count(key);
  return decision;
}

/** What a handler does besides, such as to look up a user. */
async function readThenWork(key) {
  const decision = await read(key);
  await sleep(WORK_MS);
  return decision;
}

async function read(key) {
  const [used, left_ms] = await Promise.all([store.get(key), store.pttl(key)]);
  return decisionOf(Number(used) + 1, Math.max(0, left_ms));
}

serve({
  keyOf: (request, path) => `${routeOf(path)} ${keyOfClient(request)}`,
  wait: wholeSeconds,
  ...limiter,
});
