import type { ClientDescription } from "../types.js";

export const clients: readonly ClientDescription[] = [];
