import { findKnown } from "../did-you-mean.js";
import type { LimiterDescription, ModuleDescription } from "../types.js";
import { redisCell } from "./redis-cell.js";
import { redisShield } from "./redis-shield.js";

/** Modules that decide inside the store: one file each, and one line here. */
const list = [redisCell, redisShield];

export const modules: readonly ModuleDescription[] = list.map(({ module }) => module);

export const moduleLimiters: readonly LimiterDescription[] = list.map(({ limiter }) => limiter);

export const findModule = (id: string): ModuleDescription => findKnown("module", modules, id);
