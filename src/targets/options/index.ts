import type { OptionDescription } from "../types.js";
import { autopipelining } from "./autopipelining.js";
import { sameScript } from "./same-script.js";

/** In the order in which they are applied: one that replaces how a client opens comes before those that add to it. */
export const options: readonly OptionDescription[] = [sameScript, autopipelining];
