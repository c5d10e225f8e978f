import type { ClientDescription } from "../types.js";
import { ioredis } from "./ioredis.js";
import { iovalkey } from "./iovalkey.js";
import { memory } from "./memory.js";
import { nodeRedis } from "./node-redis.js";
import { none } from "./none.js";
import { valkeyGlide } from "./valkey-glide.js";

export const clients: readonly ClientDescription[] = [
  valkeyGlide,
  iovalkey,
  ioredis,
  nodeRedis,
  none,
  memory,
];
