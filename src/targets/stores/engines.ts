import { findKnown } from "../did-you-mean.js";
import type { StoreEngine } from "../target-types.js";
import { gubernator } from "./gubernator-store.js";
import { memcached } from "./memcached/memcached-engine.js";
import { resp } from "./resp/resp-engine.js";
import { throttlecrab } from "./throttlecrab-store.js";

export const engines: readonly StoreEngine[] = [resp, memcached, throttlecrab, gubernator];

export const findEngine = (id: string): StoreEngine => findKnown("store engine", engines, id);
