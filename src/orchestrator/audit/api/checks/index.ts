import type { ApiCheck } from "../api-check.js";
import { active } from "./active.js";
import { atOnce } from "./at-once.js";
import { bypasses } from "./bypass.js";
import { comesBack } from "./comes-back.js";
import { connections } from "./connections.js";
import { denialCost } from "./denial-cost.js";
import { deniedStatus } from "./denied-status.js";
import { edgeBurst } from "./edge-burst.js";
import { instances } from "./instances.js";
import { ipv6Client } from "./ipv6-client.js";
import { isolation } from "./isolation.js";
import { keyTexts } from "./key-texts.js";
import { longRun } from "./long-run.js";
import { otherPaths } from "./other-paths.js";
import { outage } from "./outage.js";
import { quotaHeaders } from "./quota-headers.js";
import { retryAfter } from "./retry-after.js";

/** All checks of an API in the order of reports. Those that others rely on come first. */
export const apiChecks: readonly ApiCheck[] = [
  active,
  deniedStatus,
  isolation,
  connections,
  atOnce,
  comesBack,
  edgeBurst,
  longRun,
  retryAfter,
  quotaHeaders,
  keyTexts,
  ...bypasses,
  otherPaths,
  ipv6Client,
  instances,
  denialCost,
  outage,
];
