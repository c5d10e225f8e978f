import type { LimiterDescription } from "../types.js";

/** Admits all without asking anyone: the server then has no limiter on its routes at all. */
export const none: LimiterDescription = { id: "none", create: async () => undefined };
