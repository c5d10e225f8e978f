import type { TrafficProfile } from "../types.js";
import { allowed } from "./allowed.js";
import { denied } from "./denied.js";
import { fixed } from "./fixed.js";
import { sparse, variable } from "./fresh.js";
import { hot } from "./hot.js";
import { mixed2, mixed10 } from "./mixed.js";
import { realistic } from "./realistic.js";
import { random, sequential } from "./uniform.js";

export const profiles: readonly TrafficProfile[] = [
  realistic,
  fixed,
  allowed,
  denied,
  variable,
  mixed2,
  mixed10,
  sequential,
  random,
  hot,
  sparse,
];

export const DEFAULT_TRAFFIC = realistic.id;
