import { requireKnown } from "../did-you-mean.js";
import type { StoreEngine } from "../types.js";
import { memcached } from "./memcached/engine.js";
import { resp } from "./resp/engine.js";
import { throttlecrab } from "./throttlecrab.js";

export const engines: readonly StoreEngine[] = [resp, memcached, throttlecrab];

/** @throws usageError with the valid ids */
export function findEngine(id: string): StoreEngine {
  requireKnown(
    "store engine",
    id,
    engines.map((engine) => engine.id),
  );
  return engines.find((engine) => engine.id === id) as StoreEngine;
}
