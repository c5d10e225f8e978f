import type { StoreDescription } from "../types.js";
import { memory, none } from "./in-process.js";
import { redis } from "./redis.js";
import { valkey } from "./valkey.js";

export const stores: readonly StoreDescription[] = [valkey, redis, memory, none];
