import type { TrafficProfile } from "../types.js";
import { allowed } from "./allowed.js";
import { denied } from "./denied.js";
import { fixed } from "./fixed.js";
import { realistic } from "./realistic.js";

export const profiles: readonly TrafficProfile[] = [realistic, fixed, allowed, denied];

export const DEFAULT_TRAFFIC = realistic.id;
