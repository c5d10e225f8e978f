import type { StoreDescription } from "../types.js";

const inProcess = { versionField: "", scriptCommands: [] } as const;

/** Counters in the server's own process. */
export const memory: StoreDescription = { id: "memory", ...inProcess };

/** No counters at all. */
export const none: StoreDescription = { id: "none", ...inProcess };
