import { findKnown } from "../did-you-mean.js";
import type { StoreEngine } from "../types.js";
import { gubernator } from "./gubernator.js";
import { memcached } from "./memcached/engine.js";
import { resp } from "./resp/engine.js";
import { throttlecrab } from "./throttlecrab.js";

export const engines: readonly StoreEngine[] = [resp, memcached, throttlecrab, gubernator];

export const findEngine = (id: string): StoreEngine => findKnown("store engine", engines, id);
