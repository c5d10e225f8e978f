import type { ApiCheck } from "../api-check.js";
import { active } from "./active.js";
import { outage } from "./outage.js";

/**
 * All checks of an API in the order of reports. Those that others rely on come first.
 */
export const apiChecks: readonly ApiCheck[] = [active, outage];
