import type { StoreDescription } from "../types.js";

/** Both stores count a script call under the command that carried it. */
const scriptCommands = ["eval", "evalsha", "fcall"] as const;

const valkey: StoreDescription = {
  id: "valkey",
  program: "valkey-server",
  image: { name: "valkey/valkey:8.1", variable: "VALKEY_IMAGE" },
  versionField: "valkey_version",
  conf: "valkey.conf",
  scriptCommands,
};

const redis: StoreDescription = {
  id: "redis",
  program: "redis-server",
  image: { name: "redis:8.0", variable: "REDIS_IMAGE" },
  versionField: "redis_version",
  conf: "redis.conf",
  scriptCommands,
};

const inProcess = { versionField: "", scriptCommands: [] } as const;

/** Counters in the server's own process. */
const memory: StoreDescription = { id: "memory", ...inProcess };

/** No counters at all. */
const none: StoreDescription = { id: "none", ...inProcess };

/** Valkey comes before Redis: it also reports the Redis version that it is compatible with. */
export const stores: readonly StoreDescription[] = [valkey, redis, memory, none];
